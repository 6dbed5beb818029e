import GraphQL
import Testing

@testable import GraphQLPostgres

@Suite struct UnionStatementTests {
    /// Returns the selection of the only root field.
    private static func selection(_ text: String) async throws -> PlannedSelection {
        try await Library.plan(text).plan.root.fields[0].selected.selections[0]
    }

    @Test func singlePartIsAPlainSelect() async throws {
        let selection = try await Self.selection(#"{ book(id: "1") { title pageCount title } }"#)
        var union = UnionStatement()
        _ = union.add(bookType, selection, from: "books b WHERE b.id = $2")
        #expect(union.partColumn == nil)
        #expect(union.sql == "SELECT b.title, b.page_count FROM books b WHERE b.id = $2")
    }

    @Test func partsShareColumnsOfEqualFormat() async throws {
        let selection = try await Self.selection(
            #"{ book(id: "1") { title pageCount tags review { text id } } }"#)
        var union = UnionStatement()
        _ = union.add(bookType, selection, from: "books b WHERE b.id = $2")
        _ = union.add(
            reviewType, selection.fields[3].selected.selections[0],
            from: "reviews r WHERE r.book_id = $2")
        // The columns are title/text, page count, tags, the book's id/the review's id, and the part.
        #expect(union.partColumn == 4)
        #expect(
            union.sql == """
                (SELECT (b.title)::text, (b.page_count)::int8, (b.tags)::text[], (b.id)::uuid, \
                0 FROM books b WHERE b.id = $2) \
                UNION ALL \
                (SELECT (r.text)::text, (NULL)::int8, (NULL)::text[], (r.id)::uuid, \
                1 FROM reviews r WHERE r.book_id = $2)
                """)
    }

    @Test func laterPartsAddColumnsThatEarlierPartsSelectAsNull() async throws {
        let selection = try await Self.selection(
            #"{ author(id: "1") { books { rating addedAt title } } }"#)
        var union = UnionStatement()
        _ = union.add(authorType, selection, from: "authors a")
        _ = union.add(bookType, selection.fields[0].selected.selections[0], from: "books b")
        #expect(
            union.sql == """
                (SELECT (a.id)::uuid, (NULL)::float8, (NULL)::timestamptz, (NULL)::text, 0 FROM authors a) \
                UNION ALL \
                (SELECT (NULL)::uuid, (b.rating)::float8, (b.added_at)::timestamptz, (b.title)::text, 1 FROM books b)
                """)
    }

    @Test func onlyRelationsByTheParentsIDArePartOfItsStatement() async throws {
        let selection = try await Self.selection(
            #"{ book(id: "1") { title author { name } review { text } } }"#)
        var union = UnionStatement()
        _ = union.add(bookType, selection, from: "books b WHERE b.id = $2")
        _ = UnionRelations(of: bookType, selection, in: &union)
        #expect(
            union.sql == """
                (SELECT (b.title)::text, (b.author_id)::uuid, (b.id)::uuid, 0 \
                FROM books b WHERE b.id = $2) \
                UNION ALL \
                (SELECT (r.text)::text, (NULL)::uuid, (NULL)::uuid, 1 \
                FROM reviews r WHERE r.user_id = $1 AND r.book_id = $2)
                """)
    }

    @Test func connectionIsNotPartOfItsParentsStatement() async throws {
        let selection = try await Self.selection(
            #"{ author(id: "1") { name bookPages { totalCount } } }"#)
        var union = UnionStatement()
        _ = union.add(authorType, selection, from: "authors a WHERE a.id = $2")
        _ = UnionRelations(of: authorType, selection, in: &union)
        #expect(union.sql == "SELECT a.name, a.id FROM authors a WHERE a.id = $2")
    }
}
