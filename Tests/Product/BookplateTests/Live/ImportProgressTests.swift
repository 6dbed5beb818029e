import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// `Subscription.importProgress`.
@Suite struct ImportProgressTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let live = """
        subscription($id: ID!) { importProgress(id: $id) { id state total done failed { line } } }
        """

    /// Inserts a running import that no worker processes.
    private static func begin(_ reader: TestReader) async throws -> Value {
        let id = UUID.version7().description
        try await app().database.execute(
            """
            INSERT INTO imports (user_id, id, format, state, content_hash)
            VALUES ('\(reader.id.string ?? "")', '\(id)', 'GOODREADS', 'RUNNING', '\(id)')
            """)
        return .string(id)
    }

    private static func update(_ id: Value, of reader: TestReader, _ change: String) async throws {
        try await reader.executeSQL(
            "UPDATE imports SET \(change), updated_at = clock_timestamp() WHERE id = '\(id.string ?? "")'"
        )
    }

    @Test func sendsEachStateAndEndsWithTheImport() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await Self.begin(reader)
        let live = try await reader.subscribe(Self.live, ["id": id])
        let first = await live.next()["data", "importProgress"]
        #expect(
            first == ["id": id, "state": "RUNNING", "total": .null, "done": 0, "failed": []])
        try await Self.update(id, of: reader, "total = 10, done = 4")
        #expect(await live.next()["data", "importProgress", "done"] == 4)
        try await Self.update(id, of: reader, "state = 'DONE', done = 10")
        #expect(await live.next()["data", "importProgress", "state"] == "DONE")
        #expect(await live.next() == .null)
    }

    @Test func endedImportIsSentOnce() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await Self.begin(reader)
        try await Self.update(id, of: reader, "state = 'FAILED'")
        let live = try await reader.subscribe(Self.live, ["id": id])
        #expect(await live.next()["data", "importProgress", "state"] == "FAILED")
        #expect(await live.next() == .null)
    }

    @Test func anotherUsersImportAndAnUnknownImportHaveTheSameError() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let theirs = try await Self.begin(other)
        var responses: [Value] = []
        for id in [theirs, "01970000-0000-7000-8000-000000000001", "no id"] as [Value] {
            let live = try await reader.subscribe(Self.live, ["id": id])
            responses.append(await live.next())
        }
        #expect(responses[0]["errors", 0, "extensions", "code"] == "NOT_FOUND")
        #expect(responses[0] == responses[1])
        #expect(responses[0] == responses[2])
    }
}
