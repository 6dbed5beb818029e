import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Messages for violated constraints of the database.
@Suite struct ConstraintTests {
    static let app = Shared { try await TestApp.start() }

    /// Each check constraint on text that users type has a message.
    @Test func everyCheckConstraintHasAMessageWithItsField() async throws {
        let names = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT c.conname::text
                FROM pg_constraint c
                LEFT JOIN pg_class t ON t.oid = c.conrelid
                LEFT JOIN pg_type d ON d.oid = c.contypid
                WHERE c.contype = 'c'
                    AND (
                        t.relname IN ('shelves', 'books', 'reviews', 'reads', 'progress_entries', 'notes', 'book_copies')
                        OR d.typname ~ '^(book|read|progress|partial|note)_'
                    )
                """)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
        // Columns whose values come only from the catalog or from imports.
        let uneditedChecks: Set = [
            "books_page_count_check", "books_moods_check", "books_original_year_check",
            // Statements and imports keep these.
            "book_copies_loan_check", "book_copies_past_loans_check",
        ]
        #expect(names.contains("books_title_check"))
        for name in names where !uneditedChecks.contains(name) {
            let error = violableConstraints[name]
            #expect(error?.field != nil, "\(name)")
            #expect(error?.message.hasSuffix(".") == true, "\(name)")
        }
    }

    /// Deleting a row deletes or updates the rows that refer to it. Without an index, that reads their whole table.
    @Test func everyCascadeHasAnIndex() async throws {
        let names = try await Self.app().database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT k.conname::text
                FROM pg_constraint k
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
                WHERE k.contype = 'f'
                    AND k.confdeltype IN ('c', 'n')
                    AND NOT EXISTS (
                        SELECT
                        FROM pg_index i
                        WHERE i.indrelid = k.conrelid
                            AND i.indkey[0] = k.conkey[1]
                            AND (
                                i.indpred IS NULL
                                OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)
                            )
                    )
                """)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
        }
        // A table of a few thousand rows, whose genres are not deleted.
        #expect(names == ["genre_aliases_genre_id_fkey"])
    }

    /// Each unique or foreign key has a message, or input cannot violate it.
    @Test func everyKeyHasAMessageOrCannotBeViolated() async throws {
        var tables = Parameters()
        tables.append(texts: [
            "shelves", "books", "shelf_books", "reviews", "reads", "progress_entries", "notes",
            "book_copies", "swipes",
            "imports",
        ])
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
            // Inserted with ON CONFLICT.
            "books_pkey", "shelf_books_pkey", "reviews_pkey", "swipes_pkey",
            // Checked before the row is inserted, in the same transaction.
            "reads_pkey", "progress_entries_pkey", "notes_pkey", "book_copies_pkey",
            // The server generates these IDs.
            "reviews_user_id_id_key", "imports_pkey",
            // Checked by the statement that inserts.
            "imports_unfinished", "books_edition_id_fkey", "swipes_edition_id_fkey",
        ]
        #expect(Set(names).isSuperset(of: unreachable), "a name in `unreachable` does not exist")
        for name in names where !unreachable.contains(name) && !name.hasSuffix("s_user_id_fkey") {
            let error = try #require(violableConstraints[name], "\(name)")
            #expect(error.message.hasSuffix("."), "\(name)")
            if error.code == "CONFLICT" { #expect(error.field != nil, "\(name)") }
        }
    }

    @Test func isbnOfAnotherBookIsAConflictWithItsID() async throws {
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
        // Setting its own ISBN again is not a conflict.
        let same = try await reader.execute(update, ["id": first, "isbn": "9780306406157"])
        #expect(same.errors.isEmpty)
    }

    @Test func nameOfAnotherShelfIsAConflictWithItsID() async throws {
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
        // Changing the case of its own name is not a conflict.
        let own = try await reader.execute(
            #"mutation($id: ID!) { updateShelf(id: $id, input: {name: "SUMMER"}) { name } }"#,
            ["id": first])
        #expect(own["updateShelf", "name"] == "SUMMER")
    }

    /// A swipe can save the same book concurrently, because it does not lock the user. The second request gets the ID of the
    /// first one's book.
    @Test func bookSavedByAConcurrentSwipeIsAConflict() async throws {
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
