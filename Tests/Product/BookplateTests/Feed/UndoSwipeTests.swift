import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The state of a card after one of its swipes is undone.
@Suite struct UndoSwipeTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(200)) }

    private static let undo = """
        mutation($id: ID!, $at: DateTime) { undoSwipe(input: {cardId: $id, swipedAt: $at}) { card { id inLibrary { id } } } }
        """

    private static let record = """
        mutation($swipes: [SwipeInput!]!) { recordSwipes(inputs: $swipes) { recorded saved { id } } }
        """

    /// Performs actions on one card, one per word, in the order in which the server receives them.
    ///
    /// A word is a batch of swipes separated by commas, `undo`, or `delete`, which deletes the book. `@` is followed by the
    /// time of a swipe, or of the swipe to undo: a day of January 2026, or an offset from now in minutes.
    private func perform(_ words: String, _ reader: TestReader, _ card: Value) async throws {
        let app = try await Self.app()
        var times: [Substring: Value] = [:]
        func time(_ text: Substring?) async throws -> Value {
            guard let text else { return .null }
            if let known = times[text] { return known }
            let time =
                text.first?.isNumber == true
                ? "2026-01-0\(text)T12:00:00Z" : try await Self.time("\(text) minutes", in: app)
            times[text] = .string(time)
            return .string(time)
        }
        for word in words.split(separator: " ") {
            let swipes = word.split(separator: ",").map { $0.split(separator: "@") }
            switch swipes[0][0] {
            case "undo":
                let at = try await time(swipes[0].dropFirst().first)
                let response = try await reader.execute(Self.undo, ["id": card, "at": at])
                #expect(response["undoSwipe", "card", "id"] == card, "\(response.json)")
            case "delete":
                let book = try await reader.requireValue(
                    "query($id: ID!) { feedCard(id: $id) { inLibrary { id } } }", ["id": card],
                    "feedCard", "inLibrary", "id")
                _ = try await reader.execute(
                    "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
            default:
                var batch: [Value] = []
                for swipe in swipes {
                    let at = try await time(swipe.dropFirst().first)
                    batch.append(
                        ["cardId": card, "action": .string(String(swipe[0])), "swipedAt": at])
                }
                let response = try await reader.execute(Self.record, ["swipes": .list(batch)])
                #expect(
                    response["recordSwipes", "recorded"] == .int(batch.count), "\(response.json)")
            }
        }
    }

    /// Returns the current swipe, with its day if it was given, and whether the book is in the library.
    private func state(_ reader: TestReader) async throws -> String {
        let id = reader.id.string ?? ""
        return try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT coalesce((SELECT action || CASE WHEN swiped_at < '2026-02-01'
                  THEN to_char(swiped_at, '"@"FMDD') ELSE '' END FROM current_swipes WHERE user_id = '\(id)'), 'nothing')
                  || CASE WHEN EXISTS (SELECT FROM books WHERE user_id = '\(id)') THEN ' and a book' ELSE '' END
                """)
            return rows.text(0, 0) ?? ""
        }
    }

    @Test(arguments: [
        // The replaced swipe counts again.
        ("SKIP@1 LIKE@2 undo", "SKIP@1"),
        ("DISLIKE@1 LIKE@2 undo", "DISLIKE@1"),
        ("LIKE@1 BUY@2 undo", "LIKE@1 and a book"),
        ("LIKE@1 DISLIKE@2 undo", "LIKE@1 and a book"),
        ("SKIP@1 SKIP@2 undo", "SKIP@1"),
        ("SKIP LIKE undo", "SKIP"),
        ("SKIP@1 LIKE@2 SKIP@3 undo", "LIKE@2 and a book"),
        // A repeated undo has no effect until the card is swiped again.
        ("LIKE@1 BUY@2 undo undo undo", "LIKE@1 and a book"),
        ("SKIP@1 LIKE@2 undo undo BUY@3 undo undo", "SKIP@1"),
        // A swipe can be identified by its time.
        ("LIKE@1 BUY@2 undo undo@1", "nothing"),
        ("LIKE@1 BUY@2 undo@2 undo@2", "LIKE@1 and a book"),
        ("LIKE@1 undo@2", "LIKE@1 and a book"),
        ("SKIP@1 LIKE@2 undo@1", "LIKE@2 and a book"),
        ("SKIP@1 LIKE@2 undo@1 undo", "nothing"),
        // The book is deleted with the last like or purchase that could have saved it.
        ("LIKE@1 BUY@2 undo@1", "BUY@2 and a book"),
        ("LIKE@1 BUY@2 undo@1 undo", "nothing"),
        ("LIKE@1 LIKE@3 undo@1", "LIKE@3 and a book"),
        ("LIKE@1 DISLIKE@2 undo undo@1", "nothing"),
        ("LIKE@1 DISLIKE@2 undo@1", "DISLIKE@2"),
        ("LIKE@1 DISLIKE@2 LIKE@3 undo", "DISLIKE@2 and a book"),
        // A deleted book is not restored.
        ("LIKE@1 delete DISLIKE@2 undo", "LIKE@1"),
        ("LIKE@1 delete BUY@2 undo", "LIKE@1"),
        // A swipe that arrives late counts from its own time.
        ("LIKE@2 SKIP@1 undo", "SKIP@1"),
        ("SKIP@2 LIKE@1", "SKIP@2"),
        ("SKIP@2 LIKE@1 undo", "LIKE@1 and a book"),
        ("SKIP@2 LIKE@1 undo undo@1", "nothing"),
        ("BUY@2 LIKE@1 undo", "LIKE@1 and a book"),
        ("BUY@2 LIKE@1 undo undo@1", "nothing"),
        ("LIKE@2 undo SKIP@1", "SKIP@1"),
        ("SKIP@3 LIKE@1 BUY@4 undo", "SKIP@3"),
        // A repeated swipe is not a new one, and stays undone.
        ("LIKE@1 LIKE@1 undo", "nothing"),
        ("LIKE LIKE undo", "nothing"),
        ("SKIP LIKE LIKE undo", "SKIP"),
        ("LIKE@1 undo LIKE@1", "nothing"),
        ("SKIP@1 LIKE@2 undo LIKE@2 SKIP@1", "SKIP@1"),
        ("LIKE@1 undo LIKE@2", "LIKE@2 and a book"),
        // The client's clock is ahead.
        ("LIKE@+5 undo@+5", "nothing"),
        ("LIKE@+5 LIKE@+5 undo", "nothing"),
        ("LIKE@+5 undo LIKE@+5", "nothing"),
        ("LIKE@+5 delete LIKE@+5", "LIKE"),
        ("LIKE@+6,SKIP@+5", "LIKE and a book"),
        ("LIKE@+5,SKIP@+6", "SKIP"),
        ("LIKE@+6,SKIP@+5 undo undo", "SKIP"),
        ("LIKE@+5,SKIP@1 undo LIKE@+5,SKIP@1", "SKIP@1"),
        ("LIKE@+5 SKIP", "SKIP and a book"),
        ("LIKE@+5 SKIP undo undo@+5", "nothing"),
        // The client's clock is behind.
        ("LIKE undo LIKE@-5 undo", "nothing"),
        ("LIKE undo LIKE@1 undo undo", "nothing"),
        ("SKIP@1 LIKE undo DISLIKE@-5 undo undo", "SKIP@1"),
        // A deleted book is not confused with the one that a later swipe saved.
        ("LIKE@1 delete BUY@2 undo@1", "BUY@2 and a book"),
        ("LIKE@1 delete BUY@2 undo@1 undo", "nothing"),
        ("LIKE@1 delete BUY@2 LIKE@3 undo@1 undo@2", "LIKE@3 and a book"),
        ("LIKE@1 delete BUY@2 LIKE@3 undo@1 undo@2 undo", "nothing"),
        // A swipe without a time is new if an equal swipe is old.
        ("SKIP@1 SKIP undo", "SKIP@1"),
        ("LIKE@-5 LIKE undo", "nothing"),
        ("SKIP SKIP undo", "nothing"),
    ])
    func undoRestoresTheReplacedSwipe(words: String, expected: String) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        try await perform(words, reader, card)
        #expect(try await state(reader) == expected, "\(words)")
    }

    @Test func swipesOfABatchAreOrderedByTime() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let batch = """
            mutation($id: ID!) { recordSwipes(inputs: [
              {cardId: $id, action: LIKE, swipedAt: "2026-01-02T12:00:00Z"}
              {cardId: $id, action: SKIP, swipedAt: "2026-01-03T12:00:00Z"}
              {cardId: $id, action: DISLIKE, swipedAt: "2026-01-01T12:00:00Z"}
            ]) { recorded saved { id } } }
            """
        for _ in 0..<2 {
            let response = try await reader.execute(batch, ["id": card])
            #expect(response["recordSwipes"] == ["recorded": 3, "saved": []])
        }
        #expect(try await state(reader) == "SKIP@3")
        try await perform("undo", reader, card)
        #expect(try await state(reader) == "LIKE@2 and a book")
        _ = try await reader.execute(batch, ["id": card])
        #expect(try await state(reader) == "LIKE@2 and a book")
        try await perform("undo@2", reader, card)
        #expect(try await state(reader) == "DISLIKE@1")
    }

    /// Replaced swipes are kept, and undone ones for 30 days.
    @Test func oldUndoneSwipesAreDeleted() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        let reader = try await app.makeReader()
        let cards = try await reader.feedCards(3).map { $0["id"] ?? .null }
        _ = try await reader.swipe("SKIP", cards, at: "2026-01-01T12:00:00Z")
        _ = try await reader.swipe("LIKE", cards, at: "2026-01-02T12:00:00Z")
        for card in cards { _ = try await reader.execute(SwipeTests.undo, ["id": card]) }
        let old = "edition_id <> '\(cards[0].string ?? "")'"
        try await app.database.execute(
            "UPDATE swipes SET undone_at = undone_at - interval '31 days' WHERE \(old)")
        for (days, deletedCount) in [(30, 1), (30, 1), (30, 0), (0, 0), (-30, 0)] {
            let count = try await app.database.withConnection(as: TestCluster.app) {
                try $0.query("SELECT prune_undone_swipes(\(days), 1)").int64(0, 0)
            }
            #expect(count == Int64(deletedCount), "\(days) days")
        }
        #expect(
            try await app.database.count("SELECT count(*) FROM swipes WHERE undone_at IS NOT NULL")
                == 1)
        #expect(try await app.database.count("SELECT count(*) FROM current_swipes") == 3)
    }

    /// A restored skip keeps its time, so the cool-down ends at the original time.
    @Test(arguments: [(40, true), (10, false)])
    func restoredSkipKeepsItsCoolDown(days: Int, isShown: Bool) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let skipped = try await Self.time("-\(days) days", in: app)
        _ = try await reader.swipe("SKIP", [card], at: skipped)
        _ = try await reader.swipe("LIKE", [card])
        #expect(try await Self.all(reader).contains(card) == false)
        try await perform("undo", reader, card)
        let shown = try await Self.all(reader)
        #expect(shown.contains(card) == isShown)
        #expect(shown.count == (isShown ? 200 : 199))
        #expect(!isShown || shown.last == card)
    }

    /// Skipped books are shown again after the cool-down and swiped again. Earlier pages do not change.
    @Test func earlierPagesDoNotChangeWhenSkippedBooksAreSwipedAgain() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        let reader = try await app.makeReader()
        let ids = try await reader.feedCards(30).map { $0["id"] ?? .null }
        let long = try await Self.time("-40 days", in: app)
        _ = try await reader.swipe("SKIP", ids, at: long)
        try await app.database.execute(
            """
            UPDATE swipes SET recorded_at = '\(long)';
            UPDATE feed_readers SET signals_version = signals_version + 1
            """)
        var pages: [(after: Value, nodes: Value)] = []
        var after = Value.null
        for action in ["LIKE", "SKIP", "DISLIKE"] {
            let page = try await reader.execute(FeedTests.feed, ["first": 6, "after": after])
            let nodes = page["feed", "nodes"] ?? .null
            #expect(nodes.values(of: "id").count == 6)
            pages.append((after, nodes))
            _ = try await reader.swipe(action, nodes.values(of: "id"))
            after = page["feed", "pageInfo", "endCursor"] ?? .null
        }
        for (after, nodes) in pages.dropFirst() {
            let again = try await reader.execute(FeedTests.feed, ["first": 6, "after": after])
            #expect(again["feed", "nodes"] == nodes)
        }
        #expect(try await Self.all(reader).count == 12)
    }

    /// This includes likes that were recorded later than their time, and undone likes.
    @Test func lateAndUndoneSwipesChangeTheSignals() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        func changedCount() async throws -> Int {
            try await app.collectSignals()
            let count = try await app.database.count("SELECT count(*) FROM works_to_learn()")
            try await app.database.execute(
                """
                SELECT finish_learning(array_agg(number), array_agg(changes), false)
                FROM works_to_learn()
                """)
            return count
        }
        #expect(try await changedCount() == 0)
        _ = try await reader.swipe("LIKE", [card], at: "2026-01-01T12:00:00Z")
        #expect(try await changedCount() == 1)
        #expect(try await changedCount() == 0)
        try await perform("undo", reader, card)
        #expect(try await changedCount() == 1)
        #expect(try await changedCount() == 0)
    }

    /// Returns the time at an interval from now.
    private static func time(_ interval: String, in app: TestApp) async throws -> String {
        try await app.database.text(
            """
            SELECT to_char((now() + interval '\(interval)') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            """)
    }

    private static func all(_ reader: TestReader) async throws -> [Value] {
        var ids: [Value] = []
        var after = Value.null
        for _ in 0..<50 {
            let page = try await reader.execute(FeedTests.feed, ["first": 20, "after": after])
            ids += page["feed", "nodes"]?.values(of: "id") ?? []
            guard page["feed", "pageInfo", "hasNextPage"] == true else { break }
            after = page["feed", "pageInfo", "endCursor"] ?? .null
        }
        return ids
    }
}
