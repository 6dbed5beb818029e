import GraphQL
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedTests {
    /// 60 books: 20 of Fantasy, 20 of Horror, 16 of two genres, and 4 without a genre.
    static let app = Shared {
        try await TestApp.start(
            catalog: (1...60).map { number in
                switch number {
                case 1...20: TestCatalog.line(number, genres: ["Fantasy"])
                case 21...40: TestCatalog.line(number, genres: ["Horror"])
                case 41...56: TestCatalog.line(number, genres: ["Romance", "Fantasy"])
                default: TestCatalog.line(number, genres: [])
                }
            })
    }

    static let feed = """
        query($first: Int, $after: String, $genres: [String!]) {
          feed(first: $first, after: $after, genres: $genres) {
            nodes { id title genres { name } }
            edges { cursor node { id } }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
          }
        }
        """

    /// Returns all cards, and calls `meanwhile` with each page.
    private func walk(
        _ reader: TestReader, first: Int, genres: Value = .null,
        meanwhile: (Value) async throws -> Void = { _ in }
    ) async throws -> [Value] {
        var cards: [Value] = []
        var after = Value.null
        for _ in 0..<200 {
            let response = try await reader.execute(
                Self.feed, ["first": .int(first), "after": after, "genres": genres])
            let page = try #require(response["feed"], "\(response.json)")
            cards += page["nodes"]?.list ?? []
            #expect(page["pageInfo", "hasPreviousPage"] == .boolean(!after.isNull))
            try await meanwhile(page["nodes"] ?? .null)
            guard page["pageInfo", "hasNextPage"] == true else { return cards }
            after = page["pageInfo", "endCursor"] ?? .null
        }
        Issue.record("the feed has no end")
        return cards
    }

    @Test(arguments: [1, 2, 3, 7, 10, 59, 60, 61, 100])
    func showsEachBookOfTheCatalogOnce(first: Int) async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await walk(reader, first: first)
        #expect(cards.count == 60)
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 60)
    }

    @Test func consecutiveCardsHaveDifferentGenresIfPossible() async throws {
        let reader = try await Self.app().makeReader()
        let genres = try await walk(reader, first: 7).prefix(DeckBuilder.firstCardsMax)
            .map { $0["genres", 0, "name"]?.string ?? "" }
        #expect(zip(genres, genres.dropFirst()).allSatisfy { $0 != $1 }, "\(genres)")
    }

    @Test func sameCursorReturnsTheSamePageAfterSwipes() async throws {
        let reader = try await Self.app().makeReader()
        let first = try await reader.execute(Self.feed, ["first": 5])
        let cursor = first["feed", "pageInfo", "endCursor"] ?? .null
        let page = try await reader.execute(Self.feed, ["first": 5, "after": cursor])
        let ids = page["feed", "nodes"]?.values(of: "id") ?? []
        let shown = first["feed", "nodes"]?.values(of: "id") ?? []
        _ = try await reader.swipe("DISLIKE", [ids[0], shown[1]])
        _ = try await reader.swipe("LIKE", [ids[2]])
        _ = try await reader.makeBook(["cardId": ids[3]])
        let again = try await reader.execute(Self.feed, ["first": 5, "after": cursor])
        #expect(again["feed", "nodes"] == page["feed", "nodes"])
        // A new scroll shows none of them.
        let restarted = try await walk(reader, first: 20)
        let gone: Set = [ids[0].string, ids[2].string, ids[3].string, shown[1].string]
        #expect(restarted.count == 56)
        #expect(restarted.allSatisfy { !gone.contains($0["id"]?.string) })
    }

    @Test func cursorsOfEdgesContinueAfterTheirCard() async throws {
        let reader = try await Self.app().makeReader()
        let page = try await reader.execute(Self.feed, ["first": 8])
        let ids = page["feed", "nodes"]?.values(of: "id") ?? []
        for index in [0, 3, 6] {
            let cursor = page["feed", "edges", .index(index), "cursor"] ?? .null
            let rest = try await reader.execute(
                Self.feed, ["first": .int(7 - index), "after": cursor])
            #expect(rest["feed", "nodes"]?.values(of: "id") == Array(ids[(index + 1)...]))
        }
        #expect(
            page["feed", "pageInfo", "startCursor"] == page["feed", "edges", 0, "cursor"])
    }

    /// Clients can send any cursor. One without a deck starts the feed again.
    @Test(arguments: [0, 1_700_000_000_000_000, 253_402_300_799_999_999])
    func cursorsOfUnknownDecksStartTheFeedAgain(asOf: Int64) async throws {
        let reader = try await Self.app().makeReader()
        let start = try await reader.feedCards(10)
        let other = try await Self.app().makeReader()
        let foreign = try await other.requireValue(
            Self.feed, ["first": 5], "feed", "pageInfo", "endCursor"
        ).string.flatMap { FeedCursor($0) }
        for chain in [foreign?.deck.chain ?? 0, 0, -1_000_000, Int64.min, .max] {
            let deck = DeckID(chain: chain, number: chain == 0 ? .max : 0)
            let cursor = FeedCursor(deck: deck, index: 7, asOf: asOf).text
            let response = try await reader.execute(
                Self.feed, ["first": 10, "after": .string(cursor)])
            #expect(response["feed", "nodes"]?.values(of: "id") == start.map { $0["id"] ?? .null })
        }
    }

    /// An index after the end of a deck continues with the next deck.
    @Test(arguments: [30, 1000, Int32.max])
    func indexAfterTheEndOfADeckContinuesWithTheNextOne(index: Int32) async throws {
        let reader = try await Self.app().makeReader()
        let end = try await reader.requireValue(
            Self.feed, ["first": 5], "feed", "pageInfo", "endCursor"
        ).string.flatMap { FeedCursor($0) }
        var cursor = try #require(end)
        cursor.index = index
        let response = try await reader.execute(
            Self.feed, ["first": 10, "after": .string(cursor.text)])
        #expect(response["feed", "nodes"]?.list?.count == 10)
        let first = try await reader.feedCards(30).map { $0["id"] }
        #expect(
            response["feed", "nodes"]?.values(of: "id").allSatisfy { !first.contains($0) } == true)
    }

    @Test(arguments: [Int64.min, -1, 253_402_300_800_000_000, .max])
    func cursorsWithTimesOutOfRangeAreRejected(asOf: Int64) async throws {
        let reader = try await Self.app().makeReader()
        let cursor = FeedCursor(deck: DeckID(chain: 1, number: 0), index: 0, asOf: asOf).text
        let response = try await reader.execute(
            Self.feed, ["first": 10, "after": .string(cursor)])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "after")
    }

    @Test(arguments: ["LIKE", "DISLIKE", "BUY", "SKIP"])
    func swipedCardsAreNotShownAgain(action: String) async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(6).map { $0["id"] ?? .null }
        _ = try await reader.swipe(action, cards)
        let rest = try await walk(reader, first: 13)
        #expect(rest.count == 54)
        #expect(rest.allSatisfy { !cards.contains($0["id"] ?? .null) })
    }

    @Test func ownedBooksAreNotShown() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook(["cardId": card])
        #expect(try await walk(reader, first: 30).count == 59)
        // After the book is deleted, it is shown again.
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        #expect(try await walk(reader, first: 30).count == 60)
    }

    @Test func skippedBooksAreShownAgainAfterThirtyDays() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(3).map { $0["id"] ?? .null }
        _ = try await reader.swipe("SKIP", [cards[0], cards[1]])
        _ = try await reader.swipe("DISLIKE", [cards[2]])
        let id = reader.id.string ?? ""
        func age(_ interval: String) async throws {
            try await Self.app().database.execute(
                """
                UPDATE swipes SET swiped_at = now() - interval '\(interval)',
                  recorded_at = now() - interval '\(interval)' WHERE user_id = '\(id)';
                UPDATE feed_readers SET signals_version = signals_version + 1 WHERE user_id = '\(id)'
                """)
        }
        try await age("29 days 23 hours")
        #expect(try await walk(reader, first: 30).count == 57)
        try await age("30 days 1 hour")
        let cooled = try await walk(reader, first: 30).map { $0["id"] ?? .null }
        #expect(cooled.count == 59)
        #expect(cooled.contains(cards[0]) && cooled.contains(cards[1]))
    }

    @Test func swipingDuringAScrollShowsEachCardOnce() async throws {
        let reader = try await Self.app().makeReader()
        var random = SeededGenerator(11)
        var count = 0
        let cards = try await walk(reader, first: 4) { page in
            count += 1
            for id in page.values(of: "id") {
                let action = ["LIKE", "SKIP", "DISLIKE", "BUY"].randomElement(using: &random) ?? ""
                _ = try await reader.swipe(action, [id])
            }
        }
        #expect(cards.count == 60)
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == 60)
        let empty = try await reader.execute(Self.feed, ["first": 10])
        #expect(
            empty.json == [
                "data": [
                    "feed": [
                        "nodes": [], "edges": [],
                        "pageInfo": [
                            "hasNextPage": false, "hasPreviousPage": false, "startCursor": .null,
                            "endCursor": .null,
                        ],
                    ]
                ]
            ])
    }

    @Test(
        arguments: [
            (["Fantasy"], 36), (["Romance"], 16), (["Horror"], 20), (["Horror", "Romance"], 36),
            (["Romance", "Fantasy"], 36), (["Fantasy", "Horror", "Romance"], 56),
            (["Horror", "Horror"], 20),
        ] as [([String], Int)])
    func filterShowsOnlyBooksOfItsGenres(genres: [String], count: Int) async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await walk(reader, first: 9, genres: .list(genres.map { .string($0) }))
        #expect(cards.count == count)
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == count)
        #expect(cards.allSatisfy { hasGenre($0, genres) })
    }

    private func hasGenre(_ card: Value, _ genres: [String]) -> Bool {
        (card["genres"]?.values(of: "name") ?? []).contains { genres.contains($0.string ?? "") }
    }

    /// The cursor of a filtered feed does not affect other genres.
    @Test func filterCanChangeBetweenPages() async throws {
        let reader = try await Self.app().makeReader()
        var after = Value.null
        var counts: [Int] = []
        for genres in [["Horror"], nil, ["Romance"], ["Fantasy"], nil] as [[String]?] {
            let names = genres.map { Value.list($0.map { .string($0) }) } ?? .null
            let response = try await reader.execute(
                Self.feed, ["first": 12, "after": after, "genres": names])
            let cards = response["feed", "nodes"]?.list ?? []
            counts.append(cards.count)
            if let genres {
                #expect(cards.allSatisfy { hasGenre($0, genres) })
            }
            after = response["feed", "pageInfo", "endCursor"] ?? .null
        }
        #expect(counts == [12, 12, 12, 12, 12])
    }

    @Test(arguments: ["Unheard of", "fantastic", "", "' OR 1=1"])
    func unknownGenresAreRejected(genre: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.feed, ["genres": ["Fantasy", .string(genre)]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "genres")
    }

    @Test func preferredGenresProvideEverySecondCard() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.execute(
            #"mutation { updateProfile(input: {preferredGenres: ["Romance"]}) { id } }"#)
        let cards = try await walk(reader, first: 5)
        #expect(cards.count == 60)
        // Not exactly every second card, because cards of recently shown authors are postponed.
        #expect(cards.prefix(20).count { $0["genres", 0, "name"] == "Romance" } > 8)
    }

    @Test func tooManyGenresAreRejected() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            Self.feed, ["genres": .list(Array(repeating: "Fantasy", count: 101))])
        #expect(response.code == "BAD_USER_INPUT")
    }

    @Test func genresAreOrderedByReaders() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute("{ genres { name } }")
        #expect(response["genres"]?.values(of: "name") == ["Fantasy", "Horror", "Romance"])
    }

    @Test func cardReturnsTheReadersOwnBook() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let query = """
            query($id: ID!) { feedCard(id: $id) {
              title author authors { name } averageRating ratingsCount hook isbn13 isbn10
              inLibrary { id status card { inLibrary { id } } }
            } }
            """
        let before = try await reader.execute(query, ["id": card])
        #expect(before["feedCard", "inLibrary"] == .null)
        #expect(before["feedCard", "averageRating"] == 4.25)
        #expect(before["feedCard", "hook"]?.string?.hasPrefix("The story of number") == true)
        #expect(before["feedCard", "authors"]?.list?.count == 2)
        let main = before["feedCard", "authors", 0, "name"]?.string ?? ""
        #expect(before["feedCard", "author"] == .string("\(main), Second"))
        let book = try await reader.makeBook(["cardId": card])
        let after = try await reader.execute(query, ["id": card])
        #expect(after["feedCard", "inLibrary", "id"] == book)
        #expect(after["feedCard", "inLibrary", "card", "inLibrary", "id"] == book)
    }

    @Test(arguments: ["0198c0de-0000-7000-8000-00000000dead", "no id"])
    func unknownCardIsNull(id: Value) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            "query($id: ID!) { feedCard(id: $id) { id } }", ["id": id])
        #expect(response.json == ["data": ["feedCard": .null]])
    }

    @Test func purchaseLinksContainTheTenantsTags() async throws {
        for (tenant, isTagged) in [(TestApp.Tenant.alpha, true), (.beta, false)] {
            let reader = try await Self.app().makeReader(tenant)
            let links = try await reader.requireValue(
                "{ feed(first: 1) { nodes { purchaseLinks { bookstore { id } url } } } }", .null,
                "feed",
                "nodes", 0, "purchaseLinks")
            #expect(links[0, "bookstore", "id"] == "amazon.com")
            #expect(links[1, "bookstore", "id"] == "bookshop.org")
            #expect(links[0, "url"]?.string?.contains("alpha-20") == isTagged)
            #expect(links[1, "url"]?.string?.contains("/a/111/") == isTagged)
        }
    }
}
