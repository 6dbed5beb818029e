import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// What is left of a card's swipes when one is taken back.
@Suite struct UndoSwipeTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(200)) }

    private static let undo = """
        mutation($id: ID!, $at: DateTime) { undoSwipe(cardId: $id, swipedAt: $at) { id inLibrary { id } } }
        """

    /// What a reader does with one card, a word each, in the order in which the server hears of it: an action and
    /// the day that it is said to be of; `undo` of the newest or of a day; `give` the book away.
    private func perform(_ words: String, _ reader: Reader, _ card: Value) async throws {
        for word in words.split(separator: " ") {
            let parts = word.split(separator: "@")
            let day = parts.count > 1 ? "2026-01-0\(parts[1])T12:00:00Z" : nil
            switch parts[0] {
            case "undo":
                let answer = try await reader.ask(
                    Self.undo, ["id": card, "at": day.map { .string($0) } ?? .null])
                #expect(answer["undoSwipe", "id"] == card, "\(answer.json)")
            case "give":
                let book = try await reader.need(
                    "query($id: ID!) { feedCard(id: $id) { inLibrary { id } } }", ["id": card],
                    "feedCard", "inLibrary", "id")
                _ = try await reader.ask(
                    "mutation($id: ID!) { deleteBook(id: $id) }", ["id": book])
            default:
                let answer = try await reader.swipe(String(parts[0]), [card], at: day)
                #expect(answer["recordSwipes", "recorded"] == 1, "\(answer.json)")
            }
        }
    }

    /// The swipe that counts, with its day where that was said; and whether the book is in the library.
    private func state(_ reader: Reader) async throws -> String {
        let id = reader.id.string ?? ""
        return try await Self.app().database.connected { connection in
            let rows = try connection.query(
                """
                SELECT coalesce((SELECT action || CASE WHEN swiped_at < '2026-02-01'
                  THEN to_char(swiped_at, '"@"FMDD') ELSE '' END FROM swipes WHERE user_id = '\(id)'), 'nothing')
                  || CASE WHEN EXISTS (SELECT FROM books WHERE user_id = '\(id)') THEN ' and a book' ELSE '' END
                """)
            return rows.text(0, 0) ?? ""
        }
    }

    @Test(arguments: [
        // What the swipe replaced counts again.
        ("SKIP@1 LIKE@2 undo", "SKIP@1"),
        ("DISLIKE@1 LIKE@2 undo", "DISLIKE@1"),
        ("LIKE@1 BUY@2 undo", "LIKE@1 and a book"),
        ("LIKE@1 DISLIKE@2 undo", "LIKE@1 and a book"),
        ("SKIP@1 SKIP@2 undo", "SKIP@1"),
        ("SKIP LIKE undo", "SKIP"),
        ("SKIP@1 LIKE@2 SKIP@3 undo", "LIKE@2 and a book"),
        // Sent again it changes nothing, until the card is swiped again.
        ("LIKE@1 BUY@2 undo undo undo", "LIKE@1 and a book"),
        ("SKIP@1 LIKE@2 undo undo BUY@3 undo undo", "SKIP@1"),
        // A swipe can be named by its time.
        ("LIKE@1 BUY@2 undo undo@1", "nothing"),
        ("LIKE@1 BUY@2 undo@2 undo@2", "LIKE@1 and a book"),
        ("LIKE@1 undo@2", "LIKE@1 and a book"),
        ("SKIP@1 LIKE@2 undo@1", "LIKE@2 and a book"),
        ("SKIP@1 LIKE@2 undo@1 undo", "nothing"),
        // The book goes with the last like or purchase that would have saved it.
        ("LIKE@1 BUY@2 undo@1", "BUY@2 and a book"),
        ("LIKE@1 BUY@2 undo@1 undo", "nothing"),
        ("LIKE@1 LIKE@3 undo@1", "LIKE@3 and a book"),
        ("LIKE@1 DISLIKE@2 undo undo@1", "nothing"),
        ("LIKE@1 DISLIKE@2 undo@1", "DISLIKE@2"),
        ("LIKE@1 DISLIKE@2 LIKE@3 undo", "DISLIKE@2 and a book"),
        // What was given away stays away.
        ("LIKE@1 give DISLIKE@2 undo", "LIKE@1"),
        ("LIKE@1 give BUY@2 undo", "LIKE@1"),
        // What arrives late was there before.
        ("LIKE@2 SKIP@1 undo", "SKIP@1"),
        ("SKIP@2 LIKE@1", "SKIP@2"),
        ("SKIP@2 LIKE@1 undo", "LIKE@1 and a book"),
        ("SKIP@2 LIKE@1 undo undo@1", "nothing"),
        ("BUY@2 LIKE@1 undo", "LIKE@1 and a book"),
        ("BUY@2 LIKE@1 undo undo@1", "nothing"),
        ("LIKE@2 undo SKIP@1", "SKIP@1"),
        ("SKIP@3 LIKE@1 BUY@4 undo", "SKIP@3"),
        // A swipe sent again is no other one, and stays taken back.
        ("LIKE@1 LIKE@1 undo", "nothing"),
        ("LIKE LIKE undo", "nothing"),
        ("SKIP LIKE LIKE undo", "SKIP"),
        ("LIKE@1 undo LIKE@1", "nothing"),
        ("SKIP@1 LIKE@2 undo LIKE@2 SKIP@1", "SKIP@1"),
        ("LIKE@1 undo LIKE@2", "LIKE@2 and a book"),
    ])
    func whatIsLeft(words: String, left: String) async throws {
        let reader = try await Self.app().newReader()
        let card = try await reader.cards(1)[0]["id"] ?? .null
        try await perform(words, reader, card)
        #expect(try await state(reader) == left, "\(words)")
    }

    @Test func aBatchIsItsSwipesByTime() async throws {
        let reader = try await Self.app().newReader()
        let card = try await reader.cards(1)[0]["id"] ?? .null
        let batch = """
            mutation($id: ID!) { recordSwipes(swipes: [
              {cardId: $id, action: LIKE, swipedAt: "2026-01-02T12:00:00Z"}
              {cardId: $id, action: SKIP, swipedAt: "2026-01-03T12:00:00Z"}
              {cardId: $id, action: DISLIKE, swipedAt: "2026-01-01T12:00:00Z"}
            ]) { recorded saved { id } } }
            """
        for _ in 0..<2 {
            let answer = try await reader.ask(batch, ["id": card])
            #expect(answer["recordSwipes"] == ["recorded": 3, "saved": []])
        }
        #expect(try await state(reader) == "SKIP@3")
        try await perform("undo", reader, card)
        #expect(try await state(reader) == "LIKE@2 and a book")
        _ = try await reader.ask(batch, ["id": card])
        #expect(try await state(reader) == "LIKE@2 and a book")
        try await perform("undo@2", reader, card)
        #expect(try await state(reader) == "DISLIKE@1")
    }

    /// Whoever swipes a card again and again has so many of its swipes kept, and no more.
    @Test func whatIsKeptOfACardIsBounded() async throws {
        let app = try await Self.app()
        let reader = try await app.newReader()
        let card = try await reader.cards(1)[0]["id"] ?? .null
        for round in 0..<3 {
            let swipes = (0..<100).map { number -> Value in
                let time = "2026-01-01T0\(round):\(10 + number / 50):\(10 + number % 50)Z"
                return ["cardId": card, "action": "SKIP", "swipedAt": .string(time)]
            }
            _ = try await reader.ask(
                "mutation($swipes: [SwipeInput!]!) { recordSwipes(swipes: $swipes) { recorded } }",
                ["swipes": .list(swipes)])
        }
        let kept = try await app.database.count(
            "SELECT count(*) FROM earlier_swipes WHERE user_id = '\(reader.id.string ?? "")'")
        #expect((1...120).contains(kept), "\(kept)")
    }

    /// A skip that is back has its time, so the card has cooled down when it had.
    @Test(arguments: [(40, true), (10, false)])
    func aSkippedCardCoolsDownAsBefore(days: Int, comes: Bool) async throws {
        let app = try await Self.app()
        let reader = try await app.newReader()
        let card = try await reader.cards(1)[0]["id"] ?? .null
        let skipped = try await Self.time(days, in: app)
        _ = try await reader.swipe("SKIP", [card], at: skipped)
        _ = try await reader.swipe("LIKE", [card])
        #expect(try await Self.all(reader).contains(card) == false)
        try await perform("undo", reader, card)
        let shown = try await Self.all(reader)
        #expect(shown.contains(card) == comes)
        #expect(shown.count == (comes ? 200 : 199))
        #expect(!comes || shown.last == card)
    }

    /// Skipped books that came back are swiped again; the pages behind the reader stay what they were.
    @Test func aPageWithASkippedBookStaysWhenThatIsSwipedAgain() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        let reader = try await app.newReader()
        let ids = try await reader.cards(30).map { $0["id"] ?? .null }
        let long = try await Self.time(40, in: app)
        _ = try await reader.swipe("SKIP", ids, at: long)
        try await app.database.execute(
            "UPDATE swipes SET recorded_at = '\(long)', seen_at = '\(long)'")
        var pages: [(after: Value, nodes: Value)] = []
        var after = Value.null
        for action in ["LIKE", "SKIP", "DISLIKE"] {
            let page = try await reader.ask(FeedTests.feed, ["first": 6, "after": after])
            let nodes = page["feed", "nodes"] ?? .null
            #expect(nodes.each("id").count == 6)
            pages.append((after, nodes))
            _ = try await reader.swipe(action, nodes.each("id"))
            after = page["feed", "pageInfo", "endCursor"] ?? .null
        }
        for (after, nodes) in pages.dropFirst() {
            let again = try await reader.ask(FeedTests.feed, ["first": 6, "after": after])
            #expect(again["feed", "nodes"] == nodes)
        }
        #expect(try await Self.all(reader).count == 12)
    }

    /// Also of a like that was recorded after the time when it is said to have been; and of one that counts no more.
    @Test func whatIsSaidLateAndTakenBackIsNews() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        let reader = try await app.newReader()
        let card = try await reader.cards(1)[0]["id"] ?? .null
        func news() async throws -> Int {
            let count = try await app.database.count("SELECT count(*) FROM editions_with_news()")
            try await app.database.execute("SELECT similar_was_learned(clock_timestamp())")
            return count
        }
        #expect(try await news() == 0)
        _ = try await reader.swipe("LIKE", [card], at: "2026-01-01T12:00:00Z")
        #expect(try await news() == 1)
        #expect(try await news() == 0)
        try await perform("undo", reader, card)
        #expect(try await news() == 1)
        #expect(try await news() == 0)
    }

    /// The instant so many days ago.
    private static func time(_ daysAgo: Int, in app: TestApp) async throws -> String {
        try await app.database.text(
            """
            SELECT to_char((now() - interval '\(daysAgo) days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            """)
    }

    private static func all(_ reader: Reader) async throws -> [Value] {
        var ids: [Value] = []
        var after = Value.null
        for _ in 0..<50 {
            let page = try await reader.ask(FeedTests.feed, ["first": 20, "after": after])
            ids += page["feed", "nodes"]?.each("id") ?? []
            guard page["feed", "pageInfo", "hasNextPage"] == true else { break }
            after = page["feed", "pageInfo", "endCursor"] ?? .null
        }
        return ids
    }
}
