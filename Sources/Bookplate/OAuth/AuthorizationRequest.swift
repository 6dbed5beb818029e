import GraphQL
import Postgres

/// A request of an app for access, which a reader allows or denies. The reader finds it by the code that the app's device
/// or the page of the request shows.
enum AuthorizationRequest {
    static let fields: [String: FieldResolver] = [
        "code": .property, "clientName": .property, "isSelfRegistered": .property,
        "kind": .property, "redirectHost": .property, "scopes": .property, "status": .property,
        "createdAt": .property, "expiresAt": .property,
    ]

    static let find = PlainMutation(.one) { arguments, request throws(BookplateError) in
        [try await find(arguments["code"]?.string, request).found.object]
    }

    static let approve = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let stored = try await find(input.text("code"), request)
        var scopes = stored.found.scopes
        if let chosen = input["scopes"]?.list?.compactMap(\.string) {
            guard !chosen.isEmpty else {
                throw .badUserInput(
                    field: "scopes", "Allow at least one scope, or deny the request.")
            }
            scopes = Set(chosen).sorted()
        }
        return [try await decide(stored, scopes, request)]
    }

    static let deny = PlainMutation(.one) { arguments, request throws(BookplateError) in
        [try await decide(try await find(arguments["code"]?.string, request), nil, request)]
    }

    private static let notFound = BookplateError.notFound(
        "There is no request with this code. Check the code, or start again in the other app: a code is valid for ten minutes."
    )

    /// A request, and where it is stored.
    private struct Stored {
        let found: Found
        /// A context in another database; nil if the database of the reader has the request.
        let elsewhere: RequestContext?
    }

    /// Finds a request by its code. A user can try only a few wrong codes per minute, so codes cannot be guessed.
    ///
    /// - Throws: `.notFound` and `.rateLimited`.
    private static func find(
        _ text: String?, _ request: RequestContext
    ) async throws(BookplateError) -> Stored {
        let (rates, user) = (request.services.rates, try request.caller().userID)
        guard let code = text.flatMap({ UserCode($0) }) else { throw notFound }
        try rates.takeUserCode(of: user)
        var parameters = Parameters()
        parameters.append(text: code.letters)
        let key = parameters
        let found: [Found] = try await request.read { pipeline, _ in
            pipeline.append(Found.find, key)
        }
        var stored = found.first.map { Stored(found: $0, elsewhere: nil) }
        if stored == nil { stored = try await findElsewhere(key, request) }
        guard let stored else { throw notFound }
        rates.putBackUserCode(of: user)
        return stored
    }

    /// Finds a request in the other databases of this process.
    private static func findElsewhere(
        _ code: Parameters, _ request: RequestContext
    ) async throws(BookplateError) -> Stored? {
        guard request.services.databases != nil else { return nil }
        let viewer = try request.caller()
        let found = try await request.firstInDatabases { context throws(BookplateError) in
            guard context.services !== request.services else { return nil as Found? }
            let found: [Found] = try await context.anonymous(isReadOnly: true) { pipeline in
                pipeline.append(Sessions.setUser, .of(viewer.userID, viewer.tenantID))
                return pipeline.append(Found.find, code)
            }
            return found.first
        }
        return found.map { Stored(found: $0.value, elsewhere: $0.context) }
    }

    /// A request that the caller has claimed in another database, and its client, as JSON.
    private struct Claimed: RowDecodable {
        let request: String
        let client: String

        init?(_ row: inout RowReader) {
            guard let request = row.text(), let client = row.text() else { return nil }
            self.request = request
            self.client = client
        }

        static let claim = TypedStatement<Self>(
            "SELECT claimed::text, client::text FROM claim_oauth_request($1)")
    }

    /// Claims a request in another database.
    ///
    /// - Throws: `.notFound` if it has ended, or if another reader was faster.
    private static func claim(
        _ found: Found, in context: RequestContext, for viewer: Viewer
    ) async throws(BookplateError) -> Claimed {
        let (results, key) = try await context.anonymous { pipeline in
            pipeline.append(Sessions.setUser, .of(viewer.userID, viewer.tenantID))
            return pipeline.append(Claimed.claim, .of(found.id))
        }
        guard let claimed = results[key].first else { throw notFound }
        return claimed
    }

    /// Deletes a request that the caller has decided in all databases in which the caller has claimed it. Apps start requests in the
    /// home database, so a reader of the home database has claimed none.
    ///
    /// - Throws: `.serviceUnavailable` if a database cannot be reached. The decision is stored already, and can be repeated.
    private static func release(
        _ found: Found, _ request: RequestContext
    ) async throws(BookplateError) {
        guard let home = request.services.databases?.all.first, home.services !== request.services
        else { return }
        let viewer = try request.caller()
        do throws(BookplateError) {
            _ = try await request.firstInDatabases { context throws(BookplateError) -> Bool? in
                guard context.services !== request.services else { return nil }
                try await context.anonymous { pipeline in
                    pipeline.append(Sessions.setUser, .of(viewer.userID, viewer.tenantID))
                    pipeline.append(release, .of(found.id))
                }
                return nil
            }
        } catch {
            throw .serviceUnavailable(retryAfterSeconds: 1, outcome: .unknown)
        }
    }

    private static let adopt = Statement(
        "SELECT adopt_oauth_request($1::text::jsonb, $2::text::jsonb)")
    private static let release = Statement("SELECT release_oauth_request($1)")

    /// - Parameter scopes: The allowed scopes; nil to deny the access.
    private static func decide(
        _ stored: Stored, _ scopes: [String]?, _ request: RequestContext
    ) async throws(BookplateError) -> PlainObject {
        let found = stored.found
        var claimed: Claimed?
        if let elsewhere = stored.elsewhere {
            // Before the request is claimed, so that the reader can decide again with other scopes.
            guard Set(scopes ?? []).isSubset(of: found.scopes) else { throw foreignScopes }
            claimed = try await claim(found, in: elsewhere, for: request.caller())
        }
        let adopted = claimed
        let outcomes = try await request.write { pipeline, _ in
            if let adopted {
                var parameters = Parameters()
                parameters.append(text: adopted.request)
                parameters.append(text: adopted.client)
                pipeline.append(adopt, parameters)
            }
            var parameters = Parameters.of(found.id)
            if let scopes {
                parameters.append(texts: scopes)
            } else {
                parameters.appendNull(.text.array)
            }
            return pipeline.append(record, parameters)
        }
        switch outcomes.first {
        case "DONE":
            try await release(found, request)
            var decided = found
            decided.isAllowed = scopes != nil
            decided.scopes = scopes ?? found.scopes
            return decided.object
        case "FOREIGN": throw foreignScopes
        case "DECIDED":
            throw .conflict(
                "The request was denied, or the app has got its access. Use revokeAuthorizedApp to end that."
            )
        case "GONE": throw notFound
        default: throw .internalError
        }
    }

    private static let foreignScopes = BookplateError.badUserInput(
        field: "scopes", "Allow only scopes for which the app has asked.")

    private static let record = TypedStatement<String>(
        "SELECT decide_oauth_request($1, $2::text[]::access_scope[])")

    private struct Found: RowDecodable {
        let id: UUID
        private let code: String
        private let clientName: String
        private let isSelfRegistered: Bool
        private let isDevice: Bool
        private let redirectURI: String?
        var scopes: [String]
        /// nil before the decision.
        var isAllowed: Bool?
        private let createdAt: Int64
        private let expiresAt: Int64

        init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let code = row.text(), let clientName = row.text() else {
                return nil
            }
            self.id = id
            self.code = code
            self.clientName = clientName
            isSelfRegistered = row.bool() == true
            isDevice = row.bool() == true
            redirectURI = row.text()
            scopes = row.texts() ?? []
            isAllowed = row.bool()
            guard let createdAt = row.timestamptz(), let expiresAt = row.timestamptz() else {
                return nil
            }
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }

        static let find = TypedStatement<Self>(
            """
            SELECT
                id, $1::text, client_name, is_self_registered, is_device, redirect_uri, scopes, is_allowed, created_at,
                expires_at
            FROM oauth_request_of_reader($1)
            """)

        var object: PlainObject {
            let status = isAllowed.map { $0 ? "APPROVED" : "DENIED" } ?? "PENDING"
            let host = redirectURI.flatMap { RedirectURI($0)?.host }
            return PlainObject(leaves: [
                "code": .string(UserCode(code)?.text ?? code),
                "clientName": .string(clientName),
                "isSelfRegistered": .boolean(isSelfRegistered),
                "kind": .string(isDevice ? "DEVICE" : "BROWSER"),
                "redirectHost": host.map { .string($0) } ?? .null,
                "scopes": .list(scopes.map { .string($0) }), "status": .string(status),
                "createdAt": .string(Instant(microseconds: createdAt).text),
                "expiresAt": .string(Instant(microseconds: expiresAt).text),
            ])
        }
    }
}
