import GraphQL
import Postgres
import Requests

/// A request of an app for access, which a reader allows or denies. The reader finds it by the code that the app's device
/// or the page of the request shows.
enum AuthorizationRequest {
    static let fields: [String: FieldResolver] = [
        "code": .property, "clientName": .property, "isSelfRegistered": .property,
        "kind": .property, "redirectHost": .property, "scopes": .property, "status": .property,
        "createdAt": .property, "expiresAt": .property,
    ]

    static let find = PlainMutation(.one) { arguments, request throws(BookplateError) in
        [try await find(arguments["code"]?.string, request).object]
    }

    static let approve = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let found = try await find(input.text("code"), request)
        var scopes = found.scopes
        if let chosen = input["scopes"]?.list?.compactMap(\.string) {
            guard !chosen.isEmpty else {
                throw .badUserInput(
                    field: "scopes", .init(.empty))
            }
            scopes = Set(chosen).sorted()
        }
        return [try await decide(found, scopes, request)]
    }

    static let deny = PlainMutation(.one) { arguments, request throws(BookplateError) in
        [try await decide(try await find(arguments["code"]?.string, request), nil, request)]
    }

    private static let notFound = BookplateError.notFound(
        .noSuchAuthorization
    )

    /// Finds a request by its code. A user can try only a few wrong codes per minute, so codes cannot be guessed.
    ///
    /// - Throws: `.notFound` and `.rateLimited`.
    private static func find(
        _ text: String?, _ request: RequestContext
    ) async throws(BookplateError) -> Found {
        let (rates, user) = (request.services.rates, try request.caller().userID)
        guard let code = text.flatMap({ UserCode($0) }) else { throw notFound }
        try rates.takeUserCode(of: user)
        let found = try await request.read { pipeline, _ in
            var parameters = Parameters()
            parameters.append(text: code.letters)
            return pipeline.append(Found.find, parameters)
        }
        guard let found = found.first else { throw notFound }
        rates.putBackUserCode(of: user)
        return found
    }

    /// - Parameter scopes: The allowed scopes; nil to deny the access.
    private static func decide(
        _ found: Found, _ scopes: [String]?, _ request: RequestContext
    ) async throws(BookplateError) -> PlainObject {
        let outcomes = try await request.write { pipeline, _ in
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
            var decided = found
            decided.isAllowed = scopes != nil
            decided.scopes = scopes ?? found.scopes
            return decided.object
        case "FOREIGN":
            throw .badUserInput(field: "scopes", .init(.scopeNotRequested))
        case "DECIDED":
            throw .conflict(
                .init(.alreadyDecided)
            )
        case "GONE": throw notFound
        default: throw .internalError
        }
    }

    /// Records the caller's decision about a request that `Found.find` has returned. `$2` are the allowed scopes, or null to deny
    /// the access. A denial is final; an approval can be denied until the app has exchanged it. Returns FOREIGN if the app has not
    /// asked for a scope, DECIDED if there is another decision, GONE if the request has ended or another reader has decided it, and
    /// otherwise DONE.
    private static let record = TypedStatement<String>(
        """
        WITH kept AS MATERIALIZED (
            SELECT r.id, r.scopes, r.is_allowed, r.grant_id, $2::text[]::access_scope[] AS allowed
            FROM oauth_requests r
            WHERE r.id = $1
                AND r.tenant_id = app_tenant_id()
                AND r.expires_at > now()
                AND coalesce(r.user_id = app_user_id(), true)
            FOR UPDATE
        ), decision AS MATERIALIZED (
            SELECT
                k.id, k.scopes, k.allowed,
                CASE
                    WHEN NOT k.scopes @> coalesce(k.allowed, '{}') THEN 'FOREIGN'
                    WHEN k.is_allowed IS NULL THEN 'NEW'
                    WHEN k.is_allowed AND k.allowed IS NULL AND k.grant_id IS NULL THEN 'NEW'
                    WHEN k.is_allowed <> (k.allowed IS NOT NULL) OR NOT coalesce(k.allowed, k.scopes) @> k.scopes
                        THEN 'DECIDED'
                    ELSE 'DONE'
                END AS outcome
            FROM kept k
        ), recorded AS (
            UPDATE oauth_requests r
            SET user_id = app_user_id(),
                is_allowed = d.allowed IS NOT NULL,
                scopes = coalesce(d.allowed, d.scopes),
                code_hash = NULL
            FROM decision d
            WHERE r.id = d.id AND d.outcome = 'NEW'
        )
        SELECT coalesce((SELECT CASE d.outcome WHEN 'NEW' THEN 'DONE' ELSE d.outcome END FROM decision d), 'GONE')
        """)

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
                r.id, r.user_code, c.name, c.is_self_registered, r.redirect_uri IS NULL, r.redirect_uri,
                r.scopes::text[], r.is_allowed, r.created_at, r.expires_at
            FROM oauth_requests r
            JOIN oauth_clients c ON c.id = r.client_id
            JOIN tenants t ON t.id = r.tenant_id
            WHERE r.tenant_id = app_tenant_id()
                AND r.user_code = $1
                AND r.expires_at > now()
                AND r.grant_id IS NULL
                AND coalesce(r.user_id = app_user_id(), true)
                AND t.oauth
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
