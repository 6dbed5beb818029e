import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Scrolls through the whole feed. Each page is requested immediately after the previous one, with different swipes and
/// background jobs in between.
@Suite struct FeedScrollTests {
    /// A catalog for which the feed of new readers has been prepared.
    private static func makeApp(bookCount: Int) async throws -> TestApp {
        let genres = ["Fantasy", "Horror", "Romance", "History", "Poetry", "Travel"]
        let app = try await TestApp.start(
            catalog: (1...bookCount).map { number in
                """
                {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(number % 150)"],\
                "genres":["\(genres[number % genres.count])"],"language":"en",\
                "description":"The story of number \(number).","ratingsCount":\(1_000_000 - number * 1000)}
                """
            })
        try await app.refreshFeed()
        return app
    }

    /// The cards that the reader swipes before and during the scroll.
    enum Swipes: CaseIterable {
        /// The reader likes one card immediately before the first page, and nothing later.
        case oneBeforeTheScroll
        /// The reader likes the first card of each page.
        case oneOfEachPage
        /// The reader skips the even cards of each page in one batch.
        case halfOfEachPage
        /// The reader dislikes all cards of each page.
        case allOfEachPage
    }

    /// When the server's workers build the reader's decks.
    enum Workers: CaseIterable {
        case stopped
        /// The decks are built while the reader requests the next pages.
        case running
        /// Each page is requested after the deck of the last swipes is built.
        case runAfterEachPage
    }

    private struct Page {
        /// Null for the first page.
        let cursor: Value
        let cards: [Value]
    }

    /// Requests pages until one says that it is the last.
    private func scroll(
        _ reader: TestReader, first: Int = 10, afterEachPage: ([Value]) async throws -> Void
    ) async throws -> [Page] {
        var pages: [Page] = []
        var cursor = Value.null
        while pages.count < 80 {
            let page = try await reader.requireValue(
                FeedTests.feed, ["first": .int(first), "after": cursor], "feed")
            let cards = page["nodes"]?.values(of: "id") ?? []
            pages.append(Page(cursor: cursor, cards: cards))
            guard page["pageInfo", "hasNextPage"] == true else { return pages }
            #expect(cards.count == first)
            try await afterEachPage(cards)
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        Issue.record("The scroll does not end.")
        return pages
    }

    private func isEachCardShownOnce(_ pages: [Page], of count: Int) -> Bool {
        let cards = pages.flatMap(\.cards).compactMap(\.string)
        return cards.count == count && Set(cards).count == count
    }

    @Test(arguments: Swipes.allCases, Workers.allCases)
    func scrollShowsEachCardOnceAndEnds(swipes: Swipes, workers: Workers) async throws {
        let app = try await Self.makeApp(bookCount: 400)
        let reader = try await app.makeReader()
        let worker =
            workers == .stopped ? nil : try await TestWorker.start(app.database, [PrepareDeck()])
        var expectedCount = 400
        if swipes == .oneBeforeTheScroll {
            _ = try await reader.swipe("LIKE", [try await reader.feedCards(1)[0]["id"] ?? .null])
            expectedCount -= 1
        }
        let pages = try await scroll(reader) { cards in
            switch swipes {
            case .oneBeforeTheScroll: break
            case .oneOfEachPage: _ = try await reader.swipe("LIKE", [cards[0]])
            case .halfOfEachPage:
                let even = cards.enumerated().filter { $0.offset.isMultiple(of: 2) }
                _ = try await reader.swipe("SKIP", even.map(\.element))
            case .allOfEachPage: _ = try await reader.swipe("DISLIKE", cards)
            }
            if workers == .runAfterEachPage { try await app.waitForDecks() }
        }
        #expect(isEachCardShownOnce(pages, of: expectedCount))
        var changed: [Int] = []
        for (index, page) in pages.enumerated().dropFirst() {
            let again = try await reader.requireValue(
                FeedTests.feed, ["first": 10, "after": page.cursor], "feed", "nodes")
            if again.values(of: "id") != page.cards { changed.append(index) }
        }
        #expect(changed == [])
        await worker?.stop()
    }

    /// The server keeps only the newest of a reader's decks, and each of these swipes leads to a new one.
    @Test func longScrollDoesNotRepeatCardsOfDeletedDecks() async throws {
        let app = try await Self.makeApp(bookCount: 400)
        let reader = try await app.makeReader()
        let worker = try await TestWorker.start(app.database, [PrepareDeck()])
        let pages = try await scroll(reader) { cards in
            for (card, action) in zip(cards, ["LIKE", "SKIP", "DISLIKE"]) {
                _ = try await reader.swipe(action, [card])
                try await app.waitForDecks()
            }
        }
        await worker.stop()
        #expect(isEachCardShownOnce(pages, of: 400))
    }

    @Test func scrollOfManyDecksShowsAllCards() async throws {
        let app = try await Self.makeApp(bookCount: 500)
        let reader = try await app.makeReader()
        // The reader has scrolled through 150 decks, of one card each to keep the test short.
        try await app.database.execute(
            """
            INSERT INTO feed_decks (user_id, chain, number, filter, editions, reasons, signals_version)
            SELECT '\(reader.id.string ?? "")', d.chain, row_number() OVER (ORDER BY e.number), '{}', ARRAY[e.id], ARRAY[0], 0
            FROM cold_start_decks d
            JOIN editions e ON e.id <> ALL(d.editions)
            ORDER BY e.number
            LIMIT 150
            """)
        let pages = try await scroll(reader) { _ in }
        #expect(isEachCardShownOnce(pages, of: 500))
    }

    /// Two devices of a reader scroll and swipe at the same time. Neither shows a card twice.
    @Test func twoDevicesScrollAtTheSameTime() async throws {
        let app = try await Self.makeApp(bookCount: 400)
        let reader = try await app.makeReader()
        let worker = try await TestWorker.start(app.database, [PrepareDeck()])
        let scrolls = try await withThrowingTaskGroup(of: [Page].self) { group in
            for action in ["LIKE", "DISLIKE"] {
                group.addTask {
                    try await scroll(reader) { cards in
                        _ = try await reader.swipe(action, [cards[0], cards[5]])
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await worker.stop()
        for pages in scrolls {
            let cards = pages.flatMap(\.cards).compactMap(\.string)
            #expect(Set(cards).count == cards.count)
        }
        // Each card was shown by at least one of the two scrolls.
        #expect(Set(scrolls.joined().flatMap(\.cards).compactMap(\.string)).count == 400)
    }
}
