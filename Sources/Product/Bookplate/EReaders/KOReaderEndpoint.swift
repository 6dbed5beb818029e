import GraphQL
import Postgres
import Requests

/// The synchronization server of KOReader (kosync): each file has one position, and the last one sent wins.
///
/// The user name can be any text, and the password is a personal access token. Accounts cannot be created here.
///
/// Spec: koreader/plugins/kosync.koplugin/api.json, and config/routes.lua, app/controllers/1/syncs_controller.lua, and
/// config/errors.lua of koreader/koreader-sync-server.
package final class KOReaderEndpoint {
    package static let path = "/koreader/"
    package static let bodyBytesMax = KOReaderPosition.bodyBytesMax

    private let database: ConnectionPool
    private let services: Services

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        self.services = services
    }

    package func get(_ request: EReaderRequest) async -> EReaderResponse {
        switch request.path.dropFirst().map(String.init) {
        case ["healthcheck"]: .json(200, [.init("state", .string("OK"))])
        case ["users", "auth"]:
            await respond(request) { context throws(BookplateError) in
                // This checks that the token was not revoked.
                try await context.read { _, _ in }
                return .json(200, [.init("authorized", .string("OK"))])
            }
        case let path where path.count == 3 && path.starts(with: ["syncs", "progress"]):
            await respond(request) { context throws(BookplateError) in
                try await Self.position(of: path[2], context)
            }
        default: .notFound
        }
    }

    package func put(_ request: EReaderRequest) async -> EReaderResponse {
        guard request.path.dropFirst().elementsEqual(["syncs", "progress"]) else {
            return .notFound
        }
        return await respond(request) { context throws(BookplateError) in
            try await Self.update(request.body, context)
        }
    }

    package func post(_ request: EReaderRequest) -> EReaderResponse {
        request.path.dropFirst().elementsEqual(["users", "create"])
            ? .error(402, 2005, "User registration is disabled.") : .notFound
    }

    private func respond(
        _ request: EReaderRequest,
        _ work: (RequestContext) async throws(BookplateError) -> EReaderResponse
    ) async -> EReaderResponse {
        let context = RequestContext(
            viewer: nil, database: database, services: services, requestID: request.requestID,
            address: request.address)
        do throws(BookplateError) {
            try await context.authenticate(request.credential, for: .progress)
            return try await work(context)
        } catch {
            return EReaderResponse.error(error)
        }
    }

    // MARK: - Positions

    private static func position(
        of hash: String, _ context: RequestContext
    ) async throws(BookplateError) -> EReaderResponse {
        guard KOReaderPosition.isDocument(hash) else { return .noDocument }
        let found = try await context.read { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(text: hash)
            return pipeline.append(StoredPosition.select, parameters)
        }
        // An empty object says that the document is unknown.
        return .json(200, found.first?.members ?? [])
    }

    private static func update(
        _ body: [UInt8], _ context: RequestContext
    ) async throws(BookplateError) -> EReaderResponse {
        let position: KOReaderPosition
        do throws(KOReaderPosition.Problem) {
            position = try KOReaderPosition(body)
        } catch {
            return .refused(error)
        }
        let synced = try await context.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(text: position.document)
            parameters.append(text: position.progress)
            parameters.append(float8: position.fraction)
            parameters.append(text: position.device)
            parameters.append(text: position.deviceID)
            parameters.append(text: position.title)
            parameters.append(text: position.author)
            parameters.append(int32: Int32(EReaderDocument.ofUserMax))
            return pipeline.append(Synced.sync, parameters)
        }
        guard let synced = synced.first else { throw .internalError }
        switch synced.outcome {
        case "DONE":
            return .json(
                200,
                [
                    .init("document", .string(position.document)),
                    .init("timestamp", .int(Int(synced.at / 1_000_000))),
                ])
        case "FULL":
            return .error(
                403, 2003,
                "At most \(EReaderDocument.ofUserMax) documents may be linked. Unlink some first.")
        default:
            guard let error = EReaderDocument.tooMany(synced.outcome) else {
                throw .internalError
            }
            return .error(403, 2003, error.message)
        }
    }

    private struct StoredPosition: RowDecodable {
        let members: [Value.Member]

        init?(_ row: inout RowReader) {
            guard let hash = row.text(), let fraction = row.float8(), let progress = row.text(),
                let device = row.text()
            else { return nil }
            let deviceID = row.text()
            guard let at = row.timestamptz() else { return nil }
            var members: [Value.Member] = [
                .init("document", .string(hash)), .init("percentage", .float(fraction)),
                .init("progress", .string(progress)), .init("device", .string(device)),
            ]
            if let deviceID { members.append(.init("device_id", .string(deviceID))) }
            self.members = members + [.init("timestamp", .int(Int(at / 1_000_000)))]
        }

        static let select = TypedStatement<Self>(
            """
            SELECT hash, fraction, progress, device_name, device_id, synced_at
            FROM ereader_documents
            WHERE user_id = $1 AND hash = $2
            """)
    }

    private struct Synced: RowDecodable {
        let outcome: String
        /// In microseconds since the Unix epoch.
        let at: Int64

        init?(_ row: inout RowReader) {
            guard let outcome = row.text(), let at = row.timestamptz() else { return nil }
            self.outcome = outcome
            self.at = at
        }

        static let sync = TypedStatement<Self>(
            """
            SELECT outcome, stored_at
            FROM sync_document($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """)
    }
}

/// The responses of the server of KOReader.
extension EReaderResponse {
    fileprivate static func json(_ status: Int, _ members: [Value.Member]) -> Self {
        Self(status, contentType: "application/json", .object(members))
    }

    fileprivate static func error(
        _ status: Int, _ code: Int, _ message: String, retryAfterSeconds: Int? = nil
    ) -> Self {
        Self(
            status, contentType: "application/json",
            .object([.init("code", .int(code)), .init("message", .string(message))]),
            retryAfterSeconds: retryAfterSeconds)
    }

    fileprivate static let notFound = error(404, 2000, "There is nothing at this URL.")
    fileprivate static let noDocument = error(403, 2004, "Field 'document' not provided.")

    fileprivate static func refused(_ problem: KOReaderPosition.Problem) -> Self {
        switch problem {
        case .notJSON: error(400, 103, "Could not parse JSON in body.")
        case .notAnObject: error(400, 104, "Body should be a JSON hash.")
        case .noDocument: noDocument
        case .unusableDocument:
            error(403, 2007, "Field 'document' may have only letters, digits, and underscores.")
        case .invalidFields: error(403, 2003, "Invalid request")
        }
    }

    /// KOReader sends a position again later, unless the status is 200 or 401.
    fileprivate static func error(_ error: BookplateError) -> Self {
        switch error {
        case .unauthenticated: Self.error(401, 2001, "Unauthorized")
        case .rateLimited(let seconds):
            Self.error(429, 2000, error.message, retryAfterSeconds: seconds)
        case .serviceUnavailable(let seconds, _):
            Self.error(503, 1000, error.message, retryAfterSeconds: seconds)
        default: Self.error(502, 2000, "Unknown server error.")
        }
    }
}
