import Testing

@testable import GraphQL

/// `@defer` and `@stream` are used where they are supported.
struct IncrementalDirectiveRulesTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                """
                type Query { book: Book books: [Book] }
                type Mutation { add: Book list: [Book] }
                type Subscription { changed: Book }
                type Book { title: String tags: [String] similar: [Book] }
                """), hasIncrementalDelivery: true)
    }

    private func errors(_ source: String) throws -> [String] {
        validate(try parse(Source(source)), against: schema).map(\.described)
    }

    @Test(arguments: [
        "{ book { ... @defer { title } } }",
        #"{ ...F @defer(label: "a", if: false) } fragment F on Query { books @stream(label: "b", initialCount: 1) { title } }"#,
        "mutation { add { ... @defer { title } similar @stream { title } } }",
        "subscription($d: Boolean!) { changed { ... @defer(if: $d) { title } tags @stream(if: false) } }",
        "{ books @stream(label: null) { title ...F } ... @defer(label: null) { b: books @stream { ...F } } } fragment F on Book { tags @stream }",
    ])
    func accepts(source: String) throws {
        #expect(try errors(source) == [])
    }

    @Test(
        arguments: [
            (
                "mutation { ... @defer { add { title } } list @stream { title } }",
                [
                    #"Defer directive cannot be used on root mutation type "Mutation". @1:16"#,
                    #"Stream directive cannot be used on root mutation type "Mutation". @1:46"#,
                ]
            ),
            (
                "subscription { changed { ... @defer { title } ...F } } fragment F on Book { tags @stream }",
                [
                    "Defer directive not supported on subscription operations. Disable `@defer` by setting the `if` argument to `false`. @1:30",
                    "Stream directive not supported on subscription operations. Disable `@stream` by setting the `if` argument to `false`. @1:82",
                ]
            ),
            (
                #"{ book { ... @defer(label: "a") { title } tags @stream(label: "a") } }"#,
                ["Defer/Stream directive label argument must be unique. @1:14 1:48"]
            ),
            (
                "query($l: String) { book { ... @defer(label: $l) { title } } }",
                ["Defer directive label argument must be a static string. @1:32"]
            ),
            (
                "{ book @stream { title } }",
                [
                    #"Stream directive cannot be used on non-list field "book" on type "Query". @1:8"#
                ]
            ),
            (
                "{ books { title } books @stream { title } }",
                [
                    #"Fields "books" conflict because they have overlapping stream directives. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:19"#
                ]
            ),
            (
                "{ books @stream(initialCount: 1) { title } books @stream { title } }",
                [
                    #"Fields "books" conflict because they have overlapping stream directives. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:44"#
                ]
            ),
            (
                "{ books @stream { title } ... @defer { books @stream { tags } } }",
                [
                    #"Fields "books" conflict because they have overlapping stream directives. See https://github.com/graphql/defer-stream-wg/discussions/100. Use different aliases on the fields to fetch both if this was intentional. @1:3 1:40"#
                ]
            ),
        ] as [(String, [String])])
    func rejects(source: String, expected: [String]) throws {
        #expect(try errors(source) == expected)
    }

    @Test func directivesAreUnknownWithoutIncrementalDelivery() throws {
        let schema = try buildSchema(Source("type Query { a: [Int] }"))
        let found = validate(
            try parse(Source("{ a @stream ... @defer { b: a } }")), against: schema)
        #expect(
            found.map(\.message) == [
                #"Unknown directive "@stream"."#, #"Unknown directive "@defer"."#,
            ])
    }
}
