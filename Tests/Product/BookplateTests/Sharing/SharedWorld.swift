import Basics
import GraphQL
import Postgres
import Requests
import TestSupport

@testable import Bookplate

/// A reader who shares, and visitors without an account.
struct SharedWorld {
    let app: TestApp
    let reader: TestReader

    init(_ app: TestApp, _ tenant: TestApp.Tenant = .alpha) async throws {
        self.init(try await app.makeReader(tenant))
    }

    init(_ reader: TestReader) {
        app = reader.app
        self.reader = reader
    }

    static let create = """
        mutation($input: CreateSharedLinkInput!) {
          createSharedLink(input: $input) {
            id url kind showsName expiresAt year shelf { id name } review { id } note { id }
          }
        }
        """

    func create(_ item: Value, _ more: [String: Value] = [:]) async throws -> TestResponse {
        let members = [Value.Member("item", item)] + more.map { .init($0.key, $0.value) }
        return try await reader.execute(Self.create, ["input": .object(members)])
    }

    /// Creates a link and returns its id and token.
    func share(_ item: Value, _ more: [String: Value] = [:]) async throws -> (
        id: Value, token: String
    ) {
        let response = try await create(item, more)
        guard let url = response["createSharedLink", "url"]?.string,
            url.hasPrefix("http://covers.test/s/")
        else { throw Failure(description: "\(response.json)") }
        return (
            response["createSharedLink", "id"] ?? .null,
            String(url.dropFirst("http://covers.test/s/".count))
        )
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func revoke(_ id: Value) async throws {
        _ = try await reader.requireValue(
            "mutation($id: ID!) { revokeSharedLink(id: $id) { id } }", ["id": id],
            "revokeSharedLink"
        )
    }

    static let shared = """
        query($token: String!, $after: String) {
          shared(token: $token, after: $after) {
            kind title readerName appName endCursor
            review { stars text hasSpoilers } note { text comment chapter page }
            year { year finishedBooks pages hours finishedReadsByMonth }
            books { title author dominantColor cover { url width height } }
          }
        }
        """

    /// Executes `Query.shared` without an access token.
    func visit(_ token: String, after: Value = .null) async throws -> TestResponse {
        try await app.execute(Self.shared, ["token": .string(token), "after": after])
    }

    struct Page: Sendable {
        let status: Int
        let text: String
        let headers: [String: String]
    }

    /// Requests `/s/{path}`.
    func get(
        _ path: String, language: String? = nil, etag: String? = nil, address: RateKey? = nil
    ) async throws -> Page {
        let parts = path.split(separator: "?", maxSplits: 1)
        let services = app.services
        let task = Task(executorPreference: app.pool.executor) { [pool = app.pool] in
            let endpoint = SharedEndpoint(database: pool, services: services)
            let response = try await endpoint.get(
                .init(
                    path: parts.first ?? "", query: parts.count == 2 ? parts[1] : nil,
                    acceptLanguage: language, ifNoneMatch: etag, address: address,
                    requestID: "test"))
            return Page(
                status: response.status, text: String(decoding: response.body, as: UTF8.self),
                headers: Dictionary(response.headers) { first, _ in first })
        }
        return try await task.value
    }

    /// Creates a read of a past day.
    func finish(_ book: Value, on day: String) async throws {
        _ = try await reader.requireValue(
            "mutation($book: ID!, $day: PartialDate!) { startRead(id: $book, input: {finishedOn: $day}) { id } }",
            ["book": book, "day": .string(day)], "startRead", "id")
    }

    /// Returns the id of a new note.
    func note(_ book: Value, _ members: [String: Value]) async throws -> Value {
        let input = [Value.Member("bookId", book)] + members.map { .init($0.key, $0.value) }
        return try await reader.requireValue(
            "mutation($input: CreateNoteInput!) { createNote(input: $input) { id } }",
            ["input": .object(input)], "createNote", "id")
    }
}
