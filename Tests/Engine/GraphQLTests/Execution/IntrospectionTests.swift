import GraphQL
import Testing

/// Tests `__typename`, `__schema`, and `__type`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Introspection
@Suite struct IntrospectionTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                #"""
                "The schema."
                schema { query: Root subscription: Events }
                "Where \"queries\" start."
                type Root { book(id: ID!, size: Size = SMALL, old: Int @deprecated): Book named: Named }
                type Events { changed: Book }
                interface Node { id: ID! }
                interface Named implements Node { id: ID! name: String }
                type Book implements Node & Named {
                  id: ID! "The name." name: String oldName: String @deprecated(reason: "Use name.")
                  tags: [[String!]!] items: [Item]
                }
                union Item = Book | Events
                enum Size { SMALL LARGE @deprecated }
                input Filter { size: Size! = LARGE "Words." text: [String] old: Int @deprecated(reason: "No.") }
                input Pick @oneOf { id: ID name: String }
                scalar Date @specifiedBy(url: "https://example.com/date")
                directive @mark(note: String = "a \"b\"", old: Int @deprecated) repeatable on FIELD | QUERY
                """#))
    }

    @Test(arguments: [
        ExecutionCase(
            name: "the root operation types",
            source: """
                { __schema { description queryType { name description } mutationType { name }
                             subscriptionType { name } } }
                """,
            response: """
                {"data": {"__schema": {
                    "description": "The schema.",
                    "queryType": {"name": "Root", "description": "Where \\"queries\\" start."},
                    "mutationType": null, "subscriptionType": {"name": "Events"}}}}
                """),
        ExecutionCase(
            name: "a type that does not exist is null",
            source: "{ __type(name: \"Nothing\") { name } }",
            response: #"{"data": {"__type": null}}"#),
        ExecutionCase(
            name: "a type can be selected by a variable",
            source: "query ($t: String!) { t: __type(name: $t) { __typename kind name } }",
            variables: #"{"t": "Item"}"#,
            response: #"{"data": {"t": {"__typename": "__Type", "kind": "UNION", "name": "Item"}}}"#
        ),
        ExecutionCase(
            name: "__typename of the root and of an object",
            source: "{ __typename book(id: 1) { type: __typename } }", root: #"{"book": {}}"#,
            response: #"{"data": {"__typename": "Root", "book": {"type": "Book"}}}"#),
        ExecutionCase(
            name: "introspection can be combined with other fields",
            source: "{ __type(name: \"Date\") { name } book(id: 1) { name } }",
            root: #"{"book": {"name": "N"}}"#,
            response: #"{"data": {"__type": {"name": "Date"}, "book": {"name": "N"}}}"#),
    ])
    func resolvesMetaFields(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    /// The members of `__Type` that have a value depend on the kind of the type.
    @Test(
        arguments: [
            (
                "Date",
                """
                {"kind": "SCALAR", "specifiedByURL": "https://example.com/date", "fields": null, "interfaces": null,
                 "possibleTypes": null, "enumValues": null, "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Int",
                """
                {"kind": "SCALAR", "specifiedByURL": null, "fields": null, "interfaces": null,
                 "possibleTypes": null, "enumValues": null, "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Book",
                """
                {"kind": "OBJECT", "specifiedByURL": null,
                 "fields": [{"name": "id"}, {"name": "name"}, {"name": "tags"}, {"name": "items"}],
                 "interfaces": [{"name": "Node"}, {"name": "Named"}],
                 "possibleTypes": null, "enumValues": null, "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Named",
                """
                {"kind": "INTERFACE", "specifiedByURL": null, "fields": [{"name": "id"}, {"name": "name"}],
                 "interfaces": [{"name": "Node"}], "possibleTypes": [{"name": "Book"}],
                 "enumValues": null, "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Item",
                """
                {"kind": "UNION", "specifiedByURL": null, "fields": null, "interfaces": null,
                 "possibleTypes": [{"name": "Book"}, {"name": "Events"}],
                 "enumValues": null, "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Size",
                """
                {"kind": "ENUM", "specifiedByURL": null, "fields": null, "interfaces": null,
                 "possibleTypes": null, "enumValues": [{"name": "SMALL"}],
                 "inputFields": null, "isOneOf": null, "ofType": null}
                """
            ),
            (
                "Filter",
                """
                {"kind": "INPUT_OBJECT", "specifiedByURL": null, "fields": null, "interfaces": null,
                 "possibleTypes": null, "enumValues": null,
                 "inputFields": [{"name": "size"}, {"name": "text"}], "isOneOf": false, "ofType": null}
                """
            ),
            (
                "Pick",
                """
                {"kind": "INPUT_OBJECT", "specifiedByURL": null, "fields": null, "interfaces": null,
                 "possibleTypes": null, "enumValues": null,
                 "inputFields": [{"name": "id"}, {"name": "name"}], "isOneOf": true, "ofType": null}
                """
            ),
        ])
    func describesTypesByKind(name: String, expected: String) async throws {
        try await ExecutionCase(
            name: name,
            source: """
                { __type(name: "\(name)") {
                  kind specifiedByURL fields { name } interfaces { name } possibleTypes { name }
                  enumValues { name } inputFields { name } isOneOf ofType { name }
                } }
                """,
            response: #"{"data": {"__type": \#(expected)}}"#
        ).check(against: schema)
    }

    @Test(arguments: [
        ExecutionCase(
            name: "wrapping types have no name, and ofType removes one wrapper",
            source: """
                { __type(name: "Book") { fields { name type { kind name ofType { kind name ofType {
                  kind ofType { kind name ofType { kind name } } } } } } } }
                """,
            response: """
                {"data": {"__type": {"fields": [
                    {"name": "id", "type": {"kind": "NON_NULL", "name": null, "ofType":
                        {"kind": "SCALAR", "name": "ID", "ofType": null}}},
                    {"name": "name", "type": {"kind": "SCALAR", "name": "String", "ofType": null}},
                    {"name": "tags", "type": {"kind": "LIST", "name": null, "ofType":
                        {"kind": "NON_NULL", "name": null, "ofType": {"kind": "LIST", "ofType":
                            {"kind": "NON_NULL", "name": null, "ofType":
                                {"kind": "SCALAR", "name": "String"}}}}}},
                    {"name": "items", "type": {"kind": "LIST", "name": null, "ofType":
                        {"kind": "UNION", "name": "Item", "ofType": null}}}
                ]}}}
                """),
        ExecutionCase(
            name: "deprecated fields and enum values are included on request",
            source: """
                { a: __type(name: "Book") { fields(includeDeprecated: true) {
                    name description isDeprecated deprecationReason } }
                  b: __type(name: "Size") { enumValues(includeDeprecated: true) {
                    name isDeprecated deprecationReason } } }
                """,
            response: """
                {"data": {
                    "a": {"fields": [
                        {"name": "id", "description": null, "isDeprecated": false, "deprecationReason": null},
                        {"name": "name", "description": "The name.", "isDeprecated": false,
                         "deprecationReason": null},
                        {"name": "oldName", "description": null, "isDeprecated": true,
                         "deprecationReason": "Use name."},
                        {"name": "tags", "description": null, "isDeprecated": false, "deprecationReason": null},
                        {"name": "items", "description": null, "isDeprecated": false, "deprecationReason": null}
                    ]},
                    "b": {"enumValues": [
                        {"name": "SMALL", "isDeprecated": false, "deprecationReason": null},
                        {"name": "LARGE", "isDeprecated": true, "deprecationReason": "No longer supported"}
                    ]}}}
                """),
        ExecutionCase(
            name: "arguments have their types and default values",
            source: """
                { __type(name: "Root") { fields { name
                  args { name defaultValue type { kind name } }
                  all: args(includeDeprecated: true) { name isDeprecated } } } }
                """,
            response: """
                {"data": {"__type": {"fields": [
                    {"name": "book", "args": [
                        {"name": "id", "defaultValue": null, "type": {"kind": "NON_NULL", "name": null}},
                        {"name": "size", "defaultValue": "SMALL", "type": {"kind": "ENUM", "name": "Size"}}
                     ], "all": [
                        {"name": "id", "isDeprecated": false}, {"name": "size", "isDeprecated": false},
                        {"name": "old", "isDeprecated": true}
                     ]},
                    {"name": "named", "args": [], "all": []}
                ]}}}
                """),
        ExecutionCase(
            name: "input fields have their types and default values",
            source: """
                { __type(name: "Filter") { inputFields(includeDeprecated: true) {
                  name description defaultValue type { kind } isDeprecated deprecationReason } } }
                """,
            response: """
                {"data": {"__type": {"inputFields": [
                    {"name": "size", "description": null, "defaultValue": "LARGE", "type": {"kind": "NON_NULL"},
                     "isDeprecated": false, "deprecationReason": null},
                    {"name": "text", "description": "Words.", "defaultValue": null, "type": {"kind": "LIST"},
                     "isDeprecated": false, "deprecationReason": null},
                    {"name": "old", "description": null, "defaultValue": null, "type": {"kind": "SCALAR"},
                     "isDeprecated": true, "deprecationReason": "No."}
                ]}}}
                """),
    ])
    func describesMembers(_ test: ExecutionCase) async throws {
        try await test.check(against: schema)
    }

    @Test func describesDirectives() async throws {
        let response = try await respond(
            to: """
                { __schema { directives { name isRepeatable locations
                  args(includeDeprecated: true) { name defaultValue isDeprecated } } } }
                """, schema: schema)
        let directives = try json(response)["data"]?["__schema"]?["directives"]?.list ?? []
        let names = directives.compactMap { $0["name"]?.string }
        #expect(
            names.sorted() == ["deprecated", "include", "mark", "oneOf", "skip", "specifiedBy"])
        let mark = try #require(directives.first { $0["name"] == .string("mark") })
        let expected = #"""
            {"name": "mark", "isRepeatable": true, "locations": ["FIELD", "QUERY"], "args": [
                {"name": "note", "defaultValue": "\"a \\\"b\\\"\"", "isDeprecated": false},
                {"name": "old", "defaultValue": null, "isDeprecated": true}
            ]}
            """#
        #expect(jsonText(mark) == jsonText(try json(expected)))
    }

    /// The list contains the built-in scalars and the introspection types too.
    @Test func listsEveryType() async throws {
        let response = try await respond(to: "{ __schema { types { name } } }", schema: schema)
        let types = try json(response)["data"]?["__schema"]?["types"]?.list ?? []
        #expect(
            types.compactMap { $0["name"]?.string }.sorted() == [
                "Book", "Boolean", "Date", "Events", "Filter", "ID", "Int", "Item", "Named", "Node",
                "Pick", "Root", "Size", "String", "__Directive", "__DirectiveLocation",
                "__EnumValue",
                "__Field", "__InputValue", "__Schema", "__Type", "__TypeKind",
            ])
    }

    @Test func executesTheStandardIntrospectionQuery() async throws {
        let response = try json(try await respond(to: introspectionQuery, schema: schema))
        #expect(response["errors"] == nil)
        #expect(
            response["data"]?["__schema"]?["queryType"]
                == (try json(#"{"name": "Root", "kind": "OBJECT"}"#)))
    }
}
