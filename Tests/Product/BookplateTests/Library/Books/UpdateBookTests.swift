import GraphQL
import TestSupport
import Testing

@Suite struct UpdateBookTests {
    static let app = Shared { try await TestApp.start() }

    static let update = """
        mutation($id: ID!, $input: UpdateBookInput!) {
          updateBook(id: $id, input: $input) {
            id title author isbn13 category genre status currentPage updatedAt addedAt
            shelves { id } card { title }
          }
        }
        """
    static let move = """
        mutation($id: ID!, $to: ID!, $from: ID) { moveBook(id: $id, input: {to: $to, from: $from}) { book { id shelves { name } } } }
        """
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    @Test func absentFieldsAreUnchangedAndNullRemovesValues() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook([
            "title": "Title", "authors": [["name": "Author"]], "isbn": "9780306406157",
            "category": "Category",
            "genre": "Genre",
        ])
        _ = try await reader.execute(Self.update, ["id": id, "input": ["currentPage": 12]])
        let touched = try await reader.execute(Self.update, ["id": id, "input": [:]])
        let book = try #require(touched["updateBook"])
        for (name, value) in [
            ("title", "Title"), ("author", "Author"), ("isbn13", "9780306406157"),
            ("category", "Category"), ("genre", "Genre"), ("currentPage", 12),
        ] as [(String, Value)] {
            #expect(book[name] == value)
        }
        let cleared = try await reader.execute(
            Self.update,
            [
                "id": id,
                "input": [
                    "authors": .null, "isbn": .null, "category": "", "genre": " ",
                    "currentPage": .null,
                ],
            ])
        for name in ["author", "isbn13", "category", "genre", "currentPage"] {
            #expect(cleared["updateBook"]?[name] == .null)
        }
        #expect(cleared["updateBook", "title"] == "Title")
    }

    @Test func moodsAreReplacedAsAWhole() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Title")
        let one =
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { moods } }"
        let many = """
            mutation($id: ID!, $input: UpdateBookInput!) {
              updateBooks(inputs: [{id: $id, input: $input}]) { book { moods } }
            }
            """
        for (input, moods) in [
            (["dark", " funny ", "dark"], ["dark", "funny"]), (["slow"], ["slow"]), (.null, []),
        ] as [(Value, Value)] {
            let arguments: Value = ["id": id, "input": ["moods": input]]
            let updated = try await reader.requireValue(one, arguments, "updateBook", "moods")
            #expect(updated == moods)
            _ = try await reader.requireValue(
                one, ["id": id, "input": ["moods": ["other"]]], "updateBook")
            let inBatch = try await reader.requireValue(
                many, arguments, "updateBooks", 0, "book", "moods")
            #expect(inBatch == moods)
        }
    }

    @Test(
        arguments: [
            (["title": .null], "title"), (["title": " "], "title"), (["status": .null], "status"),
            (["currentPage": -1], "currentPage"), (["isbn": "978030640615X"], "isbn"),
            (["moods": .list(.init(repeating: "x", count: 21))], "moods"),
            (["moods": [.string(String(repeating: "x", count: 101))]], "moods"),
            (["moods": ["dark", " "]], "moods"),
        ] as [(Value, String)])
    func invalidInputIsRejected(input: Value, field: String) async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Title")
        let response = try await reader.execute(Self.update, ["id": id, "input": input])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
        #expect(response.errors.first?["path"] == ["updateBook"])
    }

    @Test func statusCanChangeInAnyOrderAndKeepsItsRead() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Title")
        func set(_ status: String) async throws -> Value {
            let response = try await reader.execute(
                Self.update, ["id": id, "input": ["status": .string(status)]])
            #expect(response["updateBook", "status"] == .string(status))
            return try await ReadTests.reads(reader, id)["reads", "nodes"] ?? .null
        }
        let reading = try await set("READING")
        #expect(reading.values(of: "outcome") == ["READING"])
        #expect(reading[0, "startedOn"]?.string != nil && reading[0, "finishedOn"] == .null)
        // Setting the same status again changes nothing.
        #expect(try await set("READING") == reading)
        let read = try await set("READ")
        #expect(read.values(of: "outcome") == ["FINISHED"])
        #expect(read[0, "id"] == reading[0, "id"])
        #expect(read[0, "startedOn"] == reading[0, "startedOn"])
        #expect(read[0, "finishedOn"]?.string != nil)
        for status in ["READ", "PAUSED", "DID_NOT_FINISH", "WANT_TO_READ"] {
            #expect(try await set(status) == read, "\(status)")
        }
        // Starting the book again adds a read.
        let again = try await set("READING")
        #expect(again.values(of: "outcome") == ["READING", "FINISHED"])
        #expect(again[1] == read[0])
    }

    @Test func newISBNChangesTheCard() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("By hand")
        let response = try await reader.execute(
            Self.update, ["id": id, "input": ["isbn": .string(TestCatalog.isbn(4))]])
        #expect(response["updateBook", "card", "title"] == "Card 4")
        #expect(response["updateBook", "title"] == "By hand")
    }

    @Test func isbnOfAnotherBookIsAConflict() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeBook(["isbn": .string(TestCatalog.isbn(6))])
        let id = try await reader.makeBook("By hand")
        let response = try await reader.execute(
            Self.update,
            ["id": id, "input": ["title": "Other", "isbn": .string(TestCatalog.isbn(6))]])
        #expect(response.code == "CONFLICT")
        let title = try await reader.execute(
            "query($id: ID!) { book(id: $id) { title } }", ["id": id])
        #expect(title["book", "title"] == "By hand")
    }

    @Test func shelvesAreReplaced() async throws {
        let reader = try await Self.app().makeReader()
        let shelves = [
            try await reader.makeShelf("A"), try await reader.makeShelf("B"),
            try await reader.makeShelf("C"),
        ]
        let id = try await reader.makeBook("Title", shelves: [shelves[0], shelves[1]])
        let moved = try await reader.execute(
            Self.update, ["id": id, "input": ["shelfIds": [shelves[2], shelves[1], shelves[1]]]])
        #expect(moved["updateBook", "shelves"]?.values(of: "id") == [shelves[1], shelves[2]])
        let none = try await reader.execute(Self.update, ["id": id, "input": ["shelfIds": []]])
        #expect(none["updateBook", "shelves"] == [])
    }

    @Test func unknownShelfChangesNothing() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let id = try await reader.makeBook("Title", shelves: [shelf])
        let response = try await reader.execute(
            Self.update, ["id": id, "input": ["title": "New", "shelfIds": [Self.absent]]])
        #expect(response.code == "NOT_FOUND")
        #expect(response.message == "There is no such shelf.")
        let book = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { title shelves { id } } }", ["id": id], "book")
        #expect(book == ["title": "Title", "shelves": [["id": shelf]]])
    }

    /// The book is on the shelves A, C, and D.
    @Test(
        arguments: [
            ("B", nil, ["B"]), ("A", nil, ["A"]), ("B", "A", ["B", "C", "D"]),
            ("C", "D", ["A", "C"]),
            ("B", "B", ["A", "B", "C", "D"]),
        ] as [(String, String?, [String])])
    func moveRemovesTheBookFromOneShelfOrFromAll(to: String, from: String?, expected: [String])
        async throws
    {
        let reader = try await Self.app().makeReader()
        var shelves: [String: Value] = [:]
        for name in ["A", "B", "C", "D"] { shelves[name] = try await reader.makeShelf(name) }
        let id = try await reader.makeBook(
            "Title", shelves: ["A", "C", "D"].compactMap { shelves[$0] })
        let variables: Value = [
            "id": id, "to": shelves[to] ?? .null, "from": from.flatMap { shelves[$0] } ?? .null,
        ]
        let response = try await reader.execute(Self.move, variables)
        #expect(
            response["moveBook", "book", "shelves"]?.values(of: "name")
                == expected.map { .string($0) })
        #expect(try await reader.execute(Self.move, variables).json == response.json)
    }

    @Test func moveRejectsUnknownIDs() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let id = try await reader.makeBook("Title", shelves: [shelf])
        for (variables, message) in [
            (["id": Self.absent, "to": shelf], "There is no such book in the library."),
            (["id": id, "to": Self.absent], "There is no such shelf."),
            (["id": id, "to": "no id"], "There is no such shelf."),
            (["id": "no id", "to": shelf], "There is no such book in the library."),
        ] as [(Value, String)] {
            let response = try await reader.execute(Self.move, variables)
            #expect(response.code == "NOT_FOUND")
            #expect(response.message == message)
        }
        let book = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { shelves { id } } }", ["id": id], "book")
        #expect(book == ["shelves": [["id": shelf]]])
    }

    @Test func deletedBookIsRemovedEverywhere() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        let id = try await reader.makeBook("Title", status: "READ", shelves: [shelf])
        let review = try await reader.review(id)
        let response = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": id])
        #expect(response["deleteBook", "id"] == id)
        let remaining = try await reader.execute(
            """
            query($id: ID!, $review: ID!) {
              book(id: $id) { id } node(id: $review) { id }
              me { books { totalCount } reviews { totalCount } shelves { bookCount } }
            }
            """, ["id": id, "review": review])
        #expect(
            remaining.json == [
                "data": [
                    "book": .null, "node": .null,
                    "me": [
                        "books": ["totalCount": 0], "reviews": ["totalCount": 0],
                        "shelves": [["bookCount": 0]],
                    ],
                ]
            ])
        let again = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": id])
        #expect(again.json == response.json)
    }

    @Test func concurrentUpdatesLoseNoChange() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Title")
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    let input: Value =
                        switch number % 4 {
                        case 0: ["category": "Category"]
                        case 1: ["genre": "Genre"]
                        case 2: ["currentPage": 7]
                        default: ["authors": [["name": "Author"]]]
                        }
                    let response = try await reader.execute(
                        Self.update, ["id": id, "input": input])
                    #expect(response.errors.isEmpty)
                }
            }
            try await group.waitForAll()
        }
        let book = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { category genre currentPage author } }", ["id": id],
            "book")
        #expect(
            book == [
                "category": "Category", "genre": "Genre", "currentPage": 7, "author": "Author",
            ])
    }
}
