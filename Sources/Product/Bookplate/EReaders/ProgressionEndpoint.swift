import GraphQL
import Identity
import Postgres
import Requests

/// The progression services of books, by OPDS Progression 1.0: the latest position wins.
///
/// Specs: https://drafts.opds.io/opds-progression-1.0, https://drafts.opds.io/authentication-for-opds-1.0, RFC 9457
package final class ProgressionEndpoint {
    /// The path of a service, which ends with the ID of the book.
    package static let path = "/opds/progression/books/"
    package static let authenticationPath = "/opds/authentication"
    package static let bodyBytesMax = ProgressionDocument.bodyBytesMax
    private static let challenge = (
        "WWW-Authenticate", "Basic realm=\"Bookplate\", charset=\"UTF-8\""
    )

    private let database: ConnectionPool
    private let services: Services
    private var publicURL: String { services.covers.urls.publicURL }

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        self.services = services
    }

    /// The Authentication Document. The response to every request without a valid token has it, too.
    package func authentication(status: Int = 200) -> EReaderResponse {
        EReaderResponse(
            status, contentType: "application/opds-authentication+json",
            .object([
                .init("id", .string(publicURL + Self.authenticationPath)),
                .init("title", .string("Bookplate")),
                .init(
                    "description",
                    .string(
                        "Create an access token in your reading app, and use it as the password.")),
                .init("authentication", .list([Self.basic])),
            ]), headers: status == 401 ? [Self.challenge] : [])
    }

    private static let basic = Value.object([
        .init("type", .string("http://opds-spec.org/auth/basic")),
        .init(
            "labels",
            .object([
                .init("login", .string("Any name")), .init("password", .string("Access token")),
            ])),
    ])

    package func get(_ request: EReaderRequest) async -> EReaderResponse {
        await respond(request) { context, book throws(BookplateError) in
            let found = try await context.read { pipeline, viewer in
                pipeline.append(Known.select, .of(viewer.userID, book))
            }
            guard let known = found.first else { return .noBook }
            return .progression(200, known.document(server: self.publicURL))
        }
    }

    package func put(_ request: EReaderRequest) async -> EReaderResponse {
        await respond(request) { context, book throws(BookplateError) in
            let document: ProgressionDocument
            do throws(ProgressionDocument.Problem) {
                document = try ProgressionDocument(request.body, now: unixSecondsNow())
            } catch {
                return .problem(.invalidPayload, detail: error.message)
            }
            let outcomes = try await context.write { pipeline, viewer in
                pipeline.append(
                    Self.store, document.parameters(user: viewer.userID, book: book))
            }
            switch outcomes.first {
            case "CREATED": return .progression(201, document)
            case "UPDATED", "SAME": return .progression(200, document)
            case "OLDER": return .problem(.date)
            case "BOOK": return .noBook
            case let outcome:
                guard let error = EReaderDocument.tooMany(outcome) else { throw .internalError }
                return .problem(.locked, detail: error.message)
            }
        }
    }

    private func respond(
        _ request: EReaderRequest,
        _ work: (RequestContext, UUID) async throws(BookplateError) -> EReaderResponse
    ) async -> EReaderResponse {
        let context = RequestContext(
            viewer: nil, database: database, services: services, requestID: request.requestID,
            address: request.address)
        do throws(BookplateError) {
            try await context.authenticate(request.credential, for: .progress)
            guard request.path.count == 4, let book = UUID(String(request.path[3])) else {
                return .noBook
            }
            return try await work(context, book)
        } catch .unauthenticated {
            return authentication(status: 401)
        } catch {
            return .failed(error)
        }
    }

    private static let store = TypedStatement<String>(
        "SELECT put_progression($1, $2, $3, $4, $5, $6, $7, $8)")

    /// The last known position in a book. All values are nil if no position is known.
    private struct Known: RowDecodable {
        private let modified: Instant?
        private let fraction: Double
        private let deviceID: String?
        private let deviceName: String
        private let title: String?
        private let references: [String]?

        init?(_ row: inout RowReader) {
            modified = row.timestamptz().map { Instant(microseconds: $0) }
            fraction = row.float8() ?? 0
            deviceID = row.text()
            deviceName = row.text() ?? "Bookplate"
            title = row.text()
            references = row.texts()
        }

        /// - Parameter server: The URI of the device of positions that the reader has logged in an app.
        func document(server: String) -> ProgressionDocument? {
            modified.map {
                ProgressionDocument(
                    title: title, modified: $0, deviceID: deviceID ?? server,
                    deviceName: deviceName, progression: fraction, references: references)
            }
        }

        static let select = TypedStatement<Self>(
            """
            SELECT modified_at, fraction, device_id, device_name, title, place_refs
            FROM book_progression($1, $2)
            """)
    }
}

/// The responses of a progression service.
extension EReaderResponse {
    /// The errors in the registry of OPDS.
    fileprivate enum Problem: String {
        case invalidPayload = "progression-invalid-payload"
        case locked = "progression-locked"
        case date = "progression-date"

        var status: Int {
            switch self {
            case .invalidPayload: 400
            case .locked: 403
            case .date: 409
            }
        }

        var title: String {
            switch self {
            case .invalidPayload: "Progression could not be updated due to an invalid payload."
            case .locked: "Progression can no longer be updated for this publication."
            case .date: "A more recent progression point is already available."
            }
        }
    }

    /// Without a document, the payload is empty: no position is known.
    fileprivate static func progression(_ status: Int, _ document: ProgressionDocument?) -> Self {
        Self(status, contentType: ProgressionDocument.mediaType, document?.json)
    }

    fileprivate static func problem(_ problem: Problem, detail: String? = nil) -> Self {
        self.problem(
            problem.status, "https://registry.opds.io/error#\(problem.rawValue)", problem.title,
            detail: detail)
    }

    fileprivate static let noBook = problem(404, "about:blank", "There is no such book.")

    fileprivate static func failed(_ error: BookplateError) -> Self {
        switch error {
        case .rateLimited(let seconds):
            problem(429, "about:blank", error.message, retryAfterSeconds: seconds)
        case .serviceUnavailable(let seconds, _):
            problem(503, "about:blank", error.message, retryAfterSeconds: seconds)
        default: problem(500, "about:blank", "An internal error occurred. Try again.")
        }
    }

    private static func problem(
        _ status: Int, _ type: String, _ title: String, detail: String? = nil,
        retryAfterSeconds: Int? = nil
    ) -> Self {
        var members: [Value.Member] = [
            .init("type", .string(type)), .init("title", .string(title)),
            .init("status", .int(status)),
        ]
        if let detail { members.append(.init("detail", .string(detail))) }
        return Self(
            status, contentType: "application/problem+json", .object(members),
            retryAfterSeconds: retryAfterSeconds)
    }
}
