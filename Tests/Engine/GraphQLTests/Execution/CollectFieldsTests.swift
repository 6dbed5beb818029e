import GraphQL
import GraphQLServing
import Testing

/// Tests CollectFields and DoesFragmentTypeApply.
///
/// Spec: https://spec.graphql.org/September2025/#CollectFields()
@Suite struct CollectFieldsTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query {
                  a: String b: String c: String echo(int: Int): String
                  book: Book named: Named item: Item items: [Item]
                }
                interface Named { name: String }
                type Book implements Named { name: String title: String author: Author }
                type Author implements Named { name: String books: [Book] }
                type Magazine { issue: Int }
                union Item = Book | Author | Magazine
                union Printed = Book | Magazine
                """))
    }

    @Test(arguments: [
        ExecutionCase(
            name: "fields have the order of the selection set", source: "{ c a b }",
            root: #"{"a": "A", "b": "B", "c": "C"}"#,
            response: #"{"data": {"c": "C", "a": "A", "b": "B"}}"#),
        ExecutionCase(
            name: "the response key is the alias", source: "{ b: a a c: a }", root: #"{"a": "A"}"#,
            response: #"{"data": {"b": "A", "a": "A", "c": "A"}}"#),
        ExecutionCase(
            name: "a repeated response key keeps its first position", source: "{ a b a c b }",
            root: #"{"a": "A", "b": "B", "c": "C"}"#,
            response: #"{"data": {"a": "A", "b": "B", "c": "C"}}"#),
        ExecutionCase(
            name: "the fields of a fragment take the position of its spread",
            source: "{ c ...F a } fragment F on Query { ...G b } fragment G on Query { a }",
            root: #"{"a": "A", "b": "B", "c": "C"}"#,
            response: #"{"data": {"c": "C", "a": "A", "b": "B"}}"#),
        ExecutionCase(
            name: "a fragment that is spread twice is collected once",
            source: "{ ...F c ...F } fragment F on Query { b }", root: #"{"b": "B", "c": "C"}"#,
            response: #"{"data": {"b": "B", "c": "C"}}"#),
        ExecutionCase(
            name: "an inline fragment without type condition applies to every type",
            source: "{ book { ... { title } name } }",
            root: #"{"book": {"name": "N", "title": "T"}}"#,
            response: #"{"data": {"book": {"title": "T", "name": "N"}}}"#),
        ExecutionCase(
            name: "fields, fragments, and inline fragments are collected in one order",
            source: """
                { book { author { name } ...F name ... on Named { alias: name } title } }
                fragment F on Book { title author { name } name }
                """,
            root: #"{"book": {"name": "N", "title": "T", "author": {"name": "A"}}}"#,
            response: """
                {"data": {"book": {"author": {"name": "A"}, "title": "T", "name": "N", "alias": "N"}}}
                """),
    ])
    func keepsOrderOfFirstAppearance(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test(arguments: [
        ExecutionCase(
            name: "a condition on an object type applies to that type only",
            source: "{ items { ... on Book { title } ... on Author { name } } }",
            root: """
                {"items": [{"__typename": "Book", "name": "N", "title": "T"},
                           {"__typename": "Author", "name": "A"}]}
                """,
            response: #"{"data": {"items": [{"title": "T"}, {"name": "A"}]}}"#),
        ExecutionCase(
            name: "a condition on an interface applies to the types that implement it",
            source: "{ items { ... on Named { name } } }",
            root: """
                {"items": [{"__typename": "Book", "name": "N"}, {"__typename": "Magazine", "issue": 1},
                           {"__typename": "Author", "name": "A"}]}
                """,
            response: #"{"data": {"items": [{"name": "N"}, {}, {"name": "A"}]}}"#),
        ExecutionCase(
            name: "a condition on a union applies to its members",
            source: "{ items { ...F } } fragment F on Printed { __typename }",
            root:
                #"{"items": [{"__typename": "Book"}, {"__typename": "Author"}, {"__typename": "Magazine"}]}"#,
            response:
                #"{"data": {"items": [{"__typename": "Book"}, {}, {"__typename": "Magazine"}]}}"#
        ),
        ExecutionCase(
            name: "conditions are checked at every level of nested fragments",
            source: "{ named { ... on Item { ... on Book { title } ... on Author { name } } } }",
            root: #"{"named": {"__typename": "Book", "title": "T", "name": "N"}}"#,
            response: #"{"data": {"named": {"title": "T"}}}"#),
        ExecutionCase(
            name: "an object without applicable fields is empty",
            source: "{ item { ... on Author { name } } }",
            root: #"{"item": {"__typename": "Book", "name": "N"}}"#,
            response: #"{"data": {"item": {}}}"#),
        ExecutionCase(
            name: "__typename is the name of the object type",
            source: "{ __typename items { __typename } }",
            root: #"{"items": [{"__typename": "Author"}, {"__typename": "Book"}]}"#,
            response: """
                {"data": {"__typename": "Query",
                          "items": [{"__typename": "Author"}, {"__typename": "Book"}]}}
                """),
    ])
    func appliesTypeConditions(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    /// A selection is collected if it is included and not skipped.
    @Test(
        arguments: [
            ("@skip(if: false)", true), ("@skip(if: true)", false),
            ("@include(if: true)", true), ("@include(if: false)", false),
            ("@skip(if: false) @include(if: true)", true),
            ("@skip(if: false) @include(if: false)", false),
            ("@skip(if: true) @include(if: true)", false),
            ("@include(if: true) @skip(if: true)", false),
            ("@include(if: true) @skip(if: false)", true),
            ("@skip(if: $no)", true), ("@skip(if: $yes)", false), ("@include(if: $default)", true),
        ],
        [
            "b DIRECTIVES", "...F DIRECTIVES", "... DIRECTIVES { b }",
            "... on Query DIRECTIVES { ... { b } }",
        ])
    func evaluatesSkipAndInclude(
        directives: (text: String, areIncluding: Bool), selection: String
    ) async throws {
        let selection = selection.replacing("DIRECTIVES", with: directives.text)
        // The skipped selection uses the fragment and every variable, so the document is valid.
        try await ExecutionCase(
            name: "",
            source: """
                query ($yes: Boolean!, $no: Boolean!, $default: Boolean = true) {
                  a \(selection) ... @skip(if: true) { ...F ...Variables }
                }
                fragment F on Query { b }
                fragment Variables on Query {
                  x: a @skip(if: $yes) y: a @skip(if: $no) z: a @skip(if: $default)
                }
                """,
            root: #"{"a": "A", "b": "B"}"#, variables: #"{"yes": true, "no": false}"#,
            response: directives.areIncluding
                ? #"{"data": {"a": "A", "b": "B"}}"# : #"{"data": {"a": "A"}}"#
        ).check(against: schema)
    }

    /// A document is cached with one plan for each combination of condition values.
    @Test func conditionsBelongToTheRequest() async throws {
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .immediate),
            limits: RequestLimits(), errorCodes: .apollo)
        let source = "query ($x: Boolean!, $y: Boolean!) { a @include(if: $x) b @skip(if: $y) }"
        let document = try await cache.document(Array(source.utf8))
        for (x, y, expected) in [
            (true, true, #"{"data":{"a":"A"}}"#), (false, false, #"{"data":{"b":"B"}}"#),
            (true, false, #"{"data":{"a":"A","b":"B"}}"#), (false, true, #"{"data":{}}"#),
            (true, true, #"{"data":{"a":"A"}}"#),
        ] {
            let given = Value.object([.init("x", .boolean(x)), .init("y", .boolean(y))])
            let (plan, variables, _) = try await document.plan(operationName: nil, variables: given)
            let root = JSONBatch([try json(#"{"a": "A", "b": "B"}"#)], selection: plan.root)
            let result = await execute(
                plan, variables: variables, root: root, context: RecordingContext())
            #expect(String(decoding: result.body, as: UTF8.self) == expected)
        }
    }

    @Test(arguments: [
        ExecutionCase(
            name: "a condition must not be null",
            source: "query ($s: Boolean = true) { a @skip(if: $s) }", variables: #"{"s": null}"#,
            response: """
                {"errors": [{
                    "message": "Argument \\"if\\" of non-null type \\"Boolean!\\" must not be null.",
                    "locations": [{"line": 1, "column": 42}],
                    "extensions": {"code": "BAD_USER_INPUT"}
                }]}
                """),
        ExecutionCase(
            name: "include is not evaluated after skip, in either order",
            source: """
                query ($s: Boolean = true) {
                  a @include(if: $s) @skip(if: true) b @skip(if: true) @include(if: $s) c
                }
                """,
            root: #"{"c": "C"}"#, variables: #"{"s": null}"#, response: #"{"data": {"c": "C"}}"#),
        ExecutionCase(
            name: "conditions in skipped selections are not evaluated",
            source: "query ($s: Boolean = true) { c ... @skip(if: true) { a @skip(if: $s) } }",
            root: #"{"c": "C"}"#, variables: #"{"s": null}"#, response: #"{"data": {"c": "C"}}"#),
        ExecutionCase(
            name: "the conditions of other operations are not evaluated",
            source: """
                query A($s: Int) { echo(int: $s) } query B($s: Boolean!) { a @skip(if: $s) }
                """,
            root: #"{"echo": {"$arguments": true}}"#, variables: #"{"s": null}"#,
            operationName: "A", response: #"{"data": {"echo": "{\"int\":null}"}}"#),
    ])
    func evaluatesConditionsOnlyWhereNeeded(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }
}
