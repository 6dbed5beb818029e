import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Undoing deletions: `restoreBook` and `User.deletedBooks`.
@Suite struct RestoreBookTests {
    static let app = Shared { try await TestApp.start() }

    static let restore = "mutation($id: ID!) { restoreBook(id: $id) { id title } }"
    static let delete = "mutation($id: ID!) { deleteBook(id: $id) { id } }"
    static let list = """
        query($first: Int, $after: String) { me { deletedBooks(first: $first, after: $after) {
          totalCount pageInfo { hasNextPage endCursor } nodes { bookId title authors { id name role bio } deletedAt restorableUntil }
        } } }
        """
    static let everything = """
        query($id: ID!) { book(id: $id) {
          id title author isbn13 publisher publishedDate pageCount language category genre description status
          currentPage shelves { id name } card { id } review { id rating stars text createdAt updatedAt }
          coverStatus image { url } addedAt updatedAt
          reads { nodes { id startedOn finishedOn outcome note updatedAt
            progressEntries { nodes { id at percent note updatedAt } } } }
          notes { nodes { id text comment chapter color page createdAt updatedAt } }
        } }
        """
    static let absent: Value = "0198c0de-0000-7000-8000-00000000dead"

    /// A book with everything that a book can have.
    private func makeFullBook(_ reader: TestReader, shelves: [Value]) async throws -> Value {
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook([
            "cardId": card, "status": "READ", "shelfIds": .list(shelves), "category": "Category",
            "publisher": "Own publisher", "publishedDate": "1965-08", "pageCount": 400,
            "language": "en", "description": "Own description",
        ])
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": book, "input": ["currentPage": 399]])
        try await reader.review(book, rating: 5, text: "Words")
        let read = try await reader.requireValue(
            ReadTests.start, ["id": book, "input": ["finishedOn": "2019-05", "note": "Read"]],
            "startRead", "id")
        _ = try await reader.requireValue(
            ProgressTests.log,
            ["inputs": [["readId": read, "percent": 40, "note": "Far"]]], "logProgress", 0, "entry")
        _ = try await reader.requireValue(
            NoteTests.create,
            [
                "input": [
                    "bookId": book, "text": "Quote", "comment": "Thought", "page": 7,
                    "color": "PINK", "chapter": "One",
                ]
            ], "createNote")
        let copy = try await reader.requireValue(
            CopyTests.create, ["input": ["bookId": book, "place": "Hall"]], "createCopy", "id")
        _ = try await reader.requireValue(
            CopyTests.lend, ["id": copy, "input": ["borrower": "Ada"]], "lendCopy")
        return book
    }

    private func delete(_ reader: TestReader, _ book: Value) async throws {
        let response = try await reader.execute(Self.delete, ["id": book])
        #expect(response.errors.isEmpty, "\(response.json)")
    }

    private func rows(_ reader: TestReader) async throws -> [String] {
        let id = reader.id.string ?? ""
        return try await reader.app.database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT to_jsonb(b)::text FROM books b WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(r)::text FROM reviews r WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(r)::text FROM reads r WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(p)::text FROM progress_entries p WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(n)::text FROM notes n WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(k)::text FROM book_copies k WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(c)::text FROM covers c WHERE user_id = '\(id)'
                UNION ALL SELECT to_jsonb(s)::text FROM shelf_books s WHERE user_id = '\(id)'
                ORDER BY 1
                """)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
    }

    // MARK: - Restoring

    /// All columns of the book, its review, its cover, and its shelves are restored, also those that are added to the schema later.
    @Test(arguments: ["deleteBook", "deleteBooks", "deleteShelf"])
    func restoreLosesNothing(mutation: String) async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let kept = try await reader.makeShelf("Kept")
        let book = try await makeFullBook(reader, shelves: [shelf, kept])
        _ = try await reader.setCover(
            "mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }",
            book, TestImage.png())
        let before = try await reader.requireValue(Self.everything, ["id": book], "book")
        let rowsBefore = try await rows(reader)
        switch mutation {
        case "deleteBook": try await delete(reader, book)
        case "deleteBooks":
            _ = try await reader.requireValue(
                BookBatchTests.delete, ["ids": [book]], "deleteBooks", 0, "id")
        default:
            _ = try await reader.requireValue(
                "mutation($id: ID!) { deleteShelf(id: $id, input: {books: DELETE}) { id } }",
                ["id": shelf], "deleteShelf")
        }
        #expect(try await rows(reader) == [])
        let restored = try await reader.execute(Self.restore, ["id": book])
        #expect(restored["restoreBook", "id"] == book, "\(restored.json)")
        if mutation == "deleteShelf" {
            // The shelf itself is gone.
            let shelves = try await reader.requireValue(
                Self.everything, ["id": book], "book", "shelves")
            #expect(shelves == [["id": kept, "name": "Kept"]])
            #expect(try await rows(reader).count == rowsBefore.count - 1)
        } else {
            #expect(try await reader.requireValue(Self.everything, ["id": book], "book") == before)
            #expect(try await rows(reader) == rowsBefore)
        }
        #expect(
            try await reader.requireValue(Self.list, .null, "me", "deletedBooks", "totalCount")
                == 0)
    }

    @Test func repeatedRestoreReturnsTheBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        #expect(try await reader.execute(Self.restore, ["id": book])["restoreBook", "id"] == book)
        try await delete(reader, book)
        for _ in 0..<2 {
            let response = try await reader.execute(Self.restore, ["id": book])
            #expect(response["restoreBook"] == ["id": book, "title": "Book"])
        }
    }

    @Test func unknownAndExpiredBooksAreNotFound() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        try await delete(reader, book)
        try await reader.app.database.execute(
            """
            UPDATE deleted_books SET deleted_at = now() - interval '30 days'
            WHERE user_id = '\(reader.id.string ?? "")'
            """)
        for id in [book, Self.absent, "not a UUID"] {
            let response = try await reader.execute(Self.restore, ["id": id])
            #expect(response.code == "NOT_FOUND")
            #expect(
                response.message == "No book with this ID was deleted in the last 30 days.")
        }
        #expect(
            try await reader.requireValue(Self.list, .null, "me", "deletedBooks", "nodes") == [])
    }

    @Test(arguments: ["isbn", "card"])
    func newerBookOfTheSameEditionConflicts(by key: String) async throws {
        let reader = try await Self.app().makeReader()
        let cards = try await reader.feedCards(2)
        let input: Value =
            key == "isbn"
            ? ["title": "Book", "isbn": "9780306406157"] : ["cardId": cards[1]["id"] ?? .null]
        let old = try await reader.makeBook(input)
        try await delete(reader, old)
        let new = try await reader.makeBook(input)
        let response = try await reader.execute(Self.restore, ["id": old])
        #expect(response.code == "CONFLICT")
        #expect(response.errors[0]["extensions", "id"] == new)
        // After the conflict is resolved, the book can still be restored.
        try await delete(reader, new)
        #expect(try await reader.execute(Self.restore, ["id": old])["restoreBook", "id"] == old)
    }

    /// Creating a book with the id of a deleted one starts afresh, and deleting that one replaces the deleted one.
    @Test func idOfADeletedBookCanBeUsedAgain() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("First")
        try await delete(reader, book)
        _ = try await reader.makeBook(["id": book, "title": "Second"])
        #expect(
            try await reader.requireValue(Self.list, .null, "me", "deletedBooks", "totalCount")
                == 0)
        #expect(
            try await reader.execute(Self.restore, ["id": book])["restoreBook", "title"]
                == "Second")
        try await delete(reader, book)
        #expect(
            try await reader.execute(Self.restore, ["id": book])["restoreBook", "title"]
                == "Second")
    }

    @Test func shelfCannotHaveTheIDOfADeletedBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book")
        try await delete(reader, book)
        let response = try await reader.execute(
            "mutation($id: ID!) { createShelf(input: {id: $id, name: \"S\"}) { id } }", ["id": book]
        )
        #expect(response.code == "CONFLICT" && response.field == "id")
    }

    /// A book whose edition was deleted from the catalog is restored without it.
    @Test func restoredBookSurvivesItsEdition() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        let book = try await reader.makeBook(["cardId": card, "title": "Own title"])
        try await delete(reader, book)
        try await app.database.execute("DELETE FROM editions WHERE id = '\(card.string ?? "")'")
        let response = try await reader.execute(
            "mutation($id: ID!) { restoreBook(id: $id) { title card { id } } }", ["id": book])
        #expect(response["restoreBook"] == ["title": "Own title", "card": .null])
    }

    // MARK: - Changes

    @Test func changeLogHasTheRestoredObjects() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let read = try await makeFullBook(reader, shelves: [shelf])
        let paused = try await reader.makeBook("Paused", status: "PAUSED")
        try await reader.review(paused)
        try await delete(reader, read)
        try await delete(reader, paused)
        let changes =
            "query($after: String) { changes(after: $after) { changes { kind typename } pageInfo { endCursor } } }"
        let cursor = try await reader.requireValue(
            changes, .null, "changes", "pageInfo", "endCursor")
        for book in [read, paused] {
            _ = try await reader.execute(Self.restore, ["id": book])
        }
        let log = try await reader.requireValue(changes, ["after": cursor], "changes", "changes")
        #expect(
            log == [
                ["kind": "CREATED", "typename": "Book"], ["kind": "CREATED", "typename": "Review"],
                ["kind": "CREATED", "typename": "Read"], ["kind": "CREATED", "typename": "Read"],
                ["kind": "CREATED", "typename": "ProgressEntry"],
                ["kind": "CREATED", "typename": "Note"],
                ["kind": "UPDATED", "typename": "Shelf"], ["kind": "CREATED", "typename": "Book"],
                ["kind": "CREATED", "typename": "Review"],
            ])
    }

    // MARK: - The list

    @Test func deletedBooksAreListedWithTheLatestFirst() async throws {
        let reader = try await Self.app().makeReader()
        let books = try await reader.makeBooks(3)
        for book in books { try await delete(reader, book) }
        let page = try await reader.requireValue(
            Self.list, ["first": 2], "me", "deletedBooks")
        #expect(page["totalCount"] == 3)
        #expect(page["nodes"]?.values(of: "bookId") == [books[2], books[1]])
        #expect(page["nodes"]?.values(of: "title") == ["Book 3", "Book 2"])
        let first = try #require(page["nodes", 0])
        let deleted = try #require(Instant(first["deletedAt"]?.string ?? ""))
        let until = try #require(Instant(first["restorableUntil"]?.string ?? ""))
        #expect(until.microseconds - deleted.microseconds == 30 * 86_400 * 1_000_000)
        let next = try await reader.requireValue(
            Self.list, ["first": 2, "after": page["pageInfo", "endCursor"] ?? .null], "me",
            "deletedBooks")
        #expect(next["nodes"]?.values(of: "bookId") == [books[0]])
        #expect(next["pageInfo", "hasNextPage"] == false)
    }

    @Test func authorsOfDeletedBooksAreThoseOfTheBook() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.requireValue(
            """
            mutation {
              createBook(input: {title: "Kokoro", authors: [
                {name: "Natsume Sōseki"}, {name: "Meredith McKinney", role: TRANSLATOR}
              ]}) { id authors { id name role bio } }
            }
            """, .null, "createBook")
        let without = try await reader.makeBook("Without authors")
        try await delete(reader, book["id"] ?? .null)
        try await delete(reader, without)
        let nodes = try await reader.requireValue(Self.list, .null, "me", "deletedBooks", "nodes")
        #expect(nodes.values(of: "authors") == [[], book["authors"] ?? .null])
        #expect(book["authors"]?.list?.count == 2)
    }

    @Test func otherReadersCannotSeeOrRestoreDeletedBooks() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        let book = try await reader.makeBook("Secret")
        try await delete(reader, book)
        let response = try await other.execute(Self.restore, ["id": book])
        #expect(response.code == "NOT_FOUND")
        #expect(
            try await other.requireValue(Self.list, .null, "me", "deletedBooks", "nodes") == [])
        #expect(try await reader.execute(Self.restore, ["id": book])["restoreBook", "id"] == book)
    }

    // MARK: - Concurrency and retention

    /// After concurrent deletions and restores, the book is either in the library or among the deleted books.
    @Test func concurrentDeletionsAndRestoresNeverLoseTheBook() async throws {
        let reader = try await Self.app().makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await makeFullBook(reader, shelves: [shelf])
        let rowsBefore = try await rows(reader)
        for _ in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for index in 0..<8 {
                    tasks.addTask {
                        let response = try await reader.execute(
                            index.isMultiple(of: 2) ? Self.delete : Self.restore, ["id": book])
                        #expect(response.errors.isEmpty, "\(response.json)")
                    }
                }
                try await tasks.waitForAll()
            }
            let listed = try await reader.requireValue(
                Self.list, .null, "me", "deletedBooks", "totalCount")
            let owned = try await reader.requireValue(
                "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
            #expect([listed, owned] == [0, 1] || [listed, owned] == [1, 0])
        }
        _ = try await reader.execute(Self.restore, ["id": book])
        #expect(try await rows(reader) == rowsBefore)
    }

    /// A transaction that fails after the deletion leaves the book as it was.
    @Test func failedTransactionDeletesNothing() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await makeFullBook(reader, shelves: [])
        let rowsBefore = try await rows(reader)
        let user = reader.id.string ?? ""
        try await reader.app.database.withConnection { connection in
            try connection.undoing {
                try connection.execute(
                    "SELECT * FROM delete_books('\(user)', ARRAY['\(book.string ?? "")']::uuid[])")
            }
        }
        #expect(try await rows(reader) == rowsBefore)
        #expect(
            try await reader.requireValue(Self.list, .null, "me", "deletedBooks", "totalCount")
                == 0)
    }

    @Test func expiredBooksArePurged() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let books = try await reader.makeBooks(3)
        for book in books { try await delete(reader, book) }
        try await app.database.execute(
            """
            UPDATE deleted_books SET deleted_at = now() - interval '31 days'
            WHERE id <> '\(books[2].string ?? "")'
            """)
        let worker = try await TestWorker.start(app.database, [PruneChanges()])
        try await waitUntil("the expired books are purged") {
            try await app.database.count("SELECT count(*) FROM deleted_books") == 1
        }
        await worker.stop()
        #expect(
            try await reader.execute(Self.restore, ["id": books[2]])["restoreBook", "id"]
                == books[2])
    }

    @Test func deletedBooksDisappearWithTheAccount() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await delete(reader, try await reader.makeBook("Book"))
        _ = try await reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id])
        #expect(try await app.database.count("SELECT count(*) FROM deleted_books") == 0)
    }
}
