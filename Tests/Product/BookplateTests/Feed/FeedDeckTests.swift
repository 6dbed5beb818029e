import Glibc
import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The prepared decks: the cold-start deck and the readers' own decks.
@Suite struct FeedDeckTests {
    /// 240 books of six genres by 40 authors, in the order of their popularity.
    private static func makeApp() async throws -> TestApp {
        let genres = ["Fantasy", "Horror", "Romance", "History", "Poetry", "Travel"]
        return try await TestApp.start(
            catalog: (1...240).map { number in
                let author = number < 20 ? 1 : 1 + number % 40
                return """
                    {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(author)"],\
                    "genres":["\(genres[number % 6])"],"language":"en",\
                    "description":"The story of number \(number).","ratingsCount":\(100_000 - number * 300)}
                    """
            })
    }

    private static let feed = """
        query($first: Int, $after: String) { feed(first: $first, after: $after) {
          nodes { id title author genres { name } } pageInfo { hasNextPage endCursor }
        } }
        """

    private func page(
        _ reader: TestReader, after: Value = .null, first: Int = 10
    ) async throws -> (nodes: [Value], end: Value, response: TestResponse) {
        let response = try await reader.execute(Self.feed, ["first": .int(first), "after": after])
        return (
            response["feed", "nodes"]?.list ?? [],
            response["feed", "pageInfo", "endCursor"] ?? .null, response
        )
    }

    @Test func newReadersShareAColdStartDeck() async throws {
        let app = try await Self.makeApp()
        try await app.refreshFeed()
        let reader = try await app.makeReader()
        let first = try await page(reader)
        #expect(first.nodes[0]["title"] == "Card 1")
        let second = try await page(reader, after: first.end)
        let third = try await page(reader, after: second.end)
        let cards = first.nodes + second.nodes + third.nodes
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 30)
        #expect(
            zip(cards, cards.dropFirst()).allSatisfy {
                $0["genres", 0, "name"] != $1["genres", 0, "name"]
            })
        #expect(try await page(app.makeReader()).nodes == first.nodes)
        #expect(
            try await app.database.count("SELECT count(*) FROM feed_decks WHERE number = 0")
                == 0)
        // Readers with preferred genres get a deck of their own.
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Poetry"]}) { id } }"#)
        #expect(try await page(reader).nodes.count { $0["genres", 0, "name"] == "Poetry" } >= 4)
    }

    /// The first refresh of a new installation runs before the operator imports a catalog.
    @Test func catalogImportedAfterTheFirstRefreshIsShown() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.refreshFeed()
        let reader = try await app.makeReader()
        #expect(try await page(reader).nodes.isEmpty)
        try await app.database.importCatalog(TestCatalog.lines(20))
        #expect(try await page(reader).nodes.count == 10)
    }

    @Test func pageOfADeckIsReadInOneRoundTrip() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(12).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", Array(cards.prefix(2)))
        try await app.buildDecks()
        let first = try await page(reader)
        #expect(first.nodes.count == 10)
        #expect(first.response.statements == 2)
        #expect(first.response.roundTrips == 1)
        #expect(first.nodes.allSatisfy { !cards.prefix(2).contains($0["id"] ?? .null) })
        // The reader's own book is left out before the next deck is built.
        let card = first.nodes[4]["id"] ?? .null
        _ = try await reader.makeBook(["cardId": card])
        let second = try await page(reader)
        #expect(second.nodes.allSatisfy { $0["id"] != card })
        #expect(second.nodes.count == 10)
        try await app.buildDecks()
        let third = try await page(reader)
        #expect(third.response.statements == 2)
        #expect(third.nodes.allSatisfy { $0["id"] != card })
    }

    /// The page with the middle card of a deck enqueues the job, once.
    @Test func successorIsBuiltWhenTheScrollPassesTheMiddle() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let first = try await page(reader)
        #expect(try await app.waitingDeckCount() == 0)
        let second = try await page(reader, after: first.end)
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE number > 0") == 1)
        #expect(try await page(reader, after: first.end).nodes == second.nodes)
        #expect(try await app.waitingDeckCount() == 0)
        // The end of the deck is read with the beginning of the next one.
        let third = try await page(reader, after: second.end)
        #expect(third.response.statements == 2)
    }

    @Test func likesTakeEffectInTheNextScroll() async throws {
        let app = try await Self.makeApp()
        try await app.refreshFeed()
        let reader = try await app.makeReader()
        let before = try await page(reader)
        let liked = before.nodes[0]["id"] ?? .null
        _ = try await reader.swipe("LIKE", [liked])
        // The request builds the deck if the job has not.
        let after = try await page(reader)
        #expect(after.nodes.allSatisfy { $0["id"] != liked })
        #expect(try await app.waitingDeckCount() == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks JOIN feed_readers USING (user_id, signals_version)"
            ) == 1)
        // The scroll that began before the swipe is not affected.
        #expect(try await page(reader, after: before.end).nodes.count == 10)
    }

    @Test func changesOfLibraryAndReviewsEnqueueADeck() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        #expect(try await app.waitingDeckCount() == 0)
        let book = try await reader.makeBook(["cardId": card, "status": "READ"])
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        try await reader.review(book, text: "Words")
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteReview(id: $id) { book { id } } }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        for (status, expectedCount) in [("READING", 0), ("READ", 0), ("DID_NOT_FINISH", 1)] {
            _ = try await reader.execute(
                "mutation($id: ID!, $status: ReadingStatus!) { updateBook(id: $id, input: {status: $status}) { id } }",
                ["id": book, "status": .string(status)])
            #expect(try await app.waitingDeckCount() == expectedCount)
        }
        try await app.buildDecks()
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
    }

    @Test func preferredGenresBuildADeck() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        _ = try await page(reader)
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Travel"]}) { id } }"#)
        #expect(try await app.waitingDeckCount() == 1)
        #expect(try await page(reader).nodes.count { $0["genres", 0, "name"] == "Travel" } >= 4)
    }

    enum Source: String, CaseIterable {
        case coldStart, deck, longPages
    }

    @Test(arguments: Source.allCases)
    func earlierPagesDoNotChangeAfterARefresh(source: Source) async throws {
        let app = try await Self.makeApp()
        if source == .coldStart { try await app.refreshFeed() }
        let reader = try await app.makeReader()
        if source != .coldStart {
            _ = try await reader.swipe("LIKE", [try await page(reader).nodes[0]["id"] ?? .null])
            try await app.buildDecks()
        }
        let first = source == .longPages ? 30 : 10
        var pages: [(after: Value, nodes: [Value])] = []
        var after = Value.null
        for _ in 0..<4 {
            let next = try await page(reader, after: after, first: first)
            pages.append((after, next.nodes))
            after = next.end
        }
        // Reverse the order.
        try await app.database.execute(
            "UPDATE editions SET ratings_count = 1000000 - ratings_count")
        try await app.refreshFeed()
        if source != .coldStart {
            _ = try await reader.swipe("LIKE", [pages[2].nodes[0]["id"] ?? .null])
            try await app.buildDecks()
        }
        for (after, nodes) in pages.dropFirst() {
            #expect(try await page(reader, after: after, first: first).nodes == nodes)
        }
        // New cards are shown on later pages, and none twice.
        let next = try await page(reader, after: after, first: first)
        let before = Set(pages.flatMap { $0.nodes.compactMap { $0["id"]?.string } })
        #expect(next.nodes.count == first)
        #expect(next.nodes.allSatisfy { !before.contains($0["id"]?.string ?? "") })
        if source == .coldStart {
            #expect(try await page(app.makeReader()).nodes[0]["title"] == "Card 240")
        }
    }

    /// Everything was learned again. Active readers get their decks from jobs, and others when they return.
    @Test func backfillReplacesTheDecksOfActiveReaders() async throws {
        let app = try await Self.makeApp()
        let active = try await app.makeReader()
        let inactive = try await app.makeReader()
        for reader in [active, inactive] {
            let cards = try await reader.feedCards(10).map { $0["id"] ?? .null }
            _ = try await reader.swipe("LIKE", cards)
        }
        // Readers without sessions, as after an import of readers.
        try await app.database.execute(
            """
            INSERT INTO users (id, tenant_id, display_name)
              SELECT md5('r' || r)::uuid, (SELECT id FROM tenants LIMIT 1), 'r' || r FROM generate_series(1, 500) r;
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
              SELECT u.id, e.id, 'LIKE', now() FROM users u, editions e
              WHERE u.display_name ~ '^r[0-9]+$' AND e.number % 40 = hashtext(u.display_name) % 20 + 20;
            UPDATE sessions SET rotated_at = now() - interval '31 days'
              WHERE user_id = '\(inactive.id.string ?? "")'
            """)
        try await app.buildDecks()
        _ = try await app.database.withConnection {
            try SimilarBackfill($0).run(isIncremental: false)
        }
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        let renewed = try await app.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(inactive.refreshToken)])
        #expect(renewed.errors.isEmpty)
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        // Signing in also counts as returning, if the deck is outdated.
        _ = try await app.signIn(subject: inactive.subject)
        #expect(try await app.waitingDeckCount() == 0)
        try await app.outdateDecks()
        _ = try await app.signIn(subject: inactive.subject)
        #expect(try await app.waitingDeckCount() == 1)
    }

    /// A deletion locks the account and then its sessions. A refresh locks its session and must not wait for the account.
    @Test func refreshDuringADeletionDoesNotDeadlock() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(5))
        let reader = try await app.makeReader()
        let id = reader.id.string ?? ""
        _ = try await reader.makeBook([
            "cardId": try await reader.feedCards(1)[0]["id"] ?? .null
        ])
        // A job that is not there yet waits for the account's row.
        try await app.database.execute("DELETE FROM jobs WHERE kind = 'feed.deck'")
        let renewal = try await app.database.withConnection { connection in
            try connection.execute("BEGIN; SELECT FROM users WHERE id = '\(id)' FOR UPDATE")
            let renewal = Task {
                try await app.execute(
                    "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
                    ["token": .string(reader.refreshToken)])
            }
            let other = try AdminConnection(try app.database.url())
            let waiting = """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            for _ in 0..<500 where try other.query(waiting).int64(0, 0) == 0 { usleep(10_000) }
            #expect(try other.query(waiting).int64(0, 0) == 1)
            try connection.execute("DELETE FROM users WHERE id = '\(id)'; COMMIT")
            return renewal
        }
        #expect(try await renewal.value.errors.isEmpty)
        #expect(try await app.waitingDeckCount() == 0)
    }
}
