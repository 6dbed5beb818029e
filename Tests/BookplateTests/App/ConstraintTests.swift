import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// What the database itself refuses, told as what a person can act on.
@Suite struct ConstraintTests {
    static let app = Shared { try await TestApp.start() }

    /// Limits of what a reader types are checks of the tables too, and each of them has its sentence.
    @Test func everyCheckOnAReadersWordsNamesItsField() async throws {
        let names = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT conname::text FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
                WHERE contype = 'c' AND t.relname IN ('shelves', 'books', 'reviews')
                """)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
        // Facts that come from the catalogue only.
        let ours: Set = ["books_page_count_check"]
        #expect(names.contains("books_title_check"))
        for name in names where !ours.contains(name) {
            let error = BookplateError.constraint(name)
            #expect(error?.field != nil, "\(name)")
            #expect(error?.message.hasSuffix(".") == true, "\(name)")
        }
    }

    /// Unique keys and references, too: each is told, or there is a reason why no input meets it.
    @Test func everyKeyOfALibraryIsToldOrCannotBeMet() async throws {
        var tables = Parameters()
        tables.append(texts: ["shelves", "books", "shelf_books", "reviews", "swipes", "imports"])
        let names = try await Self.app().database.withConnection {
            [parameters = tables] connection in
            let rows = try connection.query(
                """
                SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
                WHERE x.indisunique AND x.indrelid = ANY($1::text[]::regclass[])
                UNION ALL SELECT conname::text FROM pg_constraint
                WHERE contype = 'f' AND conrelid = ANY($1::text[]::regclass[])
                """, parameters)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
        let unreachable: Set = [
            // Written with ON CONFLICT: the same again is the same.
            "books_pkey", "shelf_books_pkey", "reviews_pkey", "swipes_pkey",
            // The server chooses these ids.
            "reviews_user_id_id_key", "imports_pkey",
            // Asked for in the statement that inserts.
            "imports_unfinished", "books_edition_id_fkey", "swipes_edition_id_fkey",
        ]
        #expect(Set(names).isSuperset(of: unreachable), "no name that is not there")
        for name in names where !unreachable.contains(name) && !name.hasSuffix("s_user_id_fkey") {
            let error = try #require(BookplateError.constraint(name), "\(name)")
            #expect(error.message.hasSuffix("."), "\(name)")
            if error.code == "CONFLICT" { #expect(error.field != nil, "\(name)") }
        }
    }

    @Test func anotherBooksISBNIsAConflictWithItsID() async throws {
        let reader = try await Self.app().makeReader()
        let first = try await reader.makeBook(["title": "A", "isbn": "9780306406157"])
        let second = try await reader.makeBook(["title": "B"])
        let card = try await reader.makeBook(["isbn": .string(TestCatalog.isbn(5))])
        let update =
            "mutation($id: ID!, $isbn: String) { updateBook(id: $id, input: {isbn: $isbn}) { id } }"
        for (isbn, other) in [("0-306-40615-2", first), (TestCatalog.isbn(5), card)] {
            let response = try await reader.execute(update, ["id": second, "isbn": .string(isbn)])
            #expect(response.code == "CONFLICT")
            #expect(response.errors.first?["extensions", "id"] == other)
            #expect(response.field == "isbn")
        }
        // Its own is none.
        let same = try await reader.execute(update, ["id": first, "isbn": "9780306406157"])
        #expect(same.errors.isEmpty)
    }

    @Test func aTakenNameIsAConflictWithTheShelfThatHasIt() async throws {
        let reader = try await Self.app().makeReader()
        let first = try await reader.makeShelf("Summer")
        let second = try await reader.makeShelf("Winter")
        let update = try await reader.execute(
            #"mutation($id: ID!) { updateShelf(id: $id, input: {name: " SUMMER "}) { id } }"#,
            ["id": second])
        #expect(update.code == "CONFLICT")
        #expect(update.errors.first?["extensions", "id"] == first)
        let create = try await reader.execute(
            #"mutation { createShelf(input: {name: "summer"}) { id } }"#)
        #expect(create.errors.first?["extensions", "id"] == first)
        #expect(create.field == "name" && update.field == "name")
        // In another case it is its own still.
        let own = try await reader.execute(
            #"mutation($id: ID!) { updateShelf(id: $id, input: {name: "SUMMER"}) { name } }"#,
            ["id": first])
        #expect(own["updateShelf", "name"] == "SUMMER")
    }

    /// A swipe that saves the book in the same moment takes no turn; whoever comes second is told of the other.
    @Test func aSwipeThatWasFasterIsAConflictWithItsBook() async throws {
        let app = try await Self.app()
        for _ in 0..<10 {
            let reader = try await app.makeReader()
            let card = try await reader.feedCards(1)[0]["id"] ?? .null
            async let swiped = reader.swipe("LIKE", [card])
            async let created = reader.execute(
                CreateBookTests.create, ["input": ["cardId": card, "title": "Mine"]])
            let (swipe, create) = try await (swiped, created)
            #expect(swipe.errors.isEmpty)
            let books = try await reader.requireValue(
                "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes")
            #expect(books.list?.count == 1)
            if create.code != nil {
                #expect(create.code == "CONFLICT")
                #expect(create.errors.first?["extensions", "id"] == books.list?[0]["id"])
            }
        }
    }
}
