import Glibc
import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// What is dealt ahead: the opening, and readers' own decks.
@Suite struct FeedDeckTests {
    /// 240 books of six genres by 40 authors, in the order of their popularity.
    private static func makeApp() async throws -> TestApp {
        let genres = ["Fantasy", "Crime", "Romance", "History", "Poetry", "Travel"]
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
    ) async throws -> (nodes: [Value], end: Value, answer: TestResponse) {
        let response = try await reader.execute(Self.feed, ["first": .int(first), "after": after])
        return (
            response["feed", "nodes"]?.list ?? [],
            response["feed", "pageInfo", "endCursor"] ?? .null, response
        )
    }

    @Test func aNewReaderSeesTheMostPopularWithNoAuthorTwiceInTen() async throws {
        let app = try await Self.makeApp()
        try await app.refreshFeed()
        let reader = try await app.makeReader()
        _ = try await page(reader)
        let first = try await page(reader)
        #expect(first.nodes[0]["title"] == "Card 1")
        #expect(first.answer.statements == 4)
        #expect(first.answer.roundTrips == 2)
        let second = try await page(reader, after: first.end)
        let third = try await page(reader, after: second.end)
        #expect(second.answer.statements == 2)
        let cards = first.nodes + second.nodes + third.nodes
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 30)
        #expect(zip(cards, cards.dropFirst()).allSatisfy { $0["genre"] != $1["genre"] })
        for end in 10...cards.count {
            #expect(Set(cards[(end - 10)..<end].compactMap { $0["author"]?.string }).count == 10)
        }
        // Nothing is shown that could have given way to something more popular.
        let numbers = cards.compactMap {
            $0["title"]?.string?.split(separator: " ").last.flatMap { Int($0) }
        }
        #expect(numbers.allSatisfy { $0 < 60 })
        // Whoever prefers a genre sees it at once.
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Poetry"]}) { id } }"#)
        #expect(try await page(reader).nodes.count { $0["genre"] == "Poetry" } >= 4)
    }

    @Test func aDeckIsReadInOneRoundTripUntilItIsTouched() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(12).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", Array(cards.prefix(2)))
        try await app.database.execute("DELETE FROM feed_frontiers")
        try await app.dealDecks()
        // The queues behind it begin where the reader is.
        #expect(try await app.database.count("SELECT count(*) FROM feed_frontiers") > 0)
        let first = try await page(reader)
        #expect(first.nodes.count == 10)
        #expect(first.answer.statements == 2)
        #expect(first.answer.roundTrips == 1)
        // A book that is not in it touches nothing; one that is must not be shown again.
        let card = first.nodes[4]["id"] ?? .null
        _ = try await reader.makeBook(["title": "By hand"])
        #expect(try await page(reader).answer.statements == 2)
        _ = try await reader.makeBook(["cardId": card])
        let second = try await page(reader)
        #expect(second.answer.statements == 4)
        #expect(second.nodes.allSatisfy { $0["id"] != card })
        #expect(second.nodes.count == 10)
        // The next deck is without it.
        try await app.dealDecks()
        let third = try await page(reader)
        #expect(third.answer.statements == 2)
        #expect(
            third.nodes.allSatisfy {
                $0["id"] != card && !cards.prefix(2).contains($0["id"] ?? .null)
            })
    }

    @Test func whatIsSwipedWhileADeckIsDealtIsNotInIt() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let cards = try await reader.feedCards(20).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", Array(cards.prefix(2)))
        try await app.dealDecks()
        let shown = try await page(reader).nodes.map { $0["id"] ?? .null }
        _ = try await reader.swipe("SKIP", Array(shown.prefix(3)))
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE user_id = '\(user)' AND touched_at IS NULL")
                == 0)
        let next = try await page(reader).nodes.map { $0["id"] ?? .null }
        #expect(next.allSatisfy { !shown.prefix(3).contains($0) })
    }

    @Test func libraryAndReviewsSpeakForOtherBooks() async throws {
        let app = try await Self.makeApp()
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        #expect(try await app.waitingDeckCount() == 0)
        let book = try await reader.makeBook(["cardId": card, "status": "READ"])
        #expect(try await app.waitingDeckCount() == 1)
        try await app.dealDecks()
        try await reader.review(book, text: "Words")
        #expect(try await app.waitingDeckCount() == 1)
        try await app.dealDecks()
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteReview(bookId: $id) }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
        try await app.dealDecks()
        _ = try await reader.execute("mutation($id: ID!) { deleteBook(id: $id) }", ["id": book])
        #expect(try await app.waitingDeckCount() == 1)
    }

    enum Source: String, CaseIterable {
        case opening, deck, deckAndQueues, queues
    }

    @Test(arguments: Source.allCases)
    func pagingBackShowsTheSameCardsAfterARefresh(source: Source) async throws {
        let app = try await Self.makeApp()
        if source == .opening { try await app.refreshFeed() }
        let reader = try await app.makeReader()
        let hasDeck = source == .deck || source == .deckAndQueues
        if hasDeck {
            _ = try await reader.swipe("LIKE", [try await page(reader).nodes[0]["id"] ?? .null])
            try await app.dealDecks()
        }
        let first = source == .deckAndQueues ? 30 : 10
        var pages: [(after: Value, nodes: [Value])] = []
        var after = Value.null
        for _ in 0..<4 {
            let next = try await page(reader, after: after, first: first)
            pages.append((after, next.nodes))
            after = next.end
        }
        // The last become the first.
        try await app.database.execute(
            """
            UPDATE editions SET ratings_count = 1000000 - ratings_count
            """)
        try await app.refreshFeed()
        if hasDeck {
            _ = try await reader.swipe("LIKE", [pages[2].nodes[0]["id"] ?? .null])
            try await app.dealDecks()
        }
        for (after, nodes) in pages.dropFirst() {
            #expect(try await page(reader, after: after, first: first).nodes == nodes)
        }
        // What is new comes later, and nothing twice.
        let next = try await page(reader, after: after, first: first)
        let before = Set(pages.flatMap { $0.nodes.compactMap { $0["id"]?.string } })
        #expect(next.nodes.count == first)
        #expect(next.nodes.allSatisfy { !before.contains($0["id"]?.string ?? "") })
        if !hasDeck {
            #expect(try await page(app.makeReader()).nodes[0]["title"] == "Card 240")
        }
    }

    /// Frontiers are of the order that they were made in; after much of it has changed nobody's page should pay.
    @Test func afterAGreatRefreshReadersAreDealtDecksAndFrontiers() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(1100))
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(30).map { $0["id"] ?? .null }
        _ = try await reader.swipe("DISLIKE", cards)
        try await app.dealDecks()
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
        try await app.dealDecks()
        #expect(try await valid() > 0)
        // Who has left is dealt none, though one was dealt just now; who looks again is at once, swiping or not.
        func outdate() async throws {
            try await app.database.execute(
                "UPDATE feed_state SET frontiers_valid_since = clock_timestamp()")
            try await app.refreshFeed()
        }
        try await app.database.execute(
            """
            UPDATE sessions SET rotated_at = now() - interval '31 days';
            UPDATE swipes SET recorded_at = now() - interval '31 days'
            """)
        try await outdate()
        #expect(try await app.waitingDeckCount() == 0)
        let renewed = try await app.execute(
            "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
            ["token": .string(reader.refreshToken)])
        #expect(renewed.errors.isEmpty)
        #expect(try await app.waitingDeckCount() == 1)
        try await app.dealDecks()
        #expect(try await valid() > 0)
        try await outdate()
        #expect(try await app.waitingDeckCount() == 1)
        // Signing in is coming back, too.
        try await app.database.execute("DELETE FROM jobs WHERE kind = 'feed.deck'")
        _ = try await app.signIn(subject: reader.subject)
        #expect(try await app.waitingDeckCount() == 1)
    }

    /// A deletion holds the account and wants its sessions; who renews one holds it, and may not want the account.
    @Test func renewingWhileTheAccountGoesIsNoDeadlock() async throws {
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
