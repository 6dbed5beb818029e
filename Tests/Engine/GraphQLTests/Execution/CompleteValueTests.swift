import GraphQL
import Testing

/// Tests CompleteValue: lists, non-null types, leaves, and abstract types.
///
/// Spec: https://spec.graphql.org/September2025/#CompleteValue()
@Suite struct CompleteValueTests {
    /// Executes `{ f }` on a schema in which the field has the given type.
    private func check(
        type: String, value: String, data: String, errors: String? = nil,
        at location: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        let schema = try buildSchema(
            Source("type Query { f: \(type) } enum Size { SMALL LARGE } scalar Any"))
        let errors = errors.map { #""errors": \#($0),"# } ?? ""
        try await ExecutionCase(
            name: "", source: "{ f }", root: #"{"f": \#(value)}"#,
            response: #"{\#(errors) "data": \#(data)}"#
        ).check(against: schema, at: location)
    }

    @Test(arguments: [
        ("Int", "5"), ("Int", "-2147483648"), ("Int", "null"), ("Float", "0.1"), ("Float", "1e21"),
        ("String", #""é\"\n""#), ("Boolean", "false"), ("ID", #""1""#), ("Size", #""LARGE""#),
        ("Any", #"{"a": [1, {"b": null}]}"#), ("Int!", "0"),
        ("[Int]", "[]"), ("[Int]", "[1, null, 3]"), ("[Int]", "null"), ("[Int]!", "[1, 2, null]"),
        ("[Int!]", "null"), ("[Int!]", "[1, 2]"),
        ("[[Int]]", "[[1], [], null, [null, 2]]"), ("[[Int!]!]!", "[[1], []]"),
        ("[[[String]]]", #"[[["a"], null], null]"#),
    ])
    func completesValuesOfTheType(type: String, value: String) async throws {
        try await check(type: type, value: value, data: #"{"f": \#(value)}"#)
    }

    /// The table of the specification, and the same for nested lists. The last argument is the path
    /// of the error.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Combining-List-and-Non-Null
    @Test(
        arguments: [
            ("[Int]!", "null", "null", #"["f"]"#),
            ("[Int!]", "[1, 2, null]", #"{"f": null}"#, #"["f", 2]"#),
            ("[Int!]!", "null", "null", #"["f"]"#),
            ("[Int!]!", "[1, 2, null]", "null", #"["f", 2]"#),
            ("[[Int!]]", "[[1], [2, null], null]", #"{"f": [[1], null, null]}"#, #"["f", 1, 1]"#),
            ("[[Int]!]", "[[null], null]", #"{"f": null}"#, #"["f", 1]"#),
            ("[[Int!]!]", "[[1], [null]]", #"{"f": null}"#, #"["f", 1, 0]"#),
            (
                "[[[Int!]!]]", "[[[1]], [[2], [null]]]", #"{"f": [[[1]], null]}"#,
                #"["f", 1, 1, 0]"#
            ),
        ])
    func nullItemsPropagateToTheNearestNullableList(
        type: String, value: String, data: String, path: String
    ) async throws {
        try await check(
            type: type, value: value, data: data,
            errors: """
                [{"message": "Cannot return null for non-nullable field Query.f.",
                  "locations": [{"line": 1, "column": 3}], "path": \(path)}]
                """)
    }

    @Test(
        arguments: [
            ("Int", #"{"$error": "No."}"#, #"{"f": null}"#, #"["f"]"#),
            ("Int!", #"{"$error": "No."}"#, "null", #"["f"]"#),
            ("[Int]", #"[1, {"$error": "No."}, 3]"#, #"{"f": [1, null, 3]}"#, #"["f", 1]"#),
            ("[Int!]", #"[1, {"$error": "No."}, 3]"#, #"{"f": null}"#, #"["f", 1]"#),
            ("[Int!]!", #"[1, {"$error": "No."}, 3]"#, "null", #"["f", 1]"#),
            (
                "[[Int!]]", #"[[1], [{"$error": "No."}], [3]]"#, #"{"f": [[1], null, [3]]}"#,
                #"["f", 1, 0]"#
            ),
        ])
    func valuesThatCannotBeCoercedAreErrors(
        type: String, value: String, data: String, path: String
    ) async throws {
        try await check(
            type: type, value: value, data: data,
            errors: """
                [{"message": "No.", "locations": [{"line": 1, "column": 3}], "path": \(path)}]
                """)
    }

    @Test func valueOfAListTypeMustBeAList() async throws {
        try await check(
            type: "[Int]", value: "1", data: #"{"f": null}"#,
            errors: """
                [{"message": "The value is not a list.", "locations": [{"line": 1, "column": 3}],
                  "path": ["f"]}]
                """)
    }

    /// Tests more nested lists than a 64-bit word has bits.
    @Test(arguments: [1, 63, 64, 65, 70])
    func nullPropagatesInDeeplyNestedLists(depth: Int) async throws {
        func nested(_ inside: String, in count: Int) -> String {
            String(repeating: "[", count: count) + inside + String(repeating: "]", count: count)
        }
        let indices = Array(repeating: ", 0", count: depth).joined()
        try await check(
            type: nested("Int!", in: depth), value: nested("null", in: depth),
            data: #"{"f": \#(nested("null", in: depth - 1))}"#,
            errors: """
                [{"message": "Cannot return null for non-nullable field Query.f.",
                  "locations": [{"line": 1, "column": 3}], "path": ["f"\(indices)]}]
                """)
    }

    // MARK: - Objects

    private static let objects = """
        type Query { item: Item items: [Item] sure: Item! named: Named book: Book }
        interface Named { name: String }
        type Book implements Named { name: String title: String! author: Author }
        type Author implements Named { name: String book: Book }
        union Item = Book | Author
        """

    @Test(arguments: [
        ExecutionCase(
            name: "a value of a union has the fields of its object type",
            source: "{ items { __typename ... on Book { title } ... on Author { name } } }",
            root: """
                {"items": [{"__typename": "Author", "name": "A"}, null,
                           {"__typename": "Book", "title": "T"}]}
                """,
            response: """
                {"data": {"items": [{"__typename": "Author", "name": "A"}, null,
                                    {"__typename": "Book", "title": "T"}]}}
                """),
        ExecutionCase(
            name: "a value of an interface has the fields of its object type",
            source:
                "{ named { name ... on Book { author { name ... on Named { __typename } } } } }",
            root: #"{"named": {"__typename": "Book", "name": "N", "author": {"name": "A"}}}"#,
            response: """
                {"data": {"named": {"name": "N", "author": {"name": "A", "__typename": "Author"}}}}
                """),
        ExecutionCase(
            name: "null has no object type", source: "{ item { __typename } named { name } }",
            response: #"{"data": {"item": null, "named": null}}"#),
        ExecutionCase(
            name: "a value without a possible type is an error",
            source: "{ items { __typename } sure { __typename } }",
            root:
                #"{"items": [{"__typename": "Query"}, {"__typename": "Book"}], "sure": {"__typename": "Book"}}"#,
            response: """
                {"errors": [{"message": "The value has no possible type of Item.",
                             "locations": [{"line": 1, "column": 3}], "path": ["items", 0]}],
                 "data": {"items": [null, {"__typename": "Book"}], "sure": {"__typename": "Book"}}}
                """),
        ExecutionCase(
            name: "an error of a non-nullable abstract value makes its parent null",
            source: "{ sure { __typename } }", root: #"{"sure": {}}"#,
            response: """
                {"errors": [{"message": "The value has no possible type of Item.",
                             "locations": [{"line": 1, "column": 3}], "path": ["sure"]}],
                 "data": null}
                """),
        ExecutionCase(
            name: "an object of which all fields are skipped is empty",
            source: "{ book { title @skip(if: true) } }", root: #"{"book": {}}"#,
            response: #"{"data": {"book": {}}}"#),
        ExecutionCase(
            name: "an object type is executed with its own selection set",
            source: "{ book { author { book { title } } } }",
            root: #"{"book": {"author": {"book": {"title": "T"}}}}"#,
            response: #"{"data": {"book": {"author": {"book": {"title": "T"}}}}}"#),
    ])
    func completesObjects(_ test: ExecutionCase) async throws {
        try await test.check(against: try buildSchema(Source(Self.objects)))
    }
}
