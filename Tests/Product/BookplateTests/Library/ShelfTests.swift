import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct ShelfTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    static let create = """
        mutation($input: CreateShelfInput!) {
          createShelf(input: $input) { id name position bookCount createdAt updatedAt }
        }
        """
    static let update = """
        mutation($id: ID!, $input: UpdateShelfInput!) {
          updateShelf(id: $id, input: $input) { id name position createdAt updatedAt }
        }
        """
    static let delete = """
        mutation($id: ID!, $books: ShelfBooks, $to: ID) { deleteShelf(id: $id, input: {books: $books, moveTo: $to}) { id } }
        """
    static let list = "{ me { shelves { id name position bookCount } } }"
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    private func names(_ reader: TestReader) async throws -> [Value] {
        try await reader.requireValue(Self.list, .null, "me", "shelves").values(of: "name")
    }

    @Test func newShelfIsLast() async throws {
        let reader = try await Self.app().makeReader()
        for (position, name) in ["First", "Second", "Third"].enumerated() {
            let response = try await reader.execute(Self.create, ["input": ["name": .string(name)]])
            #expect(response["createShelf", "name"] == .string(name))
            #expect(response["createShelf", "position"] == .int(position))
            #expect(response["createShelf", "bookCount"] == 0)
            #expect(response["createShelf", "createdAt"] == response["createShelf", "updatedAt"])
        }
        #expect(try await names(reader) == ["First", "Second", "Third"])
    }

    @Test func creatingAShelfWithAnExistingIDReturnsThatShelf() async throws {
        let reader = try await Self.app().makeReader()
        let input: Value = ["id": "0198c0de-0000-7000-8000-0000000000a1", "name": "Once"]
        let first = try await reader.execute(Self.create, ["input": input])
        let second = try await reader.execute(Self.create, ["input": input])
        #expect(first["createShelf"] == second["createShelf"])
        #expect(first["createShelf", "id"] == "0198c0de-0000-7000-8000-0000000000a1")
        #expect(try await names(reader) == ["Once"])
    }

    @Test func repeatedCreationDoesNotUndoARename() async throws {
        let reader = try await Self.app().makeReader()
        let id: Value = "0198c0de-0000-7000-8000-0000000000a2"
        _ = try await reader.execute(Self.create, ["input": ["id": id, "name": "Old"]])
        _ = try await reader.execute(Self.update, ["id": id, "input": ["name": "New"]])
        let replay = try await reader.execute(Self.create, ["input": ["id": id, "name": "Old"]])
        #expect(replay["createShelf", "name"] == "New")
    }

    @Test(arguments: [
        ("Fiction", "Fiction"), ("Fiction", "fiction"), ("fiction", "FICTION"),
        ("Écriture", "écriture"), ("Fiction", "  Fiction "),
    ])
    func nameIsUniqueIgnoringCase(first: String, second: String) async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf(first)
        let response = try await reader.execute(Self.create, ["input": ["name": .string(second)]])
        #expect(response.code == "CONFLICT")
        #expect(response.errors.first?["extensions", "id"] == id)
        #expect(response.errors.first?["path"] == ["createShelf"])
        #expect(try await names(reader).count == 1)
    }

    @Test func renamingToATakenNameIsAConflict() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeShelf("One")
        let two = try await reader.makeShelf("Two")
        let response = try await reader.execute(Self.update, ["id": two, "input": ["name": "ONE"]])
        #expect(response.code == "CONFLICT")
        #expect(try await names(reader) == ["One", "Two"])
    }

    @Test func renamingCanChangeOnlyTheCase() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf("one")
        let response = try await reader.execute(
            Self.update, ["id": id, "input": ["name": " One "]])
        #expect(response["updateShelf", "name"] == "One")
    }

    @Test(arguments: [
        ("", "Name may not be empty."), (" \u{00A0}\t ", "Name may not be empty."),
        (String(repeating: "x", count: 101), "Name may have at most 100 characters."),
        (String(repeating: "x", count: 100_000), "Name may have at most 100 characters."),
        ("\u{200B}", "Name may not be empty."), (" \u{2060}\u{AD} ", "Name may not be empty."),
        ("a\u{0}b", "Name contains a NUL character."),
    ])
    func invalidNameIsRejected(name: String, message: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.create, ["input": ["name": .string(name)]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "name")
        #expect(response.message == message)
        let id = try await reader.makeShelf("Good")
        let rename = try await reader.execute(
            Self.update, ["id": id, "input": ["name": .string(name)]])
        #expect(rename.code == "BAD_USER_INPUT")
        #expect(rename.field == "name")
        #expect(try await names(reader) == ["Good"])
    }

    @Test(arguments: [
        String(repeating: "x", count: 100), String(repeating: "📚", count: 100),
        "'; DROP TABLE shelves; --",
        "\u{202E}right to left", "a\\b\"c\nd", "👩\u{200D}🚀",
    ])
    func textWithinTheLimitIsUnchanged(name: String) async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeShelf(name)
        #expect(try await names(reader) == [.string(name)])
    }

    @Test func nullNameIsRejectedAndAbsentNameIsUnchanged() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf("Kept")
        let null = try await reader.execute(Self.update, ["id": id, "input": ["name": .null]])
        #expect(null.code == "BAD_USER_INPUT")
        let absent = try await reader.execute(Self.update, ["id": id, "input": [:]])
        #expect(absent["updateShelf", "name"] == "Kept")
    }

    @Test(arguments: [
        (2, 0, "CABD"), (0, 3, "BCDA"), (0, 1, "BACD"), (3, 1, "ADBC"), (1, 99, "ACDB"),
        (1, 1, "ABCD"), (0, Int(Int32.max), "BCDA"),
    ])
    func movingAShelfShiftsTheOthers(from: Int, to: Int, expected: String) async throws {
        let reader = try await Self.app().makeReader()
        var ids: [Value] = []
        for name in "ABCD" { ids.append(try await reader.makeShelf(String(name))) }
        let response = try await reader.execute(
            Self.update, ["id": ids[from], "input": ["position": .int(to)]])
        #expect(response["updateShelf", "position"] == .int(min(to, 3)))
        let shelves = try await reader.requireValue(Self.list, .null, "me", "shelves")
        #expect(shelves.values(of: "name") == expected.map { .string(String($0)) })
        #expect(shelves.values(of: "position") == [0, 1, 2, 3])
        // Repeating the mutation changes nothing.
        _ = try await reader.execute(
            Self.update, ["id": ids[from], "input": ["position": .int(to)]])
        #expect(try await reader.requireValue(Self.list, .null, "me", "shelves") == shelves)
    }

    @Test(arguments: [Value.int(-1), .null])
    func negativeOrNullPositionIsRejected(position: Value) async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeShelf("A")
        let response = try await reader.execute(
            Self.update, ["id": id, "input": ["position": position]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "position")
    }

    @Test(arguments: [
        ("KEEP", ["Both", "Only here"], ["Both"]),
        ("MOVE", ["Both", "Only here"], ["Both", "Only here"]),
        ("DELETE", [], []),
    ])
    func deletingAShelfKeepsMovesOrDeletesItsBooks(
        books: String, remaining: [String], onOther: [String]
    ) async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Deleted")
        let other = try await reader.makeShelf("Kept")
        _ = try await reader.makeBook("Only here", shelves: [shelf])
        _ = try await reader.makeBook("Both", shelves: [shelf, other])
        let response = try await reader.execute(
            Self.delete, ["id": shelf, "books": .string(books), "to": other])
        #expect(response["deleteShelf", "id"] == shelf)
        let library = try await reader.requireValue(
            """
            { me {
              books(orderBy: TITLE_ASC) { nodes { title } }
              shelves { name position books(orderBy: TITLE_ASC) { nodes { title } } }
            } }
            """, .null, "me")
        #expect(library["books", "nodes"]?.values(of: "title") == remaining.map { .string($0) })
        #expect(library["shelves"]?.values(of: "name") == ["Kept"])
        #expect(library["shelves", 0, "position"] == 0)
        #expect(
            library["shelves", 0, "books", "nodes"]?.values(of: "title")
                == onOther.map { .string($0) })
        // A client that has lost the response repeats the mutation. It changes nothing and returns the same response.
        let again = try await reader.execute(
            Self.delete, ["id": shelf, "books": .string(books), "to": other])
        #expect(again.json == response.json)
        #expect(
            try await reader.requireValue(
                "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
                == .int(remaining.count))
    }

    /// The books of a large shelf are deleted by several statements, in one transaction.
    @Test func deletingAShelfDeletesThousandsOfBooks() async throws {
        let reader = try await Self.app().makeReader()
        let (shelf, other) = (try await reader.makeShelf("Large"), try await reader.makeShelf("B"))
        try await fill(shelf, of: reader, with: 5_003)
        try await reader.executeSQL(
            """
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT user_id, '\(other.string ?? "")', id, added_at
            FROM books WHERE user_id = '\(reader.id.string ?? "")' AND title LIKE '%7'
            """)
        let response = try await reader.execute(
            Self.delete, ["id": shelf, "books": "DELETE"])
        #expect(response["deleteShelf", "id"] == shelf, "\(response.json)")
        let me = try await reader.requireValue(
            "{ me { books { totalCount } shelves { id bookCount } deletedBooks { totalCount } } }",
            .null, "me")
        #expect(me["books", "totalCount"] == 0 && me["deletedBooks", "totalCount"] == 5_003)
        #expect(me["shelves"] == [["id": other, "bookCount": 0]])
    }

    @Test func shelfWithTooManyBooksIsNotDeletedWithThem() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Huge")
        try await fill(shelf, of: reader, with: Shelf.deletedBooksMax + 1)
        let response = try await reader.execute(
            Self.delete, ["id": shelf, "books": "DELETE"])
        #expect(response.code == "BAD_USER_INPUT" && response.field == "books")
        #expect(response.message?.contains("too many books") == true, "\(response.json)")
        let kept = try await reader.execute(Self.delete, ["id": shelf, "books": "KEEP"])
        #expect(kept["deleteShelf", "id"] == shelf, "\(kept.json)")
    }

    /// Adds books without their triggers, which takes a tenth of the time.
    private func fill(_ shelf: Value, of reader: TestReader, with count: Int) async throws {
        let (user, shelf) = (reader.id.string ?? "", shelf.string ?? "")
        try await Self.app().database.withConnection(as: nil) { connection in
            try connection.execute(
                """
                SET session_replication_role = replica;
                WITH added AS (
                    INSERT INTO books (user_id, id, title)
                    SELECT '\(user)', gen_random_uuid(), 'Book ' || n FROM generate_series(1, \(count)) n
                    RETURNING id, added_at
                )
                INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
                SELECT '\(user)', '\(shelf)', id, added_at FROM added
                """)
        }
    }

    @Test func movingBooksNeedsAnotherShelf() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("A")
        _ = try await reader.makeBook("Book", shelves: [shelf])
        for (target, code) in [
            (shelf, "BAD_USER_INPUT"), (.null, "BAD_USER_INPUT"), (Self.absent, "NOT_FOUND"),
            ("no id", "NOT_FOUND"),
        ] {
            let response = try await reader.execute(
                Self.delete, ["id": shelf, "books": "MOVE", "to": target])
            #expect(response.code == code)
        }
        let shelves = try await reader.requireValue(Self.list, .null, "me", "shelves")
        #expect(shelves[0, "bookCount"] == 1)
    }

    @Test func libraryHasAtMost500Shelves() async throws {
        let reader = try await Self.app().makeReader()
        let id = reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            INSERT INTO shelves (user_id, id, name, position)
            SELECT '\(id)', gen_random_uuid(), 'Shelf ' || n, n FROM generate_series(0, 498) n
            """)
        _ = try await reader.makeShelf("The last")
        let response = try await reader.execute(Self.create, ["input": ["name": "One more"]])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.message == "At most 500 are allowed. Delete some first.")
    }

    @Test func concurrentlyCreatedShelvesGetDistinctPositions() async throws {
        let reader = try await Self.app().makeReader()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask { _ = try await reader.makeShelf("Shelf \(number)") }
            }
            try await group.waitForAll()
        }
        let shelves = try await reader.requireValue(Self.list, .null, "me", "shelves")
        #expect(shelves.values(of: "position") == (0..<20).map { .int($0) })
    }

    @Test(arguments: [absent, "no id", ""])
    func unknownIDIsNotFound(id: Value) async throws {
        let reader = try await Self.app().makeReader()
        let update = try await reader.execute(Self.update, ["id": id, "input": ["name": "X"]])
        #expect(update.code == "NOT_FOUND")
        #expect(update.message == "There is no such shelf.")
        let query = try await reader.execute(
            "query($id: ID!) { shelf(id: $id) { id } }", ["id": id])
        #expect(query["shelf"] == .null)
        #expect(query.errors.isEmpty)
    }
}
