import Glibc
import GraphQL
import Postgres
import TestSupport
import Testing

@Suite struct CreateBookTests {
    static let app = Shared { try await TestApp.start() }

    static let create = """
        mutation($input: CreateBookInput!) {
          createBook(input: $input) {
            id title author isbn13 isbn10 publisher publishedDate pageCount category genre description
            status currentPage addedAt updatedAt
            card { id title } shelves { id name } review { id }
          }
        }
        """
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    private func count(_ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
    }

    @Test func createsABookByTitle() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            Self.create,
            [
                "input": [
                    "title": "  Dune ", "authors": [["name": " Frank Herbert"]],
                    "category": "Novel",
                    "genre": "SF",
                ]
            ])
        let book = try #require(response["createBook"])
        #expect(book["title"] == "Dune")
        #expect(book["author"] == "Frank Herbert")
        #expect(book["category"] == "Novel")
        #expect(book["genre"] == "SF")
        #expect(book["status"] == "WANT_TO_READ")
        for name in ["isbn13", "isbn10", "publisher", "card", "review"] {
            #expect(book[name] == .null)
        }
        #expect(book["shelves"] == [])
        #expect(book["addedAt"] == book["updatedAt"])
    }

    @Test func createsABookByISBNWithMetadataOfTheCatalog() async throws {
        let reader = try await Self.app().makeReader()
        let isbn = TestCatalog.isbn(3)
        let response = try await reader.execute(Self.create, ["input": ["isbn": .string(isbn)]])
        let book = try #require(response["createBook"])
        #expect(book["title"] == "Card 3")
        #expect(book["author"] == "Author 3, Second")
        #expect(book["isbn13"] == .string(isbn))
        #expect(book["isbn10"]?.string?.utf8.count == 10)
        #expect(book["card", "title"] == "Card 3")
        #expect(book["genre"] == "History")
        #expect(book["pageCount"] == 103)
        #expect(book["publisher"] == "House")
        #expect(book["publishedDate"] == "1999-01")
        #expect(book["description"]?.string?.hasPrefix("The story of number 3.") == true)
    }

    @Test func createsABookByCardWithItsOwnTitle() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]
        let response = try await reader.execute(
            Self.create,
            ["input": ["cardId": card["id"] ?? .null, "title": "My name for it", "genre": "Mine"]])
        #expect(response["createBook", "title"] == "My name for it")
        #expect(response["createBook", "genre"] == "Mine")
        #expect(response["createBook", "card", "id"] == card["id"])
        #expect(response["createBook", "isbn13"] == card["isbn13"])
    }

    @Test func unknownISBNNeedsATitle() async throws {
        let reader = try await Self.app().makeReader()
        let unknown = try await reader.execute(Self.create, ["input": ["isbn": "9780306406157"]])
        #expect(unknown.code == "NOT_FOUND")
        #expect(unknown.message == "No book with this ISBN is known. Add it with its title.")
        let titled = try await reader.execute(
            Self.create, ["input": ["isbn": "0-306-40615-2", "title": "By hand"]])
        #expect(titled["createBook", "isbn13"] == "9780306406157")
        #expect(titled["createBook", "isbn10"] == "0306406152")
        #expect(titled["createBook", "card"] == .null)
    }

    @Test(arguments: [
        ("WANT_TO_READ", false, false), ("READING", true, false), ("READ", false, true),
        ("PAUSED", false, false), ("DID_NOT_FINISH", false, false),
    ])
    func statusSetsItsDate(status: String, isStarted: Bool, isFinished: Bool) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            Self.create, ["input": ["title": "Book", "status": .string(status)]])
        #expect(response["createBook", "status"] == .string(status))
        let state = try await ReadTests.reads(reader, response["createBook", "id"] ?? .null)
        let read = state["reads", "nodes", 0]
        #expect((read?["startedOn"]?.string != nil) == isStarted)
        #expect((read?["finishedOn"]?.string != nil) == isFinished)
    }

    @Test func creatingABookWithAnExistingIDReturnsThatBook() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let input: Value = [
            "id": "0198c0de-0000-7000-8000-0000000000b1", "isbn": .string(TestCatalog.isbn(5)),
            "shelfIds": [shelf],
        ]
        let first = try await reader.execute(Self.create, ["input": input])
        let second = try await reader.execute(Self.create, ["input": input])
        #expect(first.errors.isEmpty)
        #expect(first.json == second.json)
        #expect(first["createBook", "shelves"]?.values(of: "id") == [shelf])
        #expect(try await count(reader) == 1)
    }

    @Test func repeatedCreationDoesNotUndoLaterChanges() async throws {
        let reader = try await Self.app().makeReader()
        let input: Value = ["id": "0198c0de-0000-7000-8000-0000000000b2", "title": "Old"]
        _ = try await reader.execute(Self.create, ["input": input])
        _ = try await reader.execute(
            #"mutation { updateBook(id: "0198c0de-0000-7000-8000-0000000000b2", input: {title: "New"}) { id } }"#
        )
        let replay = try await reader.execute(Self.create, ["input": input])
        #expect(replay["createBook", "title"] == "New")
    }

    /// The argument says how the book and its duplicate, which has another id, are created.
    @Test(arguments: ["card card", "card isbn", "isbn card", "isbn isbn", "hand isbn"])
    func duplicateBookIsAConflictWithItsID(kinds: String) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]
        let inputs: [Substring: Value] = [
            "card": ["cardId": card["id"] ?? .null], "isbn": ["isbn": card["isbn13"] ?? .null],
            "hand": ["isbn": card["isbn13"] ?? .null, "title": "By hand"],
        ]
        let kinds = kinds.split(separator: " ")
        let id = try await reader.makeBook(try #require(inputs[kinds[0]]))
        let response = try await reader.execute(
            Self.create, ["input": try #require(inputs[kinds[1]])])
        #expect(response.code == "CONFLICT")
        #expect(response.errors.first?["extensions", "id"] == id)
        #expect(response["createBook"] == nil)
        #expect(try await count(reader) == 1)
    }

    @Test func booksCanHaveTheSameTitle() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeBook("Poems")
        _ = try await reader.makeBook("Poems")
        #expect(try await count(reader) == 2)
    }

    @Test(
        arguments: [
            ([:], "title", "A book needs a title, an ISBN, or a card."),
            (["title": "  "], "title", "Title may not be empty."),
            (["title": .null], "title", "A book needs a title, an ISBN, or a card."),
            (
                ["title": .string(String(repeating: "x", count: 501))], "title",
                "Title may have at most 500 characters."
            ),
            (
                ["title": "x", "isbn": "9780306406158"], "isbn",
                "The check digit of the ISBN does not match. Check for a typing error."
            ),
            (
                ["title": "x", "isbn": "123"], "isbn",
                "An ISBN has 10 or 13 digits. Check the number and try again."
            ),
            (
                ["title": "x", "id": "not an id"], "id",
                "The ID must be a UUID. Omit it to get a new one."
            ),
            (
                ["title": "x", "category": .string(String(repeating: "x", count: 101))], "category",
                "Category may have at most 100 characters."
            ),
            (["title": "x\u{0}"], "title", "Title contains a NUL character."),
        ] as [(Value, String, String)])
    func invalidInputIsRejected(input: Value, field: String, message: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.create, ["input": input])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
        #expect(response.message == message)
        #expect(try await count(reader) == 0)
    }

    @Test(
        arguments: [
            ["cardId": absent], ["cardId": "no id"], ["title": "x", "cardId": absent],
            ["title": "x", "shelfIds": [absent]], ["title": "x", "shelfIds": ["no id"]],
        ] as [Value])
    func unknownCardOrShelfIsNotFound(input: Value) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.create, ["input": input])
        #expect(response.code == "NOT_FOUND")
        #expect(try await count(reader) == 0)
    }

    @Test func batchEntriesSucceedOrFailIndependently() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]
        let existing = try await reader.makeBook(["cardId": card["id"] ?? .null])
        let inputs: [Value] = [
            ["title": "Good"], ["title": " "], ["isbn": "9780306406158"],
            ["isbn": card["isbn13"] ?? .null], ["cardId": Self.absent],
            ["isbn": .string(TestCatalog.isbn(20))], ["isbn": .string(TestCatalog.isbn(20))],
            ["title": "Lost", "shelfIds": [Self.absent]], ["isbn": "9780306406157"],
        ]
        let response = try await reader.execute(
            """
            mutation($inputs: [CreateBookInput!]!) {
              createBooks(inputs: $inputs) { book { id title } error { code field conflictingId message } }
            }
            """, ["inputs": .list(inputs)])
        let results = try #require(response["createBooks"])
        // A conflict names the existing book.
        let errors = results.values(of: "error")
        #expect(errors[3]["conflictingId"] == existing)
        #expect(errors[6]["conflictingId"] == results.values(of: "book")[5]["id"])
        #expect(
            results.values(of: "error").map { $0["code"]?.string } == [
                nil, "BAD_USER_INPUT", "BAD_USER_INPUT", "CONFLICT", "NOT_FOUND", nil, "CONFLICT",
                "NOT_FOUND", "NOT_FOUND",
            ])
        #expect(
            results.values(of: "error").map { $0["field"]?.string } == [
                nil, "title", "isbn", "isbn", nil, nil, "isbn", nil, nil,
            ])
        #expect(
            results.values(of: "book").map { $0["title"]?.string } == [
                "Good", nil, nil, nil, nil, "Card 20", nil, nil, nil,
            ])
        #expect(response.errors.isEmpty)
        #expect(try await count(reader) == 3)
    }

    @Test func batchHasAtMost50Entries() async throws {
        let reader = try await Self.app().makeReader()
        #expect(try await reader.makeBooks(50).count == 50)
        let response = try await reader.execute(
            "mutation($i: [CreateBookInput!]!) { createBooks(inputs: $i) { book { id } } }",
            ["i": .list(Array(repeating: ["title": "x"], count: 51))])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "inputs")
        let none = try await reader.execute("mutation { createBooks(inputs: []) { book { id } } }")
        #expect(none["createBooks"] == [])
        #expect(try await count(reader) == 50)
    }

    @Test func concurrentRequestsCreateABookOnce() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let responses = try await concurrently(10) { _ in
            try await reader.execute(Self.create, ["input": ["cardId": card]])
        }
        #expect(responses.count { $0.code == nil } == 1)
        let created = responses.compactMap { $0["createBook", "id"] }
        let others = responses.filter { $0.code == "CONFLICT" }
        #expect(others.count == 9)
        #expect(others.allSatisfy { created == [$0.errors.first?["extensions", "id"] ?? .null] })
        #expect(try await count(reader) == 1)
    }

    /// A client repeats the request while the first one is still running.
    @Test(arguments: [false, true])
    func repeatedRequestReturnsTheBookThatIsBeingCreated(isBatch: Bool) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let id: Value = "0198c0de-0000-7000-8000-0000000000b3"
        let second = try await app.database.withConnection { connection in
            // The state of the first request before its commit.
            try connection.execute(
                """
                BEGIN; SELECT FROM users WHERE id = '\(user)' FOR NO KEY UPDATE;
                INSERT INTO books (user_id, id, title)
                  VALUES ('\(user)', '0198c0de-0000-7000-8000-0000000000b3', 'Once')
                """)
            let second = Task {
                isBatch
                    ? try await reader.execute(
                        """
                        mutation($id: ID!) { createBooks(inputs: [{id: $id, title: "Once"}]) {
                          book { id } error { code message }
                        } }
                        """, ["id": id])
                    : try await reader.execute(Self.create, ["input": ["id": id, "title": "Once"]])
            }
            let other = try AdminConnection(try app.database.url())
            let waiting = """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            for _ in 0..<500 where try other.query(waiting).int64(0, 0) == 0 { usleep(10_000) }
            try connection.execute("COMMIT")
            return second
        }
        let response = try await second.value
        #expect(
            (response["createBook", "id"] ?? response["createBooks", 0, "book", "id"]) == id,
            "\(response.json)")
        #expect(try await count(reader) == 1)
    }

    private func concurrently(
        _ count: Int, _ work: @Sendable @escaping (Int) async throws -> TestResponse
    ) async throws -> [TestResponse] {
        try await withThrowingTaskGroup { group in
            for index in 0..<count { group.addTask { try await work(index) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
