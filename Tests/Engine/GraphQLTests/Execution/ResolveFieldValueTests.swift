import GraphQL
import Testing

/// Tests how resolvers are called. The specification's ResolveFieldValue resolves one field of one
/// object. This engine resolves a field for all objects of a level at once.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Value-Resolution
@Suite struct ResolveFieldValueTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query { book: Book books: [Book] items: [Item] }
                type Book { title: String length(unit: String): Int author: Author similar: [Book] }
                type Author { name: String books: [Book] }
                union Item = Book | Author
                """))
    }

    private func events(
        _ source: String, root: String, loading: JSONDataSource.Loading
    ) async throws -> [String] {
        let context = RecordingContext()
        _ = try await respond(
            to: source, root: root, schema: schema, loading: loading, context: context)
        return context.events
    }

    private static let books = """
        {"books": [{"title": "T", "author": {"name": "A"}}, {"title": "U", "author": {"name": "B"}},
                   {"title": "V"}]}
        """

    @Test(arguments: [
        ExecutionCase(
            name: "the values of a field belong to the parents in order",
            source: "{ books { title author { name } } }", root: books,
            response: """
                {"data": {"books": [{"title": "T", "author": {"name": "A"}},
                                    {"title": "U", "author": {"name": "B"}},
                                    {"title": "V", "author": null}]}}
                """),
        ExecutionCase(
            name: "the items of lists belong to the parents in order",
            source: "{ books { similar { title } } }",
            root: """
                {"books": [{"similar": [{"title": "A"}, null]}, {"similar": []}, {},
                           {"similar": [{"title": "B"}]}]}
                """,
            response: """
                {"data": {"books": [{"similar": [{"title": "A"}, null]}, {"similar": []},
                                    {"similar": null}, {"similar": [{"title": "B"}]}]}}
                """),
        ExecutionCase(
            name: "the error of one parent does not affect the others",
            source: "{ books { title } }",
            root: #"{"books": [{"title": "T"}, {"title": {"$error": "No."}}, {"title": "V"}]}"#,
            response: """
                {"errors": [{"message": "No.", "locations": [{"line": 1, "column": 11}],
                             "path": ["books", 1, "title"]}],
                 "data": {"books": [{"title": "T"}, {"title": null}, {"title": "V"}]}}
                """),
        ExecutionCase(
            name: "a resolver gets the arguments of its own field",
            source: "{ book { a: length(unit: \"cm\") b: length(unit: null) c: length } }",
            root: #"{"book": {"length": {"$arguments": true}}}"#,
            response: """
                {"data": {"book": {"a": "{\\"unit\\":\\"cm\\"}", "b": "{\\"unit\\":null}", "c": "{}"}}}
                """),
    ])
    func resolvesFieldForEveryParent(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test func loaderIsStartedOnceForAllObjectsOfALevel() async throws {
        #expect(
            try await events(
                "{ books { title author { name } } }", root: Self.books, loading: .afterFlush) == [
                    "Query.books × 1", "flush", "Book.title × 3", "Book.author × 3", "flush",
                    "Author.name × 2", "flush",
                ])
    }

    @Test func objectsOfDifferentTypesAreSeparateBatches() async throws {
        #expect(
            try await events(
                "{ items { ... on Book { author { name } } ... on Author { name } } }",
                root: """
                    {"items": [{"__typename": "Book", "author": {}}, {"__typename": "Author"},
                               {"__typename": "Book", "author": {}}]}
                    """, loading: .afterFlush) == [
                    "Query.items × 1", "flush", "Book.author × 2", "Author.name × 1", "flush",
                    "Author.name × 2", "flush",
                ])
    }

    @Test func fieldsOfMissingObjectsAreNotLoaded() async throws {
        #expect(
            try await events(
                "{ book { author { name } } books { title } }",
                root: #"{"book": {"author": null}, "books": []}"#, loading: .afterFlush) == [
                    "Query.book × 1", "Query.books × 1", "flush", "Book.author × 1", "flush",
                ])
    }

    @Test func propertiesAreNotLoaded() async throws {
        #expect(
            try await events(
                "{ books { title author { name } } }", root: Self.books, loading: .properties) == [
                    "Query.books × 1", "Book.author × 3",
                ])
    }

    /// A load that is finished immediately needs no flush, and neither do the loads below it.
    @Test func contextIsFlushedOnlyIfALoadNeedsIt() async throws {
        let events = try await events(
            "{ books { author { name } } }", root: Self.books, loading: .immediate)
        #expect(events == ["Query.books × 1", "Book.author × 3", "Author.name × 2"])
    }

    @Test func asynchronousLoadsRunOneAfterTheOther() async throws {
        #expect(
            try await events(
                "{ book { title } books { title } }", root: #"{"book": {}, "books": [{}]}"#,
                loading: .call) == [
                    "Query.book × 1", "call Query.book", "Query.books × 1", "call Query.books",
                    "Book.title × 1", "call Book.title", "Book.title × 1", "call Book.title",
                ])
    }

    /// The fields of the book are started with a placeholder and share its flush. The list needs
    /// the loaded book, so it is started again after the flush.
    @Test func speculativeLoadsShareTheFlushOfTheirParent() async throws {
        #expect(
            try await events(
                "{ book { title author { name } similar { title } } }",
                root: #"{"book": {"title": "T", "author": {"name": "A"}, "similar": [{}, {}]}}"#,
                loading: .speculative) == [
                    "Query.book × 1", "Book.title × 1", "Book.author × 1", "Author.name × 1",
                    "Book.similar × 1", "flush", "Book.similar × 1", "flush", "Book.title × 2",
                    "flush",
                ])
    }

    @Test func speculativeLoadsOfMissingObjectsAreDropped() async throws {
        try await ExecutionCase(
            name: "", source: "{ book { title author { name } similar { title } } }",
            response: #"{"data": {"book": null}}"#
        ).check(against: schema)
        #expect(
            try await events(
                "{ book { title similar { title } } }", root: "{}", loading: .speculative) == [
                    "Query.book × 1", "Book.title × 1", "Book.similar × 1", "flush",
                ])
    }
}
