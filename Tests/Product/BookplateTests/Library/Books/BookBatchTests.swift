import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The mutations `updateBooks`, `moveBooks`, and `deleteBooks`.
@Suite struct BookBatchTests {
    static let app = Shared { try await TestApp.start() }

    static let update = """
        mutation($inputs: [UpdateBooksInput!]!) {
          updateBooks(inputs: $inputs) {
            book {
              id title isbn13 status currentPage pageCount currentRead { startedOn } shelves { name } card { id }
            }
            error { code message field conflictingId }
          }
        }
        """
    static let move = """
        mutation($inputs: [MoveBooksInput!]!) {
          moveBooks(inputs: $inputs) {
            book { id shelves { name } } leftShelves { name } joinedShelf { name }
            error { code message field conflictingId }
          }
        }
        """
    static let delete = """
        mutation($ids: [ID!]!) {
          deleteBooks(ids: $ids) { id shelves { name } error { code message field conflictingId } }
        }
        """
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    private func update(
        _ reader: TestReader, _ entries: [(id: Value, input: Value)]
    ) async throws -> [Value] {
        let inputs = entries.map { entry -> Value in ["id": entry.id, "input": entry.input] }
        return try await reader.requireValue(
            Self.update, ["inputs": .list(inputs)], "updateBooks"
        ).list ?? []
    }

    private func log(_ reader: TestReader) async throws -> [String] {
        let changes = try await reader.requireValue(
            "{ changes(first: 500) { changes { kind typename } } }", .null, "changes", "changes")
        return changes.list?.map {
            "\($0["kind"]?.string ?? "?") \($0["typename"]?.string ?? "?")"
        } ?? []
    }

    // MARK: - Updates

    @Test func eachUpdateSucceedsOrFailsByItself() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let books = try await reader.makeBooks(6)
        let taken = try await reader.makeBook(["title": "Taken", "isbn": "9780306406157"])
        let results = try await update(
            reader,
            [
                (books[0], ["status": "READING", "currentPage": 12, "pageCount": 300]),
                (books[1], ["title": " "]),
                (Self.absent, ["title": "Lost"]),
                ("not a UUID", ["title": "Lost"]),
                (books[2], ["isbn": "978-0-306-40615-7"]),
                (books[3], ["shelfIds": [Self.absent], "title": "Not changed"]),
                (books[4], ["currentPage": 301, "pageCount": 300]),
                (books[5], ["title": "New title", "shelfIds": [shelf]]),
            ])
        #expect(results.count == 8)
        #expect(results[0]["book", "status"] == "READING" && results[0]["error"] == .null)
        #expect(results[0]["book", "currentPage"] == 12)
        #expect(results[0]["book", "currentRead", "startedOn"]?.string != nil)
        let errors: [(Int, String, String?, Value?)] = [
            (1, "BAD_USER_INPUT", "title", nil), (2, "NOT_FOUND", nil, nil),
            (3, "NOT_FOUND", nil, nil), (4, "CONFLICT", "isbn", taken), (5, "NOT_FOUND", nil, nil),
            (6, "BAD_USER_INPUT", "currentPage", nil),
        ]
        for (index, code, field, id) in errors {
            #expect(results[index]["book"] == .null)
            let error = try #require(results[index]["error"])
            #expect(error["code"] == .string(code), "\(index)")
            #expect(error["field"] == (field.map { .string($0) } ?? .null), "\(index)")
            #expect(error["conflictingId"] == (id ?? .null), "\(index)")
        }
        #expect(results[7]["book", "title"] == "New title")
        #expect(results[7]["book", "shelves"] == [["name": "Shelf"]])
        let titles =
            try await reader.requireValue(
                "{ me { books(orderBy: TITLE_ASC) { nodes { title shelves { name } } } } }", .null,
                "me", "books", "nodes"
            ).list ?? []
        #expect(
            titles.map { $0["title"] } == [
                "Book 1", "Book 2", "Book 3", "Book 4", "Book 5", "New title", "Taken",
            ])
        #expect(titles[3]["shelves"] == [])
    }

    /// Each entry has the same effect as its single mutation, whatever the others are.
    @Test func updatesHaveTheEffectOfSingleMutations() async throws {
        let app = try await Self.app()
        let (single, batch) = (try await app.makeReader(), try await app.makeReader())
        let inputs: [Value] = [
            ["status": "READ"], ["status": "DID_NOT_FINISH", "genre": "Own"],
            ["title": "Dune", "authors": [["name": "Frank Herbert"]]], ["isbn": "9780140328721"],
            ["authors": .null, "category": "C", "currentPage": 7],
            ["publisher": "P", "publishedDate": "1965-08", "pageCount": 412, "language": "en"],
            ["description": "A description.", "currentPage": .null], [:],
        ]
        let fields = """
            title author isbn13 publisher publishedDate pageCount language category genre description
            status currentPage card { title }
            """
        let list = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Book { \(fields) } } }"
        let mine = try await single.makeBooks(inputs.count)
        for (id, input) in zip(mine, inputs) {
            let response = try await single.execute(
                UpdateBookTests.update, ["id": id, "input": input])
            #expect(response.errors.isEmpty, "\(response.json)")
        }
        let theirs = try await batch.makeBooks(inputs.count)
        let results = try await update(
            batch, zip(theirs, inputs).map { (id: $0, input: $1) })
        #expect(results.allSatisfy { $0["error"] == .null }, "\(results)")
        #expect(
            try await single.requireValue(list, ["ids": .list(mine)], "nodes")
                == batch.requireValue(list, ["ids": .list(theirs)], "nodes"))
        #expect(try await log(single) == log(batch))
    }

    @Test func severalUpdatesOfABookAreAppliedInOrder() async throws {
        let reader = try await Self.app().makeReader()
        let (first, second) = (try await reader.makeBook("1"), try await reader.makeBook("2"))
        let results = try await update(
            reader,
            [
                (first, ["title": "A", "currentPage": 3]), (second, ["title": "B"]),
                (first, ["title": "C"]), (first, ["title": ""]), (first, ["status": "READ"]),
            ])
        #expect(results.map { $0["book"]?["title"] } == ["C", "B", "C", nil, "C"])
        #expect(results[0]["book", "currentPage"] == 3)
        #expect(results[4]["book", "status"] == "READ")
        #expect(results[3]["error", "field"] == "title")
    }

    @Test func firstOfSeveralEntriesGetsTheISBN() async throws {
        let reader = try await Self.app().makeReader()
        let books = try await reader.makeBooks(3)
        let isbn: Value = ["isbn": "9780306406157"]
        let results = try await update(
            reader,
            [
                (books[0], ["isbn": "9780306406157", "title": ""]), (books[1], isbn),
                (books[2], isbn),
            ])
        #expect(results[1]["book", "isbn13"] == "9780306406157")
        #expect(results[2]["error", "code"] == "CONFLICT")
        #expect(results[2]["error", "conflictingId"] == books[1])
    }

    // MARK: - Moves

    @Test func eachMoveSucceedsOrFailsByItself() async throws {
        let reader = try await Self.app().makeReader()
        let (a, b, c) = (
            try await reader.makeShelf("A"), try await reader.makeShelf("B"),
            try await reader.makeShelf("C")
        )
        let books = try await reader.makeBooks(3, shelves: [a, b])
        let inputs: [Value] = [
            ["id": books[0], "input": ["to": c]],
            ["id": books[1], "input": ["to": c, "from": a]],
            ["id": books[2], "input": ["to": Self.absent]],
            ["id": Self.absent, "input": ["to": c]],
            ["id": "not a UUID", "input": ["to": c]],
            ["id": books[1], "input": ["to": a, "from": c]],
        ]
        let results =
            try await reader.requireValue(
                Self.move, ["inputs": .list(inputs)], "moveBooks"
            ).list ?? []
        #expect(results[0]["leftShelves"] == [["name": "A"], ["name": "B"]])
        #expect(results[0]["book", "shelves"] == [["name": "C"]])
        #expect(results[1]["leftShelves"] == [["name": "A"]])
        #expect(results[1]["joinedShelf"] == ["name": "C"])
        let noSuchBook = "There is no such book in the library."
        for (index, message) in [
            (2, "There is no such shelf."), (3, noSuchBook), (4, noSuchBook),
        ] {
            #expect(results[index]["error", "code"] == "NOT_FOUND")
            #expect(results[index]["error", "message"] == .string(message))
            #expect(results[index]["book"] == .null && results[index]["leftShelves"] == [])
        }
        // The second move of the same book comes after the first.
        #expect(results[5]["leftShelves"] == [["name": "C"]])
        #expect(results[5]["book", "shelves"] == [["name": "A"], ["name": "B"]])
    }

    // MARK: - Deletions

    @Test func deletionsOfUnknownBooksSucceed() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let books = try await reader.makeBooks(3, shelves: [shelf])
        let ids: [Value] = [books[0], Self.absent, "not a UUID", books[1], books[0]]
        let expected: Value = [
            ["id": books[0], "shelves": [["name": "Shelf"]], "error": .null],
            ["id": Self.absent, "shelves": [], "error": .null],
            [
                "id": .null, "shelves": [],
                "error": [
                    "code": "NOT_FOUND", "message": "There is no such book in the library.",
                    "field": .null,
                    "conflictingId": .null,
                ],
            ],
            ["id": books[1], "shelves": [["name": "Shelf"]], "error": .null],
            ["id": books[0], "shelves": [], "error": .null],
        ]
        let deleted = try await reader.execute(Self.delete, ["ids": .list(ids)])
        #expect(deleted["deleteBooks"] == expected)
        let again = try await reader.execute(Self.delete, ["ids": .list(ids)])
        #expect(again.errors.isEmpty)
        #expect(
            try await reader.requireValue(
                "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes") == [
                    ["id": books[2]]
                ])
    }

    // MARK: - Limits

    @Test func batchesHaveAtMost100Entries() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        let shelf = try await reader.makeShelf("Shelf")
        for count in [0, 100, 101] {
            let updates = [Value](repeating: ["id": book, "input": ["genre": "G"]], count: count)
            let moves = [Value](repeating: ["id": book, "input": ["to": shelf]], count: count)
            let responses = [
                ("updateBooks", try await reader.execute(Self.update, ["inputs": .list(updates)])),
                ("moveBooks", try await reader.execute(Self.move, ["inputs": .list(moves)])),
                (
                    "deleteBooks",
                    try await reader.execute(
                        Self.delete, ["ids": .list(Array(repeating: Self.absent, count: count))])
                ),
            ]
            for (name, response) in responses {
                if count > 100 {
                    #expect(response.code == "BAD_USER_INPUT")
                    #expect(response.field == (name == "deleteBooks" ? "ids" : "inputs"))
                } else {
                    #expect(response[.name(name)]?.list?.count == count, "\(response.json)")
                }
            }
        }
    }

    /// Each ten entries cost one more unit.
    @Test func entriesAreCharged() async throws {
        let app = try await TestApp.start(
            catalog: [], rates: RateLimits(.init(perCaller: 40), clock: { 1_000_000_000_000 }))
        let reader = try await app.makeReader()
        let books = try await reader.makeBooks(50)
        func remaining(_ count: Int) async throws -> Int {
            let inputs = books.prefix(count).map { id -> Value in
                ["id": id, "input": ["genre": "G"]]
            }
            let response = try await reader.execute(Self.update, ["inputs": .list(Array(inputs))])
            #expect(response["updateBooks"]?.list?.count == count, "\(response.json)")
            return try await reader.execute("{ me { id } }").rate?.remainingUnits ?? -1
        }
        let before = try await reader.execute("{ me { id } }").rate?.remainingUnits ?? -1
        let small = try await remaining(9)
        let large = try await remaining(50)
        #expect(small - large == before - small + 5)
    }
}
