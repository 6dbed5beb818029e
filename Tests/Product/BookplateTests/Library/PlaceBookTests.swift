import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The reader's order of the books on a shelf, and the queue of the books to read next.
@Suite struct PlaceBookTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let place = """
        mutation($id: ID!, $input: PlaceBookInput!) {
          placeBook(id: $id, input: $input) { bookCount books(orderBy: SHELF, first: 100) { nodes { title } } }
        }
        """
    private static let update =
        "mutation($id: ID!, $input: UpdateShelfInput!) { updateShelf(id: $id, input: $input) { isUpNext } }"
    private static let upNext =
        "{ me { upNext { id bookCount books(orderBy: SHELF) { nodes { title } } } } }"

    private func titles(_ shelf: Value?) -> String {
        (shelf?["books", "nodes"]?.values(of: "title") ?? []).compactMap(\.string).joined()
    }

    private func place(
        _ reader: TestReader, _ book: Value, _ shelf: Value, _ name: String? = nil,
        _ anchor: Value = .null
    ) async throws -> String {
        var input: [Value.Member] = [.init("shelfId", shelf)]
        if let name { input.append(.init(name, anchor)) }
        return titles(
            try await reader.requireValue(
                Self.place, ["id": book, "input": .object(input)], "placeBook"))
    }

    /// Returns books with one letter as title, by their titles.
    private func books(
        _ titles: String, _ reader: TestReader, shelves: [Value] = []
    ) async throws -> [Character: Value] {
        var books: [Character: Value] = [:]
        for title in titles {
            books[title] = try await reader.makeBook(String(title), shelves: shelves)
        }
        return books
    }

    @Test func booksAreInTheReadersOrder() async throws {
        let reader = try await Self.app().makeReader()
        let (shelf, other) = (try await reader.makeShelf("A"), try await reader.makeShelf("B"))
        let books = try await books("abcde", reader)
        func place(_ book: Character, _ name: String? = nil, _ anchor: Character? = nil)
            async throws -> String
        {
            try await self.place(
                reader, books[book] ?? .null, shelf, name, anchor.flatMap { books[$0] } ?? .null)
        }
        #expect(try await place("b") == "b")
        #expect(try await place("c") == "bc")
        #expect(try await place("a", "before", "b") == "abc")
        #expect(try await place("d", "after", "a") == "adbc")
        #expect(try await place("e", "after", "c") == "adbce")
        #expect(try await place("d") == "abced")
        for _ in 1...2 { #expect(try await place("d", "before", "c") == "abdce") }
        #expect(try await place("d", "before", "d") == "abdce")
        #expect(try await place("e", "before", "a") == "eabdc")
        #expect(try await place("e", "after", "b") == "abedc")
        // Another shelf has an order of its own. A book that is not on it means the end.
        #expect(
            try await self.place(
                reader, books["a"] ?? .null, other, "before", books["b"] ?? .null) == "a")
        #expect(
            try await self.place(reader, books["c"] ?? .null, other, "before", "no id") == "ac")
        // The pages continue.
        let page = """
            query($id: ID!, $after: String) { shelf(id: $id) {
              books(orderBy: SHELF, first: 2, after: $after) { nodes { title } pageInfo { endCursor } }
            } }
            """
        var (seen, cursor) = ("", Value.null)
        for _ in 1...3 {
            let found = try await reader.requireValue(
                page, ["id": shelf, "after": cursor], "shelf")
            seen += titles(found)
            cursor = found["books", "pageInfo", "endCursor"] ?? .null
        }
        #expect(seen == "abedc")
        // The books of a deleted shelf keep their order after those of the other one.
        _ = try await reader.requireValue(
            "mutation($id: ID!, $to: ID!) { deleteShelf(id: $id, input: {books: MOVE, moveTo: $to}) { id } }",
            ["id": shelf, "to": other], "deleteShelf")
        let merged = try await reader.requireValue(
            page.replacing("first: 2", with: "first: 9"), ["id": other], "shelf")
        #expect(titles(merged) == "acbed")
    }

    @Test func inputsAreChecked() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let book = try await reader.makeBook("a")
        let both = try await reader.execute(
            Self.place, ["id": book, "input": ["shelfId": shelf, "before": book, "after": book]])
        #expect(both.code == "BAD_USER_INPUT" && both.reason == "CONFLICTING_FIELDS")
        let order = try await reader.execute("{ me { books(orderBy: SHELF) { totalCount } } }")
        #expect(order.code == "BAD_USER_INPUT" && order.field == "orderBy")
        let absent: Value = "0198c0de-0000-7000-8000-00000000dead"
        for (id, to, reason) in [
            (absent, shelf, "NO_SUCH_BOOK"), (book, absent, "NO_SUCH_SHELF"),
        ] {
            let response = try await reader.execute(
                Self.place, ["id": id, "input": ["shelfId": to]])
            #expect(response.code == "NOT_FOUND" && response.reason == reason)
        }
    }

    /// Positions are never used up.
    @Test func manyPlacementsKeepTheOrder() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let books = try await books("abcd", reader, shelves: [shelf])
        let id = reader.id.string ?? ""
        // As after an import with the positions of another file.
        try await reader.executeSQL("UPDATE shelf_books SET position = '5'")
        try await reader.app.database.execute(
            """
            DO $$
            BEGIN
              FOR n IN 1..1000 LOOP
                PERFORM place_book('\(id)', '\(shelf.string ?? "")', b.id, a.id, true)
                FROM books a
                JOIN books b ON b.user_id = a.user_id AND b.title = substr('abc', 1 + n % 3, 1)
                WHERE a.user_id = '\(id)' AND a.title = 'd';
              END LOOP;
            END
            $$
            """)
        #expect(
            try await place(reader, books["a"] ?? .null, shelf, "before", books["a"] ?? .null)
                == "cabd")
        #expect(
            try await reader.app.database.count(
                "SELECT max(length(position)) FROM shelf_books WHERE user_id = '\(id)'") <= 200)
    }

    @Test func concurrentPlacementsAreAllKept() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let books = try await books("abcdefgh", reader)
        let first = books["a"] ?? .null
        _ = try await place(reader, first, shelf)
        try await withThrowingTaskGroup { group in
            for book in books.values where book != first {
                group.addTask { _ = try await place(reader, book, shelf, "before", first) }
            }
            try await group.waitForAll()
        }
        let order = try await place(reader, first, shelf, "before", first)
        #expect(order.count == 8 && order.last == "a" && Set(order).count == 8)
    }

    @Test func changesOfTheOrderAreLogged() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let books = try await books("ab", reader, shelves: [shelf])
        let log = """
            query($after: String) {
              changes(first: 500, after: $after) { pageInfo { endCursor } changes { kind typename nodeId } }
            }
            """
        let cursor = try await reader.requireValue(
            log, .null, "changes", "pageInfo", "endCursor")
        for _ in 1...2 {
            #expect(
                try await place(reader, books["b"] ?? .null, shelf, "before", books["a"] ?? .null)
                    == "ba")
        }
        #expect(
            try await reader.requireValue(log, ["after": cursor], "changes", "changes")
                == [["kind": "UPDATED", "typename": "Shelf", "nodeId": shelf]])
    }

    // MARK: - Up next

    @Test func booksLeaveTheQueueWhenTheyAreStarted() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Next")
        let other = try await reader.makeShelf("Other")
        let none = try await reader.execute(Self.upNext)
        #expect(none["me", "upNext"] == .null && none.errors.isEmpty, "\(none.json)")
        for id in [other, shelf, shelf] {
            let updated = try await reader.requireValue(
                Self.update, ["id": id, "input": ["isUpNext": true]], "updateShelf")
            #expect(updated["isUpNext"] == true)
        }
        let flags = try await reader.requireValue(
            "{ me { shelves { isUpNext } } }", .null, "me", "shelves")
        #expect(flags == [["isUpNext": true], ["isUpNext": false]])
        let books = try await books("abcdef", reader, shelves: [shelf, other])
        for (book, status) in zip("abcde", ["READING", "READ", "DID_NOT_FINISH", "PAUSED"]) {
            let response = try await reader.execute(
                UpdateBookTests.update,
                ["id": books[book] ?? .null, "input": ["status": .string(status)]])
            #expect(response.errors.isEmpty)
        }
        let started = try await reader.execute(ReadTests.start, ["id": books["e"] ?? .null])
        #expect(started.errors.isEmpty)
        let queue = try await reader.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(titles(queue) == "df" && queue["bookCount"] == 2)
        let kept = try await reader.requireValue(
            "query($id: ID!) { shelf(id: $id) { bookCount } }", ["id": other], "shelf")
        #expect(kept["bookCount"] == 6)
        // A book that was read can be put into the queue again, and leaves it again.
        #expect(try await place(reader, books["b"] ?? .null, shelf) == "dfb")
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": books["b"] ?? .null, "input": ["status": "READING"]])
        _ = try await reader.execute(
            "mutation($inputs: [UpdateBooksInput!]!) { updateBooks(inputs: $inputs) { error { code } } }",
            ["inputs": [["id": books["d"] ?? .null, "input": ["status": "READING"]]]])
        let last = try await reader.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(titles(last) == "f")
        // An ordinary shelf keeps its books.
        _ = try await reader.requireValue(
            Self.update, ["id": shelf, "input": ["isUpNext": .null]], "updateShelf")
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": books["f"] ?? .null, "input": ["status": "READ"]])
        #expect(try await place(reader, books["f"] ?? .null, shelf) == "f")
    }

    @Test func oneShelfIsTheQueueAtATime() async throws {
        let reader = try await Self.app().makeReader()
        var shelves: [Value] = []
        for number in 1...6 { shelves.append(try await reader.makeShelf("\(number)")) }
        try await withThrowingTaskGroup { group in
            for shelf in shelves {
                group.addTask {
                    let response = try await reader.execute(
                        Self.update, ["id": shelf, "input": ["isUpNext": true]])
                    #expect(response.errors.isEmpty, "\(response.json)")
                }
            }
            try await group.waitForAll()
        }
        let flags = try await reader.requireValue(
            "{ me { shelves { isUpNext } } }", .null, "me", "shelves")
        #expect(flags.list?.count { $0["isUpNext"] == true } == 1)
    }

    /// The order and the queue are in the archive. A queue of the library stays the only one.
    @Test func orderAndQueueAreExported() async throws {
        let (from, to) = (
            try await Self.app().makeReader(), try await Self.app().makeReader()
        )
        let shelf = try await from.makeShelf("Next")
        _ = try await from.requireValue(
            Self.update, ["id": shelf, "input": ["isUpNext": true]], "updateShelf")
        let books = try await books("abc", from, shelves: [shelf])
        #expect(
            try await place(from, books["c"] ?? .null, shelf, "before", books["a"] ?? .null)
                == "cab")
        let round = ImportRoundTripTests()
        let archive = try #require(try await round.exported(from).first)
        _ = try await round.imported(to, archive)
        let queue = try await to.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(titles(queue) == "cab")
        let own = try await to.makeShelf("Own")
        _ = try await to.requireValue(
            Self.update, ["id": own, "input": ["isUpNext": true]], "updateShelf")
        _ = try await round.imported(to, archive)
        let kept = try await to.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(kept["id"] == own)
    }

    /// An archive was made when the books waited in the queue. The reader has started two of them since.
    @Test func importPutsNoStartedBookIntoTheQueue() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Next")
        _ = try await reader.requireValue(
            Self.update, ["id": shelf, "input": ["isUpNext": true]], "updateShelf")
        let books = try await books("abcd", reader, shelves: [shelf])
        let round = ImportRoundTripTests()
        let archive = try #require(try await round.exported(reader).first)
        for (book, status) in [("a", "READING"), ("b", "READ"), ("c", "PAUSED")]
            as [(Character, String)]
        {
            _ = try await reader.execute(
                UpdateBookTests.update,
                ["id": books[book] ?? .null, "input": ["status": .string(status)]])
        }
        _ = try await round.imported(reader, archive)
        let queue = try await reader.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(titles(queue) == "cd" && queue["bookCount"] == 2)
        // A file of another application says that a book of the queue was read.
        let file = "Title,Author,Exclusive Shelf,Bookshelves\nd,,read,Next\ne,,to-read,Next\n"
        _ = try await round.imported(reader, Array(file.utf8))
        let rest = try await reader.requireValue(Self.upNext, .null, "me", "upNext")
        #expect(titles(rest) == "ce")
    }

    /// A book that was read waits in the queue again. The archive brings it back there.
    @Test func archiveKeepsBooksToReadAgainInTheQueue() async throws {
        let (from, to) = (try await Self.app().makeReader(), try await Self.app().makeReader())
        let shelf = try await from.makeShelf("Next")
        _ = try await from.requireValue(
            Self.update, ["id": shelf, "input": ["isUpNext": true]], "updateShelf")
        let book = try await from.makeBook("a", status: "READ")
        #expect(try await place(from, book, shelf) == "a")
        let round = ImportRoundTripTests()
        let archive = try #require(try await round.exported(from).first)
        for _ in 0..<2 {
            _ = try await round.imported(to, archive)
            let queue = try await to.requireValue(Self.upNext, .null, "me", "upNext")
            #expect(titles(queue) == "a")
        }
    }
}
