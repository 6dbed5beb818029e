import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Creating, changing, and deleting quotes and thoughts.
@Suite struct NoteTests {
    static let app = Shared { try await TestApp.start() }
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    static let create = """
        mutation($input: CreateNoteInput!) { createNote(input: $input) {
          id text comment chapter color page percent seconds given createdAt book { id noteCount }
        } }
        """
    static let createMany = """
        mutation($inputs: [CreateNoteInput!]!) { createNotes(inputs: $inputs) {
          note { id text createdAt } error { code reason message max field }
        } }
        """
    static let update = """
        mutation($id: ID!, $input: UpdateNoteInput!) { updateNote(id: $id, input: $input) {
          text comment chapter color page percent given
        } }
        """
    static let delete =
        "mutation($id: ID!) { deleteNote(id: $id) { id book { id noteCount } } }"

    private func changes(_ reader: TestReader) async throws -> [String] {
        let log = try await reader.requireValue(
            "{ changes(first: 500) { changes { kind typename nodeId } } }", .null, "changes",
            "changes")
        return (log.list ?? []).filter { $0["typename"] == "Note" }
            .compactMap { $0["kind"]?.string }
    }

    @Test func noteHasAllItsValues() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 300])
        let id: Value = "0198c0de-0000-7000-8000-0000000000a1"
        let note = try await reader.requireValue(
            Self.create,
            [
                "input": [
                    "id": id, "bookId": book,
                    "text": "  Fear is the mind-killer.\n\nI will face it. ",
                    "comment": "Again!", "chapter": "One", "color": "YELLOW", "page": 75,
                    "createdAt": "2020-02-03T04:05:06Z",
                ]
            ], "createNote")
        #expect(
            note == [
                "id": id, "text": "Fear is the mind-killer.\n\nI will face it.",
                "comment": "Again!", "chapter": "One", "color": "YELLOW", "page": 75,
                "percent": 25, "seconds": .null, "given": "PAGE",
                "createdAt": "2020-02-03T04:05:06.000Z", "book": ["id": book, "noteCount": 1],
            ])
    }

    @Test func invalidNotesAreRejected() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 300])
        let shelf = try await reader.makeShelf("Other")
        let long = Value.string(String(repeating: "é", count: 10_001))
        let inputs: [(Value, Value, Value)] = [
            (["bookId": book], "BAD_USER_INPUT", "text"),
            (["bookId": book, "text": " \n", "comment": .null], "BAD_USER_INPUT", "text"),
            (["bookId": book, "text": long], "BAD_USER_INPUT", "text"),
            (["bookId": book, "comment": long], "BAD_USER_INPUT", "comment"),
            (
                [
                    "bookId": book, "text": "x",
                    "chapter": .string(String(repeating: "x", count: 501)),
                ], "BAD_USER_INPUT", "chapter"
            ),
            (["bookId": book, "text": "x", "page": -1], "BAD_USER_INPUT", "page"),
            (["bookId": book, "text": "x", "percent": 100.5], "BAD_USER_INPUT", "percent"),
            (["bookId": book, "text": "x", "page": 1, "seconds": 1], "BAD_USER_INPUT", "percent"),
            (
                ["bookId": book, "text": "x", "createdAt": "2999-01-01T00:00:00Z"],
                "BAD_USER_INPUT", "createdAt"
            ),
            (["bookId": Self.absent, "text": "x"], "NOT_FOUND", .null),
            (["bookId": book, "text": "x", "id": shelf], "CONFLICT", "id"),
            (["bookId": book, "text": "x", "id": "x"], "BAD_USER_INPUT", "id"),
            // The note may be from an edition with more pages.
            (["bookId": book, "text": "x", "page": 301], .null, .null),
        ]
        let batch = try await reader.execute(
            Self.createMany, ["inputs": .list(inputs.map(\.0))])
        let results = batch["createNotes"]?.list ?? []
        #expect(results.count == inputs.count)
        for (result, (input, code, field)) in zip(results, inputs) {
            let single = try await reader.execute(Self.create, ["input": input])
            #expect((result["error", "code"] ?? .null) == code, "\(input)")
            #expect((result["error", "field"] ?? .null) == field, "\(input)")
            #expect(result["note"]?.isNull == (code != .null))
            #expect(single.code.map { .string($0) } ?? .null == code, "\(single.json)")
            #expect(single.field.map { .string($0) } ?? .null == field, "\(single.json)")
        }
        let tooMany = try await reader.execute(
            Self.createMany,
            ["inputs": .list(Array(repeating: ["bookId": book, "text": "x"], count: 101))])
        #expect(tooMany.code == "BAD_USER_INPUT" && tooMany.field == "inputs")
    }

    @Test func repeatedNotesAreStoredOnce() async throws {
        let reader = try await Self.app().makeReader()
        let (book, other) = (try await reader.makeBook("A"), try await reader.makeBook("B"))
        let id: Value = "0198c0de-0000-7000-8000-0000000000a2"
        let input: Value = ["id": id, "bookId": book, "text": "First"]
        let first = try await reader.execute(Self.createMany, ["inputs": [input, input]])
        let again = try await reader.execute(Self.createMany, ["inputs": [input, input]])
        #expect(first.json == again.json && first["createNotes", 1, "note", "text"] == "First")
        // Another text does not replace the one that is stored.
        let changed = try await reader.execute(
            Self.create, ["input": ["id": id, "bookId": book, "text": "Second"]])
        #expect(changed["createNote", "text"] == "First")
        #expect(changed["createNote", "book", "noteCount"] == 1)
        let elsewhere = try await reader.execute(
            Self.create, ["input": ["id": id, "bookId": other, "text": "First"]])
        #expect(elsewhere.code == "CONFLICT" && elsewhere.field == "id")
        // No other object can have the id.
        for mutation in [
            "mutation($id: ID!) { createShelf(input: {id: $id, name: \"S\"}) { id } }",
            "mutation($id: ID!) { createBook(input: {id: $id, title: \"B\"}) { id } }",
        ] {
            #expect(try await reader.execute(mutation, ["id": id]).code == "CONFLICT")
        }
        let read = try await reader.execute(
            ReadTests.start, ["id": book, "input": ["id": id]])
        #expect(read.code == "CONFLICT")
        #expect(try await changes(reader) == ["CREATED"])
    }

    @Test func absentKeepsAndNullClears() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 200])
        let id = try await reader.requireValue(
            Self.create,
            [
                "input": [
                    "bookId": book, "text": "Text", "comment": "Comment", "chapter": "Chapter",
                    "color": "BLUE", "page": 50,
                ]
            ], "createNote", "id")
        func updated(_ input: Value) async throws -> Value {
            try await reader.requireValue(Self.update, ["id": id, "input": input], "updateNote")
        }
        let kept = try await updated(["comment": "Other"])
        #expect(
            kept == [
                "text": "Text", "comment": "Other", "chapter": "Chapter", "color": "BLUE",
                "page": 50, "percent": 25, "given": "PAGE",
            ])
        // An input with the same values changes nothing, and is not logged.
        #expect(try await updated(["comment": "Other", "color": "BLUE"]) == kept)
        let cleared = try await updated([
            "text": .null, "chapter": " ", "color": .null, "page": .null, "percent": 10,
        ])
        #expect(
            cleared == [
                "text": .null, "comment": "Other", "chapter": .null, "color": .null, "page": 20,
                "percent": 10, "given": "PERCENT",
            ])
        #expect(try await updated(["percent": .null])["given"] == .null)
        for (input, field) in [
            (["comment": .null], "text"), (["page": 1, "percent": 1], "percent"),
            (["seconds": -1], "seconds"),
        ] as [(Value, String)] {
            let invalid = try await reader.execute(Self.update, ["id": id, "input": input])
            #expect(invalid.code == "BAD_USER_INPUT" && invalid.field == field, "\(input)")
        }
        #expect(try await changes(reader) == ["CREATED", "UPDATED", "UPDATED", "UPDATED"])
    }

    @Test func deletedNoteDoesNotComeBack() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let id: Value = "0198c0de-0000-7000-8000-0000000000a3"
        let input: Value = ["id": id, "bookId": book, "text": "Text"]
        _ = try await reader.requireValue(Self.create, ["input": input], "createNote")
        let deleted = try await reader.execute(Self.delete, ["id": id])
        #expect(deleted["deleteNote"] == ["id": id, "book": ["id": book, "noteCount": 0]])
        let again = try await reader.execute(Self.delete, ["id": id])
        #expect(again["deleteNote"] == ["id": id, "book": .null])
        #expect(try await reader.execute(Self.create, ["input": input]).code == "NOT_FOUND")
        let batch = try await reader.execute(Self.createMany, ["inputs": [input]])
        #expect(batch["createNotes", 0, "error", "reason"] == "DELETED")
        let update = try await reader.execute(
            Self.update, ["id": id, "input": ["text": "Text"]])
        #expect(update.code == "NOT_FOUND")
        #expect(try await changes(reader) == ["CREATED", "DELETED"])
    }

    /// The log names the book only. `RestoreBookTests` restores the notes.
    @Test func notesAreDeletedWithTheirBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        _ = try await reader.requireValue(
            Self.create, ["input": ["bookId": book, "text": "Text"]], "createNote")
        _ = try await reader.execute(RestoreBookTests.delete, ["id": book])
        #expect(
            try await reader.requireValue("{ me { notes { totalCount } } }", .null, "me")
                == ["notes": ["totalCount": 0]])
        #expect(try await changes(reader) == ["CREATED"])
    }

    @Test func bookHasALimitedNumberOfNotes() async throws {
        let reader = try await Self.app().makeReader()
        let (book, other) = (try await reader.makeBook("A"), try await reader.makeBook("B"))
        try await reader.executeSQL(
            """
            INSERT INTO notes (user_id, id, book_id, text)
            SELECT user_id, gen_random_uuid(), id, 'x' FROM books, generate_series(1, \(Note.ofBookMax - 1))
            WHERE id = '\(book.string ?? "")'
            """)
        let response = try await reader.execute(
            Self.createMany,
            [
                "inputs": [
                    ["bookId": book, "text": "1"], ["bookId": book, "text": "2"],
                    ["bookId": other, "text": "3"],
                ]
            ])
        #expect(response["createNotes", 0, "note", "text"] == "1")
        #expect(
            response["createNotes", 1, "error"]
                == [
                    "code": "BAD_USER_INPUT", "reason": "LIMIT_REACHED",
                    "message": "At most 2000 are allowed. Delete some first.", "max": 2_000,
                    "field": "bookId",
                ])
        #expect(response["createNotes", 2, "note", "text"] == "3")
    }

    // MARK: - Lists

    /// Returns the texts of a book's notes, which are read in pages of two.
    private func texts(_ reader: TestReader, _ book: Value) async throws -> [String] {
        var texts: [String] = []
        var cursor = Value.null
        repeat {
            let page = try await reader.requireValue(
                """
                query($id: ID!, $after: String) { book(id: $id) { notes(first: 2, after: $after) {
                  totalCount nodes { text } pageInfo { hasNextPage endCursor } } } }
                """, ["id": book, "after": cursor], "book", "notes")
            texts += (page["nodes"]?.list ?? []).compactMap { $0["text"]?.string }
            if page["pageInfo", "hasNextPage"] == false {
                #expect(page["totalCount"] == .int(texts.count))
                return texts
            }
            cursor = page["pageInfo", "endCursor"] ?? .null
        } while texts.count < 100
        return texts
    }

    @Test func notesAreInTheOrderOfTheBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook(["title": "Title", "pageCount": 200])
        let inputs: [Value] = [
            ["text": "without 1"], ["text": "page 100", "page": 100],
            ["text": "10 %", "percent": 10], ["text": "seconds 90", "seconds": 90],
            ["text": "page 5", "page": 5], ["text": "75 %", "percent": 75],
            ["text": "50 %", "percent": 50], ["text": "page 201", "page": 201],
            ["text": "without 2"], ["text": "seconds 30", "seconds": 30],
        ]
        _ = try await reader.requireValue(
            Self.createMany,
            [
                "inputs": .list(
                    inputs.map { input in
                        guard case .object(let members) = input else { return input }
                        return .object(members + [.init("bookId", book)])
                    })
            ], "createNotes")
        let last = ["seconds 30", "seconds 90", "without 1", "without 2"]
        #expect(
            try await texts(reader, book)
                == ["page 5", "10 %", "page 100", "50 %", "75 %", "page 201"] + last)
        // The length of the audiobook is that of a read.
        _ = try await reader.execute(
            ReadTests.start,
            ["id": book, "input": ["finishedOn": "2019", "lengthSeconds": 100]])
        #expect(
            try await texts(reader, book) == [
                "page 5", "10 %", "seconds 30", "page 100", "50 %", "75 %", "seconds 90",
                "page 201", "without 1", "without 2",
            ])
        // Without the number of pages, the pages come after the positions with a known length.
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": book, "input": ["pageCount": .null]])
        #expect(
            try await texts(reader, book) == [
                "10 %", "seconds 30", "50 %", "75 %", "seconds 90", "page 5", "page 100",
                "page 201", "without 1", "without 2",
            ])
    }

    @Test func notesOfAllBooksAreListedByTime() async throws {
        let reader = try await Self.app().makeReader()
        let (first, second) = (try await reader.makeBook("A"), try await reader.makeBook("B"))
        _ = try await reader.requireValue(
            Self.createMany,
            [
                "inputs": [
                    ["bookId": first, "text": "2", "createdAt": "2020-01-02T00:00:00Z"],
                    [
                        "bookId": second, "text": "3", "createdAt": "2020-01-03T00:00:00Z",
                        "color": "RED",
                    ],
                    [
                        "bookId": first, "text": "1", "createdAt": "2020-01-01T00:00:00Z",
                        "color": "RED",
                    ], ["bookId": second, "text": "4"], ["bookId": first, "text": "5"],
                ]
            ], "createNotes")
        func texts(_ arguments: String) async throws -> [String] {
            let nodes = try await reader.requireValue(
                "{ me { notes(\(arguments)) { nodes { text } } } }", .null, "me", "notes", "nodes")
            return (nodes.list ?? []).compactMap { $0["text"]?.string }
        }
        #expect(try await texts("first: 10") == ["5", "4", "3", "2", "1"])
        #expect(try await texts("orderBy: CREATED_ASC, first: 3") == ["1", "2", "3"])
        #expect(try await texts("color: RED") == ["3", "1"])
        #expect(try await texts("color: GRAY") == [])
    }

    @Test func notesStayWhenABookChangesItsEdition() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        _ = try await reader.requireValue(
            Self.create, ["input": ["bookId": book, "text": "Kept"]], "createNote")
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let response = try await reader.execute(
            "mutation($id: ID!, $c: ID!) { updateBook(id: $id, input: {cardId: $c}) { notes { nodes { text } } } }",
            ["id": book, "c": card])
        #expect(response["updateBook", "notes", "nodes"] == [["text": "Kept"]])
    }

    @Test func undoneSwipeKeepsABookWithANote() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("LIKE", [card])
        let book = try await reader.requireValue(
            "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes", 0, "id")
        _ = try await reader.requireValue(
            Self.create, ["input": ["bookId": book, "text": "Kept"]], "createNote")
        _ = try await reader.execute(
            "mutation($id: ID!) { undoSwipe(input: {cardId: $id}) { card { id } } }", ["id": card])
        #expect(
            try await reader.requireValue("{ me { notes { nodes { text } } } }", .null, "me")
                == ["notes": ["nodes": [["text": "Kept"]]]])
    }
}
