import GraphQL
import Testing

/// Tests how fields with the same response key are executed as one field. The specification calls
/// this MergeSelectionSets or CollectSubfields.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Value-Completion
@Suite struct MergeSelectionSetsTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query { book: Book books: [Book] item: Item }
                type Book { title: String rating(min: Int): String author: Author tags: [String] }
                type Author { name: String born: Int book: Book }
                union Item = Book | Author
                """))
    }

    @Test(arguments: [
        ExecutionCase(
            name: "the selection sets of an object are merged",
            source: "{ book { title } book { author { name } } }",
            root: #"{"book": {"title": "T", "author": {"name": "A"}}}"#,
            response: #"{"data": {"book": {"title": "T", "author": {"name": "A"}}}}"#),
        ExecutionCase(
            name: "selection sets are merged at every level",
            source: "{ book { author { name } } book { author { born } title } }",
            root: #"{"book": {"title": "T", "author": {"name": "A", "born": 1775}}}"#,
            response: """
                {"data": {"book": {"author": {"name": "A", "born": 1775}, "title": "T"}}}
                """),
        ExecutionCase(
            name: "the selection sets of a list are merged for each item",
            source: "{ books { title } ...F } fragment F on Query { books { author { name } } }",
            root: #"{"books": [{"title": "T", "author": {"name": "A"}}, {"title": "U"}]}"#,
            response: """
                {"data": {"books": [{"title": "T", "author": {"name": "A"}},
                                    {"title": "U", "author": null}]}}
                """),
        ExecutionCase(
            name: "fields with different response keys are not merged",
            source: "{ a: book { title } b: book { author { name } } }",
            root: #"{"book": {"title": "T", "author": {"name": "A"}}}"#,
            response: #"{"data": {"a": {"title": "T"}, "b": {"author": {"name": "A"}}}}"#),
        ExecutionCase(
            name:
                "selection sets in fragments on an abstract type are merged for the object's type",
            source: """
                { item { ... on Book { author { name } } ... on Author { author: book { title } }
                         ... on Book { author { born } } } }
                """,
            root: #"{"item": {"__typename": "Book", "author": {"name": "A", "born": 1775}}}"#,
            response: #"{"data": {"item": {"author": {"name": "A", "born": 1775}}}}"#),
        ExecutionCase(
            name: "fields are merged only where their conditions include them",
            source: "{ book { title } book @skip(if: true) { author { name } } }",
            root: #"{"book": {"title": "T", "author": {"name": "A"}}}"#,
            response: #"{"data": {"book": {"title": "T"}}}"#),
        ExecutionCase(
            name: "an error of a merged field has the locations of all its fields",
            source: """
                {
                  book { a: tags }
                  ...F
                }
                fragment F on Query { book { a: tags } }
                """,
            root: #"{"book": {"tags": {"$error": "No tags."}}}"#,
            response: """
                {"errors": [{
                    "message": "No tags.",
                    "locations": [{"line": 2, "column": 10}, {"line": 5, "column": 30}],
                    "path": ["book", "a"]
                 }],
                 "data": {"book": {"a": null}}}
                """),
    ])
    func mergesFieldsWithSameResponseKey(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test func mergedFieldIsResolvedOnce() async throws {
        let context = RecordingContext()
        _ = try await respond(
            to: "{ book { author { name } } book { author { born } rating(min: 1) } ...F } "
                + "fragment F on Query { book { rating(min: 1) } }",
            root: #"{"book": {"author": {}}}"#, schema: schema, loading: .properties,
            context: context)
        #expect(context.events == ["Query.book × 1", "Book.author × 1", "Book.rating × 1"])
    }
}
