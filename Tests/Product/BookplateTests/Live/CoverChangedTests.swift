import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// `Subscription.coverChanged` and the events that it reads.
@Suite struct CoverChangedTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let live = """
        subscription($book: ID) {
          coverChanged(bookId: $book) {
            book { id title } image { url kind source } status source changedAt
          }
        }
        """

    /// Stores a cover directly in the database.
    private static func store(
        _ reader: TestReader, _ book: Value, version: String, source: String
    ) async throws {
        try await reader.executeSQL(
            """
            WITH ready AS (
              UPDATE books SET cover_status = 'READY' WHERE id = '\(book.string ?? "")'
            )
            INSERT INTO covers (user_id, book_id, tenant_id, version, source, width, height,
              dominant_color, blur_hash, byte_counts, hashes)
            SELECT id, '\(book.string ?? "")', tenant_id, '\(version)', '\(source)', 10, 10, '#FFFFFF', 'x',
              '{1,1,1}', '{a,b,c}' FROM users WHERE id = '\(reader.id.string ?? "")'
            ON CONFLICT (user_id, book_id) DO UPDATE
              SET version = excluded.version, source = excluded.source
            """)
    }

    private static let versions = [
        "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210",
        "00112233445566778899aabbccddeeff",
    ]

    @Test func sendsEachCoverOfTheCallersBooks() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let (book, second) = (try await reader.makeBook("One"), try await reader.makeBook("Two"))
        let theirs = try await other.makeBook("Theirs")
        let live = try await reader.subscribe(Self.live)
        let ofSecond = try await reader.subscribe(Self.live, ["book": second])
        try await Self.store(other, theirs, version: Self.versions[0], source: "URL")
        try await Self.store(reader, book, version: Self.versions[0], source: "OPEN_LIBRARY")
        let event = await live.next()["data", "coverChanged"]
        #expect(event?["book"] == ["id": book, "title": "One"])
        #expect(event?["status"] == "READY")
        #expect(event?["source"] == "OPEN_LIBRARY")
        #expect(event?["image", "url"]?.string?.hasSuffix("?v=\(Self.versions[0])") == true)
        #expect(event?["image", "kind"] == "THUMBNAIL")
        #expect(event?["image", "source"] == "OPEN_LIBRARY")
        #expect(event?["changedAt"]?.string.flatMap { Instant($0) } != nil)

        try await Self.store(reader, book, version: Self.versions[1], source: "MANUAL_UPLOAD")
        #expect(await live.next()["data", "coverChanged", "source"] == "MANUAL_UPLOAD")
        try await Self.store(reader, second, version: Self.versions[0], source: "URL")
        #expect(await ofSecond.next()["data", "coverChanged", "book", "id"] == second)
        #expect(await live.next()["data", "coverChanged", "book", "id"] == second)
        // Each cover is sent once, and covers of other users are not sent.
        try await Self.store(reader, book, version: Self.versions[2], source: "URL")
        let next = await live.next()["data", "coverChanged"]
        #expect(next?["book", "id"] == book && next?["source"] == "URL")
    }

    @Test func sendsSearchesWithoutAResult() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Unknown")
        let live = try await reader.subscribe(Self.live, ["book": book])
        for (status, also) in [
            (
                "FETCHING",
                """
                INSERT INTO events (user_id, kind, payload) VALUES (app_user_id(), 'cover_changed',
                    '{"book_id": "\(book.string ?? "")", "status": "FETCHING"}')
                """
            ),
            ("NOT_FOUND", "NULL"),
        ] {
            try await reader.executeSQL(
                """
                DO $$ BEGIN
                  PERFORM set_config('app.user_id', '\(reader.id.string ?? "")', true);
                  UPDATE books SET cover_status = '\(status)', cover_requested_at = now()
                    WHERE id = '\(book.string ?? "")';
                  \(also);
                END $$
                """)
            let event = await live.next()["data", "coverChanged"]
            #expect(event?["status"] == .string(status))
            #expect(event?["image", "kind"] == "TITLE_CARD")
            #expect(event?["source"] == .null)
        }
    }

    @Test func anotherUsersBookAndAnUnknownBookHaveTheSameError() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let theirs = try await other.makeBook("Theirs")
        var responses: [Value] = []
        for id in [theirs, "01970000-0000-7000-8000-000000000001", "no id"] as [Value] {
            responses.append(try await reader.subscribe(Self.live, ["book": id]).next())
        }
        #expect(responses[0]["errors", 0, "extensions", "code"] == "NOT_FOUND")
        #expect(responses[0] == responses[1])
        #expect(responses[0] == responses[2])
    }
}
