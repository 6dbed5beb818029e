import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The connection `User.swipes`.
@Suite struct SwipeHistoryTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(120)) }

    private static let history = """
        query($actions: [SwipeAction!], $first: Int, $after: String) {
          me { swipes(actions: $actions, first: $first, after: $after) {
            totalCount
            nodes { id card { id title } action bookstore { id name } swipedAt undoneAt savedBook { id title } }
            pageInfo { hasNextPage hasPreviousPage endCursor }
          } }
        }
        """

    private func history(_ reader: TestReader, _ variables: Value = [:]) async throws -> Value {
        try await reader.requireValue(Self.history, variables, "me", "swipes")
    }

    private func cards(_ page: Value) -> [Value] {
        page["nodes"]?.list?.compactMap { $0["card", "id"] } ?? []
    }

    @Test func swipesAreListedNewestFirst() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(3)
        let ids = cards.map { $0["id"] ?? .null }
        _ = try await reader.swipe("SKIP", [ids[0]], at: "2026-01-02T12:00:00Z")
        let saved = try await reader.swipe("LIKE", [ids[1]], at: "2026-01-03T12:00:00.123Z")
        _ = try await reader.swipe("DISLIKE", [ids[2]], at: "2026-01-01T12:00:00Z")
        _ = try await reader.swipe("BUY", [ids[1]], at: "2026-01-04T12:00:00Z")
        let page = try await history(reader)
        #expect(page["totalCount"] == 4)
        #expect(self.cards(page) == [ids[1], ids[1], ids[0], ids[2]])
        let nodes = page["nodes"]?.list ?? []
        #expect(nodes.map { $0["action"] } == ["BUY", "LIKE", "SKIP", "DISLIKE"])
        #expect(nodes[1]["swipedAt"] == "2026-01-03T12:00:00.123Z")
        #expect(nodes[1]["savedBook", "id"] == saved["recordSwipes", "saved", 0, "id"])
        // Only the first of several swipes of a card adds the book.
        #expect(nodes[0]["savedBook"] == .null)
        #expect(nodes.allSatisfy { $0["undoneAt"] == .null })
        #expect(nodes[2]["card", "title"] == cards[0]["title"])
    }

    @Test func pagesAreStableAndComplete() async throws {
        let reader = try await Self.app().makeReader()
        let ids = try await reader.feedCards(25).map { $0["id"] ?? .null }
        // All swipes have the same time, and one card has two swipes.
        _ = try await reader.swipe("SKIP", ids, at: "2026-01-02T12:00:00Z")
        _ = try await reader.swipe("LIKE", [ids[7]], at: "2026-01-02T12:00:00.001Z")
        let whole = try await history(reader, ["first": 100])
        #expect(cards(whole).count == 26)
        var found: [Value] = []
        var after = Value.null
        repeat {
            let page = try await history(reader, ["first": 4, "after": after])
            found += cards(page)
            #expect(page["pageInfo", "hasPreviousPage"] == .boolean(!after.isNull))
            after =
                page["pageInfo", "hasNextPage"] == true
                ? page["pageInfo", "endCursor"] ?? .null : .null
            // A new swipe does not shift the next page.
            if found.count == 4 { _ = try await reader.swipe("SKIP", [ids[3]]) }
        } while !after.isNull
        #expect(found == cards(whole))
    }

    /// The ids stay the same when a swipe is undone or another one is recorded.
    @Test func everySwipeHasAStableID() async throws {
        let (reader, other) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let ids = try await reader.feedCards(3).map { $0["id"] ?? .null }
        for reader in [reader, other] {
            _ = try await reader.swipe("LIKE", ids, at: "2026-01-02T12:00:00Z")
            _ = try await reader.swipe("SKIP", [ids[0]], at: "2026-01-03T12:00:00Z")
        }
        let found = try await history(reader)["nodes"]?.values(of: "id") ?? []
        #expect(found.count == 4 && found.allSatisfy { $0.string?.count == 36 })
        let others = try await history(other)["nodes"]?.values(of: "id") ?? []
        #expect(Set((found + others).map { $0.string }).count == 8)
        _ = try await reader.execute(
            "mutation($c: ID!) { undoSwipe(input: {cardId: $c}) { deletedBookId } }", ["c": ids[0]])
        #expect(try await history(reader)["nodes"]?.values(of: "id") == found)
    }

    /// The work depends on the size of the page, not on the number of swipes.
    @Test func everyActionHasAnIndexOfItsHistory() async throws {
        // Row-level security forbids some conditions of index scans, so the role is that of the server.
        let plans = try await Self.app().database.withConnection(as: TestCluster.app) {
            connection in
            try connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
            return try Swipe.actions.map { action in
                let rows = try connection.query(
                    """
                    EXPLAIN (COSTS OFF)
                    SELECT FROM swipes s
                    WHERE s.user_id = '00000000-0000-4000-8000-000000000000' AND s.action = '\(action)'
                    ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.edition_id DESC, s.swiped_at DESC
                    LIMIT 20
                    """)
                return (0..<rows.count).compactMap { rows.text($0, 0) }.joined(separator: "\n")
            }
        }
        for (action, plan) in zip(Swipe.actions, plans) {
            #expect(plan.contains("swipes_history_\(action.lowercased())"), "\(plan)")
            #expect(!plan.contains("Sort"), "\(plan)")
        }
    }

    @Test func actionsFilterTheList() async throws {
        let reader = try await Self.app().makeReader()
        let ids = try await reader.feedCards(6).map { $0["id"] ?? .null }
        for (action, card) in zip(["LIKE", "SKIP", "BUY", "LIKE", "DISLIKE", "SKIP"], ids) {
            _ = try await reader.swipe(action, [card])
        }
        for (actions, count) in [([], 6), (["LIKE"], 2), (["LIKE", "BUY"], 3)] as [([Value], Int)] {
            let page = try await history(reader, ["actions": .list(actions)])
            #expect(page["totalCount"] == .int(count))
            #expect(cards(page).count == count)
        }
        for first in [0, 101] {
            let response = try await reader.execute(Self.history, ["first": .int(first)])
            #expect(response.code == "BAD_USER_INPUT")
        }
        let cursor = try await reader.execute(Self.history, ["after": "x"])
        #expect(cursor.code == "BAD_USER_INPUT")
    }

    /// The times of the list have milliseconds, and those that the server chooses have microseconds.
    @Test(arguments: [false, true]) func listedTimeIdentifiesTheSwipe(isFuture: Bool) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("LIKE", [card], at: isFuture ? "2199-01-01T00:00:00Z" : nil)
        let at = try await history(reader)["nodes", 0, "swipedAt"] ?? .null
        #expect(at != "2199-01-01T00:00:00.000Z")
        let undo =
            "mutation($c: ID!, $at: DateTime) { undoSwipe(input: {cardId: $c, swipedAt: $at}) { deletedBookId } }"
        let undone = try await reader.execute(undo, ["c": card, "at": at])
        #expect(undone["undoSwipe", "deletedBookId"]?.string != nil, "\(undone.json)")
        let node = try await history(reader)["nodes", 0]
        #expect(node?["undoneAt"]?.string != nil)
        #expect(node?["savedBook"] == .null)
        let again = try await reader.execute(undo, ["c": card, "at": at])
        #expect(again["undoSwipe"] == ["deletedBookId": .null])
    }

    @Test func swipesOfOthersAreNotListed() async throws {
        let (reader, other) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await other.swipe("LIKE", [card])
        #expect(try await history(reader)["totalCount"] == 0)
        #expect(try await history(reader)["nodes"] == [])
    }

    @Test func cardsAndBooksOfAPageAreLoadedTogether() async throws {
        let reader = try await Self.app().makeReader()
        let ids = try await reader.feedCards(30).map { $0["id"] ?? .null }
        _ = try await reader.swipe("LIKE", ids)
        let response = try await reader.execute(Self.history, ["first": 30])
        #expect(response.roundTrips == 2)
        #expect(response["me", "swipes", "nodes", 29, "savedBook", "id"]?.string != nil)
    }

    @Test func unknownCardsAreNamed() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let absent: Value = "0198C0DE-0000-7000-8000-00000000DEAD"
        let response = try await reader.execute(
            """
            mutation($inputs: [SwipeInput!]!) { recordSwipes(inputs: $inputs) { recorded unknownCardIds saved { id } } }
            """,
            [
                "inputs": .list(
                    [absent, card, "no id", absent].map { ["cardId": $0, "action": "LIKE"] })
            ])
        #expect(response["recordSwipes", "recorded"] == 1)
        #expect(response["recordSwipes", "unknownCardIds"] == [absent, "no id"])
        #expect(response["recordSwipes", "saved"]?.list?.count == 1)
        let none = try await reader.execute(
            "mutation { recordSwipes(inputs: []) { unknownCardIds } }")
        #expect(none["recordSwipes"] == ["unknownCardIds": []])
    }
}
