import GraphQL
import Operations
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// The marks of readers whose decks are due, which workers turn into jobs.
@Suite struct FeedMarkTests {
    private static let jobs = "SELECT count(*) FROM jobs WHERE kind = 'feed.deck' AND key = 'deck'"
    private static let marks = "SELECT count(*) FROM feed_readers WHERE deck_due_at IS NOT NULL"

    /// An app with readers whose decks are due, in the order of the readers.
    private static func makeApp(readers count: Int) async throws -> (TestApp, [TestReader]) {
        let app = try await TestApp.start(catalog: TestCatalog.lines(5))
        var readers: [TestReader] = []
        for number in 0..<count {
            let reader = try await app.makeReader()
            _ = try await reader.swipe("SKIP", [try await reader.feedCards(1)[0]["id"] ?? .null])
            try await app.database.execute(
                """
                UPDATE feed_readers SET deck_due_at = now() - interval '\(count - number) minutes'
                WHERE user_id = '\(reader.id.string ?? "")'
                """)
            readers.append(reader)
        }
        return (app, readers)
    }

    @Test func changesInQuickSuccessionKeepTheFirstMark() async throws {
        let (app, readers) = try await Self.makeApp(readers: 1)
        let due = "SELECT deck_due_at::text FROM feed_readers"
        let first = try await app.database.text(due)
        let cards = try await readers[0].feedCards(3).map { $0["id"] ?? .null }
        for card in cards { _ = try await readers[0].swipe("DISLIKE", [card]) }
        #expect(try await app.database.text(due) == first)
        #expect(
            try await app.database.count("SELECT sum(signals_version)::bigint FROM feed_readers")
                == 4)
        #expect(try await app.database.count(Self.jobs) == 0)
        try await app.database.execute("SELECT enqueue_due_decks(100)")
        #expect(try await app.database.count(Self.jobs) == 1)
        #expect(try await app.database.count(Self.marks) == 0)
        // A change while the job waits leads to a mark, and then to the same job.
        _ = try await readers[0].swipe("SKIP", [cards[0]])
        try await app.database.execute(
            "UPDATE feed_readers SET deck_due_at = now(); SELECT enqueue_due_decks(100)")
        #expect(try await app.database.count(Self.jobs) == 1)
    }

    @Test func marksThatAreNotDueAndOthersBeyondTheLimitRemain() async throws {
        let (app, readers) = try await Self.makeApp(readers: 4)
        try await app.database.execute(
            """
            UPDATE feed_readers SET deck_due_at = now() + interval '1 hour'
            WHERE user_id = '\(readers[0].id.string ?? "")'
            """)
        try await app.database.execute("SELECT enqueue_due_decks(2)")
        let first = try await app.database.text(
            "SELECT string_agg(user_id::text, ' ' ORDER BY user_id) FROM jobs WHERE kind = 'feed.deck' AND key = 'deck'"
        )
        let expected = readers[1...2].compactMap(\.id.string).sorted().joined(separator: " ")
        #expect(first == expected)
        try await app.database.execute("SELECT enqueue_due_decks(100)")
        #expect(try await app.database.count(Self.jobs) == 3)
        #expect(try await app.database.count(Self.marks) == 1)
    }

    /// Neither another worker nor the deletion of an account makes a worker wait. Otherwise the statement would fail.
    @Test(arguments: ["feed_readers WHERE user_id", "users WHERE id"])
    func lockedMarksAreLeftForLater(rows: String) async throws {
        let (app, readers) = try await Self.makeApp(readers: 2)
        try await app.database.withConnection { connection in
            try connection.execute(
                "BEGIN; SELECT FROM \(rows) = '\(readers[0].id.string ?? "")' FOR UPDATE")
            let other = try AdminConnection(try app.database.url())
            try other.execute("SET lock_timeout = '5s'; SELECT enqueue_due_decks(100)")
            #expect(try other.query(Self.jobs).int64(0, 0) == 1)
            try connection.execute("ROLLBACK")
        }
        try await app.database.execute("SELECT enqueue_due_decks(100)")
        #expect(try await app.database.count(Self.jobs) == 2)
    }

    /// A worker builds the deck of a reader who has only a mark, without a notification.
    @Test func workerTurnsMarksIntoDecks() async throws {
        let (app, _) = try await Self.makeApp(readers: 3)
        let worker = try await TestWorker.start(app.database, [PrepareDeck()])
        try await waitUntil("the decks are built") {
            try await app.database.count(
                "SELECT count(*) FROM feed_decks JOIN feed_readers USING (user_id, signals_version)"
            ) == 3
        }
        await worker.stop()
        #expect(try await app.waitingDeckCount() == 0)
    }
}
