import GraphQL
import Testing

/// Tests ExecuteQuery and ExecuteMutation: which fields are executed together, and which one after
/// the other.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Executing-Operations
@Suite struct ExecuteOperationTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query { book: Book author: Author }
                type Mutation { addBook: Book rename: Author! remove: Boolean }
                type Book { title: String author: Author }
                type Author { name: String book: Book }
                """))
    }

    private static let root = """
        {"book": {"title": "T", "author": {"name": "A"}}, "author": {"book": {"title": "U"}},
         "addBook": {"title": "T", "author": {"name": "A"}}, "rename": {"name": "B"}, "remove": true}
        """

    private func events(
        _ source: String, root: String = root, loading: JSONDataSource.Loading
    ) async throws -> [String] {
        let context = RecordingContext()
        _ = try await respond(
            to: source, root: root, schema: schema, loading: loading, context: context)
        return context.events
    }

    @Test(arguments: [
        ExecutionCase(
            name: "the root fields of a query",
            source: "{ author { book { title } } book { title } }",
            root: root,
            response: #"{"data": {"author": {"book": {"title": "U"}}, "book": {"title": "T"}}}"#),
        ExecutionCase(
            name: "the root fields of a mutation",
            source: "mutation { remove rename { name } book: addBook { title } }", root: root,
            response:
                #"{"data": {"remove": true, "rename": {"name": "B"}, "book": {"title": "T"}}}"#),
        ExecutionCase(
            name: "the root type of a mutation", source: "mutation { __typename remove }",
            root: root, response: #"{"data": {"__typename": "Mutation", "remove": true}}"#),
        ExecutionCase(
            name: "a root object without values", source: "{ book { title } author { name } }",
            response: #"{"data": {"book": null, "author": null}}"#),
    ])
    func executesSelectionSetOfRootType(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    /// All loads of a level share one flush, so the number of flushes is the depth of the query.
    @Test func queryExecutesFieldsLevelByLevel() async throws {
        let events = try await events(
            "{ book { title author { name } } author { book { title } } }", loading: .afterFlush)
        #expect(
            events == [
                "Query.book × 1", "Query.author × 1", "flush",
                "Book.title × 1", "Book.author × 1", "Author.book × 1", "flush",
                "Author.name × 1", "Book.title × 1", "flush",
            ])
    }

    @Test func mutationExecutesEachRootFieldWithItsSubfieldsBeforeTheNext() async throws {
        let events = try await events(
            "mutation { addBook { author { name } } rename { name } remove }", loading: .afterFlush)
        #expect(
            events == [
                "Mutation.addBook × 1", "flush", "Book.author × 1", "flush", "Author.name × 1",
                "flush",
                "Mutation.rename × 1", "flush", "Author.name × 1", "flush",
                "Mutation.remove × 1", "flush",
            ])
    }

    @Test func mutationWaitsForAsynchronousCalls() async throws {
        let events = try await events(
            "mutation { remove addBook { title } }", loading: .call)
        #expect(
            events == [
                "Mutation.remove × 1", "call Mutation.remove",
                "Mutation.addBook × 1", "call Mutation.addBook", "Book.title × 1",
                "call Book.title",
            ])
    }

    /// The specification allows canceling the remaining fields, but does not require it.
    @Test func mutationContinuesAfterAnErrorThatMakesItsDataNull() async throws {
        let root = #"{"rename": {"$error": "No."}, "remove": true}"#
        let source = "mutation { rename { name } remove }"
        #expect(
            try await events(source, root: root, loading: .call) == [
                "Mutation.rename × 1", "call Mutation.rename",
                "Mutation.remove × 1", "call Mutation.remove",
            ])
        try await ExecutionCase(
            name: "", source: source, root: root,
            response: """
                {"errors": [{"message": "No.", "locations": [{"line": 1, "column": 12}], "path": ["rename"]}],
                 "data": null}
                """
        ).check(against: schema)
    }
}
