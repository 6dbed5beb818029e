import GraphQL
import JobQueue
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Bookplate

/// When decks are built, replaced, and deleted.
@Suite struct FeedChainTests {
    private static func makeApp() async throws -> TestApp {
        try await TestApp.start(catalog: TestCatalog.lines(100))
    }

    private func page(
        _ reader: TestReader, after: Value = .null, first: Int
    ) async throws -> (cards: [Value], end: Value) {
        let page = try await reader.requireValue(
            FeedTests.feed, ["first": .int(first), "after": after], "feed")
        return (page["nodes"]?.values(of: "id") ?? [], page["pageInfo", "endCursor"] ?? .null)
    }

    private func successorJobCount(_ app: TestApp) async throws -> Int {
        try await app.database.count(
            "SELECT count(*) FROM jobs WHERE kind = 'feed.deck' AND key <> 'deck'")
    }

    // MARK: - Successors

    /// A page that passes the middle of a deck requests the successor, even if the card in the middle was swiped on another device.
    @Test func successorIsRequestedWithoutTheCardInTheMiddle() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let (cards, _) = try await page(reader, first: 29)
        try await app.database.execute("DELETE FROM jobs WHERE kind = 'feed.deck'")
        let first = try await page(reader, first: 5)
        _ = try await reader.swipe("SKIP", Array(cards[12...16]))
        let second = try await page(reader, after: first.end, first: 5)
        #expect(try await successorJobCount(app) == 0)
        let third = try await page(reader, after: second.end, first: 5)
        #expect(third.cards == [cards[10], cards[11]] + cards[17...19])
        #expect(try await successorJobCount(app) == 1)
        // Further pages add no job.
        let fourth = try await page(reader, after: third.end, first: 5)
        #expect(try await successorJobCount(app) == 1)
        try await app.buildDecks()
        _ = try await page(reader, after: fourth.end, first: 5)
        #expect(try await app.waitingDeckCount() == 0)
    }

    @Test func eachChainGetsItsSuccessor() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let first = try await page(reader, first: 10)
        _ = try await reader.swipe("LIKE", [first.cards[0]])
        let second = try await page(reader, first: 10)
        for scroll in [first, second] { _ = try await page(reader, after: scroll.end, first: 10) }
        #expect(try await successorJobCount(app) == 2)
        try await app.buildDecks()
        #expect(
            try await app.database.count("SELECT count(*) FROM feed_decks WHERE number = 1") == 2)
    }

    /// A request builds the successor before the job runs.
    @Test func jobOfAnExistingSuccessorBuildsNothing() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let first = try await page(reader, first: 20)
        _ = try await page(reader, after: first.end, first: 20)
        #expect(try await successorJobCount(app) == 1)
        try await app.buildDecks()
        #expect(try await app.database.count("SELECT count(*) FROM feed_decks") == 2)
    }

    // MARK: - Replacement

    /// Builds a deck like `PrepareDeck`, and runs `interruption` once, after the reader's signals were read.
    private struct InterruptedPrepareDeck: JobHandler, DeckDatabase {
        static let kind = PrepareDeck.kind
        static let settings = PrepareDeck.settings
        static let enqueueDue = PrepareDeck.enqueueDue

        let filter: [Int16]
        let interruption: Once
        var job: JobContext?

        final class Once: Sendable {
            private let isDone = Mutex(false)
            private let action: @Sendable () async throws -> Void

            init(_ action: @escaping @Sendable () async throws -> Void) { self.action = action }

            func run() async throws(JobError) {
                let isFirst = isDone.withLock { isDone in
                    defer { isDone = true }
                    return !isDone
                }
                guard isFirst else { return }
                do { try await action() } catch { throw .giveUp("\(error)") }
            }
        }

        func run(_ payload: PrepareDeck.Payload, in job: JobContext) async throws(JobError) {
            var database = self
            database.job = job
            try await DeckBuilder(reader: try job.user(), filter: filter).build(in: database)
        }

        private func context() throws(JobError) -> JobContext {
            guard let job else { throw .giveUp("There is no job.") }
            return job
        }

        func read<Keys>(
            _ fill: (inout Pipeline) throws(JobError) -> Keys
        ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
            let job = try context()
            return try await job.read(fill)
        }

        func write<Keys>(
            _ fill: (inout Pipeline) throws(JobError) -> Keys
        ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
            try await interruption.run()
            let job = try context()
            return try await job.write(fill)
        }
    }

    /// A deck starts no scroll if the reader swiped while it was built.
    @Test(arguments: [false, true])
    func deckIsOutdatedIfSignalsChangeWhileItIsBuilt(isFiltered: Bool) async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let genre = try await app.database.count("SELECT genre_id FROM edition_genres LIMIT 1")
        let cards = try await page(reader, first: 10).cards
        _ = try await reader.swipe("LIKE", [cards[0]])
        let interruption = InterruptedPrepareDeck.Once {
            _ = try await reader.swipe("LIKE", [cards[1]])
        }
        let filter = isFiltered ? [Int16(genre)] : []
        let worker = try await TestWorker.start(
            app.database, [InterruptedPrepareDeck(filter: filter, interruption: interruption)])
        try await app.waitForDecks()
        await worker.stop()
        // The swipe requested another deck.
        let versions = try await app.database.text(
            """
            SELECT string_agg((f.signals_version - d.signals_version)::text, ' ' ORDER BY d.chain)
            FROM feed_decks d JOIN feed_readers f ON f.user_id = d.user_id
            WHERE d.filter = '{\(isFiltered ? "\(genre)" : "")}'
            """)
        #expect(versions == (isFiltered ? "1 0" : "2 1 0"))
    }

    /// A returning reader gets a deck if they have preferred genres or signals that count.
    @Test func signInRequestsADeckOnlyForReadersWithSignals() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        func jobCountAfterSignIn() async throws -> Int {
            try await app.database.execute(
                """
                DELETE FROM jobs WHERE kind = 'feed.deck';
                UPDATE feed_readers SET deck_due_at = NULL;
                DELETE FROM feed_decks
                """)
            _ = try await app.signIn(subject: reader.subject)
            return try await app.waitingDeckCount()
        }
        #expect(try await jobCountAfterSignIn() == 0)
        let card = try await page(reader, first: 1).cards[0]
        _ = try await reader.swipe("DISLIKE", [card])
        #expect(try await jobCountAfterSignIn() == 1)
        _ = try await reader.execute(
            "mutation($id: ID!) { undoSwipe(input: {cardId: $id}) { card { id } } }", ["id": card])
        #expect(try await jobCountAfterSignIn() == 0)
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Horror"]}) { id } }"#)
        #expect(try await jobCountAfterSignIn() == 1)
    }

    // MARK: - Deletion

    /// A reader who swipes without scrolling gets many starts of scrolls. All are kept for a day, because cursors may need them.
    @Test func unusedDecksAreDeleted() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let scroll = try await page(reader, first: 10)
        _ = try await page(reader, after: scroll.end, first: 30)
        let id = reader.id.string ?? ""
        func emptyDeckCount(after count: Int) async throws -> Int {
            try await app.database.execute(
                """
                INSERT INTO feed_decks (user_id, chain, number, filter, editions, reasons, signals_version)
                SELECT '\(id)', nextval('feed_chains'), 0, '{}', '{}', '{}', 0 FROM generate_series(1, \(count))
                """)
            _ = try await reader.swipe("SKIP", [scroll.cards[0]])
            try await app.buildDecks()
            return try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE editions = '{}'")
        }
        #expect(try await emptyDeckCount(after: 70) == 70)
        // The new deck is one of the 500.
        #expect(try await emptyDeckCount(after: 500) == 499)
        try await app.database.execute(
            "UPDATE feed_decks SET created_at = now() - interval '25 hours'")
        #expect(try await emptyDeckCount(after: 1) == 48)
        // Decks that a scroll has continued are kept.
        #expect(try await page(reader, after: scroll.end, first: 10).cards.count == 10)
    }

    /// A chain is deleted as a whole two days after its newest deck was built, because its later decks must not repeat cards of
    /// the first one.
    @Test func chainsAreDeletedByTheAgeOfTheirNewestDeck() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let start = try await page(reader, first: 10)
        _ = try await page(reader, after: start.end, first: 30)
        func refresh(ageOfLast interval: String) async throws -> Int {
            try await app.database.execute(
                """
                UPDATE feed_decks
                SET created_at = now() - CASE number WHEN 0 THEN interval '9 days' ELSE interval '\(interval)' END
                """)
            try await app.refreshFeed()
            return try await app.database.count("SELECT count(*) FROM feed_decks")
        }
        #expect(try await refresh(ageOfLast: "47 hours") == 2)
        _ = try await reader.swipe("SKIP", [start.cards[0]])
        #expect(try await refresh(ageOfLast: "49 hours") == 0)
        // The cursor of a deleted deck starts the feed again, without the swiped card.
        let restarted = try await page(reader, after: start.end, first: 10)
        #expect(restarted.cards.count == 10)
        #expect(!restarted.cards.contains(start.cards[0]))
    }
}
