import GraphQL
import TestSupport
import Testing

@Suite struct SwipeTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(120)) }

    static let undo =
        "mutation($id: ID!) { undoSwipe(input: {cardId: $id}) { card { id title inLibrary { id } } } }"
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    private func count(_ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
    }

    private func swipes(_ reader: TestReader) async throws -> [String] {
        let id = reader.id.string ?? ""
        return try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                "SELECT action::text FROM current_swipes WHERE user_id = '\(id)' ORDER BY recorded_at, action"
            )
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
    }

    @Test(arguments: [("LIKE", 1), ("BUY", 1), ("SKIP", 0), ("DISLIKE", 0)])
    func likesAndPurchasesAreSaved(action: String, saved: Int) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]
        let response = try await reader.swipe(action, [card["id"] ?? .null])
        #expect(response["recordSwipes", "recorded"] == 1)
        #expect(response["recordSwipes", "saved"]?.list?.count == saved)
        if saved == 1 {
            #expect(response["recordSwipes", "saved", 0, "title"] == card["title"])
            #expect(response["recordSwipes", "saved", 0, "status"] == "WANT_TO_READ")
            #expect(response["recordSwipes", "saved", 0, "card", "id"] == card["id"])
        }
        #expect(try await count(reader) == .int(saved))
    }

    private static let recordWithID = """
        mutation($card: ID!, $book: ID!, $at: DateTime) {
          recordSwipes(inputs: [{cardId: $card, action: LIKE, swipedAt: $at, bookId: $book}]) { saved { id } }
        }
        """

    @Test func clientsChooseTheIDOfALikedBook() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let id: Value = "0198c0de-0000-4000-8000-000000000001"
        for _ in 0..<2 {
            let saved = try await reader.requireValue(
                Self.recordWithID, ["card": card, "book": id, "at": "2026-01-01T12:00:00Z"],
                "recordSwipes", "saved")
            #expect(saved == [["id": id]])
        }
        // The library has the book already.
        let saved = try await reader.requireValue(
            Self.recordWithID,
            ["card": card, "book": "0198c0de-0000-4000-8000-000000000002", "at": .null],
            "recordSwipes", "saved")
        #expect(saved == [["id": id]])
        #expect(try await count(reader) == 1)
    }

    @Test func takenIDOfALikedBookIsReplaced() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(4).map { $0["id"] ?? .null }
        let taken = [try await reader.makeShelf("Evenings"), cards[3], reader.id]
        for (card, id) in zip(cards, taken) {
            let response = try await reader.execute(
                Self.recordWithID, ["card": card, "book": id, "at": .null])
            let saved = response["recordSwipes", "saved", 0, "id"]
            #expect(saved != id && saved?.string != nil, "\(response.json)")
        }
        let invalid = try await reader.execute(
            Self.recordWithID, ["card": cards[3], "book": "one", "at": .null])
        #expect(invalid.code == "BAD_USER_INPUT")
        #expect(invalid.field == "bookId")
    }

    @Test func purchasesRecordTheStore() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(4).map { $0["id"] ?? .null }
        let swipes: [Value] = [
            ["cardId": cards[0], "action": "BUY", "bookstoreId": "bookshop.org"],
            ["cardId": cards[1], "action": "BUY"],
            ["cardId": cards[2], "action": "BUY", "bookstoreId": "example.com"],
            ["cardId": cards[3], "action": "LIKE", "bookstoreId": "amazon.com"],
        ]
        let recorded = try await reader.requireValue(
            "mutation($i: [SwipeInput!]!) { recordSwipes(inputs: $i) { recorded } }",
            ["i": .list(swipes)], "recordSwipes", "recorded")
        #expect(recorded == 4)
        let stores = try await reader.requireValue(
            "{ me { swipes { nodes { card { id } bookstore { id name country } } } } }", .null,
            "me",
            "swipes", "nodes")
        for swipe in stores.list ?? [] {
            let isStored = swipe["card", "id"] == cards[0]
            #expect(
                swipe["bookstore"]
                    == (isStored
                        ? ["id": "bookshop.org", "name": "Bookshop.org", "country": "US"] : .null))
        }
        #expect(stores.list?.count == 4)
    }

    @Test func batchOfOneHundredIsSavedInItsOrder() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(100).map { $0["id"] ?? .null }
        let response = try await reader.swipe("LIKE", cards)
        #expect(response["recordSwipes", "recorded"] == 100)
        #expect(
            response["recordSwipes", "saved"]?.values(of: "card").map { $0["id"] ?? .null } == cards
        )
        let more = try await reader.swipe("LIKE", cards + [cards[0]])
        #expect(more.code == "BAD_USER_INPUT")
        #expect(more.field == "inputs")
        let none = try await reader.swipe("LIKE", [])
        #expect(none["recordSwipes"] == ["recorded": 0, "saved": []])
    }

    /// Newer swipes weigh more in the feed, and clients need not send the time of a swipe.
    @Test func swipesWithoutATimeAreInTheOrderOfTheirBatch() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(20).map { $0["id"] ?? .null }.reversed()
        _ = try await reader.swipe("SKIP", Array(cards))
        let id = reader.id.string ?? ""
        let order = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                "SELECT edition_id::text FROM swipes WHERE user_id = '\(id)' ORDER BY swiped_at")
            return (0..<rows.count).map { Value.string(rows.text($0, 0) ?? "") }
        }
        #expect(order == Array(cards))
    }

    @Test func repeatedBatchHasNoEffect() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(5).map { $0["id"] ?? .null }
        for time in [nil, "2026-01-01T12:00:00Z"] {
            let first = try await reader.swipe("LIKE", cards, at: time)
            let second = try await reader.swipe("LIKE", cards, at: time)
            #expect(first.json == second.json)
        }
        #expect(try await count(reader) == 5)
    }

    @Test func repeatedBatchDoesNotRestoreADeletedBook() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let first = try await reader.swipe("LIKE", [card], at: "2026-01-01T12:00:00Z")
        let book = first["recordSwipes", "saved", 0, "id"] ?? .null
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        let replay = try await reader.swipe("LIKE", [card], at: "2026-01-01T12:00:00Z")
        #expect(replay["recordSwipes"] == ["recorded": 1, "saved": []])
        #expect(try await count(reader) == 0)
    }

    @Test func olderSwipeDoesNotReplaceANewerOne() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("DISLIKE", [card], at: "2026-01-02T00:00:00Z")
        let late = try await reader.swipe("LIKE", [card], at: "2026-01-01T23:59:59.999Z")
        #expect(late["recordSwipes"] == ["recorded": 1, "saved": []])
        #expect(try await swipes(reader) == ["DISLIKE"])
        #expect(try await count(reader) == 0)
        let newer = try await reader.swipe("LIKE", [card], at: "2026-01-02T01:00:00+01:00")
        #expect(newer["recordSwipes", "saved"] == [])
        _ = try await reader.swipe("LIKE", [card], at: "2026-01-02T01:00:01+01:00")
        #expect(try await swipes(reader) == ["LIKE"])
        #expect(try await count(reader) == 1)
    }

    @Test func lastSwipeOfABatchCounts() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let response = try await reader.execute(
            """
            mutation($id: ID!) { recordSwipes(inputs: [
              {cardId: $id, action: LIKE, swipedAt: "2026-01-02T00:00:00Z"}
              {cardId: $id, action: SKIP, swipedAt: "2026-01-03T00:00:00Z"}
              {cardId: $id, action: BUY, swipedAt: "2026-01-01T00:00:00Z"}
            ]) { recorded saved { id } } }
            """, ["id": card])
        #expect(response["recordSwipes"] == ["recorded": 3, "saved": []])
        #expect(try await swipes(reader) == ["SKIP"])
    }

    @Test func futureTimesAreClampedToNow() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("DISLIKE", [card], at: "2999-01-01T00:00:00Z")
        _ = try await reader.swipe("LIKE", [card])
        #expect(try await swipes(reader) == ["LIKE"])
    }

    @Test func likeDoesNotLowerTheStatus() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook(["cardId": card, "status": "READ"])
        for action in ["LIKE", "BUY"] {
            let response = try await reader.swipe(action, [card])
            #expect(response["recordSwipes", "saved", 0, "id"] == book)
            #expect(response["recordSwipes", "saved", 0, "status"] == "READ")
        }
    }

    @Test func unknownCardsAreIgnored() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let response = try await reader.swipe("LIKE", [Self.absent, "no id", card])
        #expect(response["recordSwipes", "recorded"] == 1)
        #expect(response["recordSwipes", "saved"]?.list?.count == 1)
    }

    @Test func invalidTimesAreRejectedBeforeAnythingIsRecorded() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let response = try await reader.swipe("LIKE", [card], at: "yesterday")
        #expect(response.isRequestError)
        #expect(try await swipes(reader) == [])
    }

    @Test func undoRemovesTheSwipeAndItsBook() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("LIKE", [card])
        let response = try await reader.execute(Self.undo, ["id": card])
        #expect(response["undoSwipe", "card", "id"] == card)
        #expect(response["undoSwipe", "card", "inLibrary"] == .null)
        #expect(try await count(reader) == 0)
        #expect(try await reader.feedCards(1)[0]["id"] == card)
        #expect(try await reader.execute(Self.undo, ["id": card]).json == response.json)
    }

    @Test(arguments: ["status", "shelf", "page"])
    func undoKeepsAChangedBook(touch: String) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let saved = try await reader.swipe("LIKE", [card])
        let book = saved["recordSwipes", "saved", 0, "id"] ?? .null
        switch touch {
        case "status":
            _ = try await reader.execute(
                UpdateBookTests.update, ["id": book, "input": ["status": "READ"]])
        case "shelf":
            let shelf = try await reader.makeShelf("Shelf")
            _ = try await reader.execute(UpdateBookTests.move, ["id": book, "to": shelf])
        default:
            _ = try await reader.execute(
                UpdateBookTests.update, ["id": book, "input": ["currentPage": 3]])
        }
        let response = try await reader.execute(Self.undo, ["id": card])
        #expect(response["undoSwipe", "card", "inLibrary", "id"] == book)
        #expect(try await swipes(reader) == [])
    }

    @Test func undoKeepsABookThatExistedBefore() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook(["cardId": card])
        _ = try await reader.swipe("LIKE", [card])
        let response = try await reader.execute(Self.undo, ["id": card])
        #expect(response["undoSwipe", "card", "inLibrary", "id"] == book)
    }

    @Test(arguments: [absent, "no id"])
    func undoOfAnUnknownCardIsNotFound(id: Value) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.undo, ["id": id])
        #expect(response.code == "NOT_FOUND")
        #expect(response.message == "There is no such book in the catalog.")
    }

    @Test func concurrentSwipesSaveABookOnce() async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(10).map { $0["id"] ?? .null }
        try await withThrowingTaskGroup { group in
            for number in 0..<10 {
                group.addTask {
                    // In opposite orders, which could cause a deadlock.
                    let response = try await reader.swipe(
                        "LIKE", number % 2 == 0 ? cards : cards.reversed())
                    #expect(response.errors.isEmpty)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await count(reader) == 10)
    }
}
