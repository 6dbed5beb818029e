import Glibc
import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

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
          nodes { id title author genre } pageInfo { hasNextPage endCursor }
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

    @Test func newReadersSeePopularBooksOfTenDifferentAuthors() async throws {
        let app = try await Self.makeApp()
        try await app.refreshFeed()
        let reader = try await app.makeReader()
        _ = try await page(reader)
        let first = try await page(reader)
        #expect(first.nodes[0]["title"] == "Card 1")
        #expect(first.response.statements == 4)
        #expect(first.response.roundTrips == 2)
        let second = try await page(reader, after: first.end)
        let third = try await page(reader, after: second.end)
        #expect(second.response.statements == 2)
        let cards = first.nodes + second.nodes + third.nodes
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 30)
        #expect(zip(cards, cards.dropFirst()).allSatisfy { $0["genre"] != $1["genre"] })
        for end in 10...cards.count {
            #expect(Set(cards[(end - 10)..<end].compactMap { $0["author"]?.string }).count == 10)
        }
        // The cards are the most popular ones that satisfy the rules.
        let numbers = cards.compactMap {
            $0["title"]?.string?.split(separator: " ").last.flatMap { Int($0) }
        }
        #expect(numbers.allSatisfy { $0 < 60 })
        // Preferred genres are shown on the first page.
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Poetry"]}) { id } }"#)
        #expect(try await page(reader).nodes.count { $0["genre"] == "Poetry" } >= 4)
    }

    @Test func unchangedDeckIsReadInOneRoundTrip() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(12).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", Array(cards.prefix(2)))
        try await app.database.execute("DELETE FROM feed_frontiers")
        try await app.buildDecks()
        // The job has also computed the frontiers, at which the queues continue after the deck.
        #expect(try await app.database.count("SELECT count(*) FROM feed_frontiers") > 0)
        let first = try await page(reader)
        #expect(first.nodes.count == 10)
        #expect(first.response.statements == 2)
        #expect(first.response.roundTrips == 1)
        // Adding a book that is not in the deck does not invalidate it. A book of the deck must not be shown again.
        let card = first.nodes[4]["id"] ?? .null
        _ = try await reader.makeBook(["title": "By hand"])
        #expect(try await page(reader).response.statements == 2)
        _ = try await reader.makeBook(["cardId": card])
        let second = try await page(reader)
        #expect(second.response.statements == 4)
        #expect(second.nodes.allSatisfy { $0["id"] != card })
        #expect(second.nodes.count == 10)
        // The next deck does not contain the book.
        try await app.buildDecks()
        let third = try await page(reader)
        #expect(third.response.statements == 2)
        #expect(
            third.nodes.allSatisfy {
                $0["id"] != card && !cards.prefix(2).contains($0["id"] ?? .null)
            })
    }

    @Test func swipedCardsOfADeckAreNotShownAgain() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let cards = try await reader.feedCards(20).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", Array(cards.prefix(2)))
        try await app.buildDecks()
        let shown = try await page(reader).nodes.map { $0["id"] ?? .null }
        _ = try await reader.swipe("SKIP", Array(shown.prefix(3)))
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE user_id = '\(user)' AND touched_at IS NULL")
                == 0)
        let next = try await page(reader).nodes.map { $0["id"] ?? .null }
        #expect(next.allSatisfy { !shown.prefix(3).contains($0) })
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
            "mutation($id: ID!) { deleteReview(bookId: $id) }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        _ = try await reader.execute("mutation($id: ID!) { deleteBook(id: $id) }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
    }

    enum Source: String, CaseIterable {
        case coldStart, deck, deckAndQueues, queues
    }

    @Test(arguments: Source.allCases)
    func earlierPagesDoNotChangeAfterARefresh(source: Source) async throws {
        let app = try await Self.makeApp()
        if source == .coldStart { try await app.refreshFeed() }
        let reader = try await app.makeReader()
        let hasDeck = source == .deck || source == .deckAndQueues
        if hasDeck {
            _ = try await reader.swipe("LIKE", [try await page(reader).nodes[0]["id"] ?? .null])
            try await app.buildDecks()
        }
        let first = source == .deckAndQueues ? 30 : 10
        var pages: [(after: Value, nodes: [Value])] = []
        var after = Value.null
        for _ in 0..<4 {
            let next = try await page(reader, after: after, first: first)
            pages.append((after, next.nodes))
            after = next.end
        }
        // Reverse the order.
        try await app.database.execute(
            """
            UPDATE editions SET ratings_count = 1000000 - ratings_count
            """)
        try await app.refreshFeed()
        if hasDeck {
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
        if !hasDeck {
            #expect(try await page(app.makeReader()).nodes[0]["title"] == "Card 240")
        }
    }

    /// A refresh that moves many books invalidates the frontiers. New decks and frontiers are computed in the background, so
    /// that pages do not become slower.
    @Test func largeRefreshEnqueuesNewDecksAndFrontiers() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1100))
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(30).map { $0["id"] ?? .null }
        _ = try await reader.swipe("DISLIKE", cards)
        try await app.buildDecks()
        func valid() async throws -> Int {
            Int(
                try await app.database.count(
                    """
                    SELECT count(*) FROM feed_frontiers
                    WHERE seen_at > (SELECT frontiers_valid_since FROM feed_state)
                    """))
        }
        try await app.refreshFeed()
        #expect(try await valid() > 0)
        #expect(try await app.waitingDeckCount() == 0)
        try await app.database.execute(
            "UPDATE editions SET ratings_count = 1 + number * 7919 % 1000 * 1000")
        try await app.refreshFeed()
        #expect(try await valid() == 0)
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        #expect(try await valid() > 0)
        // Inactive readers get no new deck until they return, even if they have a recent deck.
        func invalidateFrontiers() async throws {
            try await app.database.execute(
                "UPDATE feed_state SET frontiers_valid_since = clock_timestamp()")
            try await app.refreshFeed()
        }
        try await app.database.execute(
            """
            UPDATE sessions SET rotated_at = now() - interval '31 days';
            UPDATE swipes SET recorded_at = now() - interval '31 days'
            """)
        try await invalidateFrontiers()
        #expect(try await app.waitingDeckCount() == 0)
        let renewed = try await app.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(reader.refreshToken)])
        #expect(renewed.errors.isEmpty)
        #expect(try await app.waitingDeckCount() == 1)
        try await app.buildDecks()
        #expect(try await valid() > 0)
        try await invalidateFrontiers()
        #expect(try await app.waitingDeckCount() == 1)
        // Signing in also counts as returning.
        try await app.database.execute("DELETE FROM jobs WHERE kind = 'feed.deck'")
        _ = try await app.signIn(subject: reader.subject)
        #expect(try await app.waitingDeckCount() == 1)
    }

    /// A deletion locks the account and then its sessions. A refresh locks its session and must not wait for the account.
    @Test func refreshDuringADeletionDoesNotDeadlock() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let id = reader.id.string ?? ""
        try await app.database.execute(
            "INSERT INTO feed_frontiers VALUES ('\(id)', 0, '{}', 0, '-infinity')")
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
