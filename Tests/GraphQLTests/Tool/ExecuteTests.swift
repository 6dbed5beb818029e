import GraphQL
import Testing

/// Operations that `graphql-tool` executes on JSON. The responses are compared as text, including
/// the order of keys.
@Suite struct ExecuteTests {
    static let schema = """
        type Query {
          book: Book sure: Book! books: [Book] sureBooks: [Book!]! item: Item items: [Item]
          grid: [[Int!]]! echo(int: Int = 3, list: [[Int]], pick: Pick, filter: Filter): String
          must(not: Int!): String
        }
        type Mutation { first: Book second: Book }
        interface Named { name: String }
        type Book implements Named { name: String title: String! author: Author pages: Int tags: [String!] }
        type Author implements Named { name: String! friend: Author }
        union Item = Book | Author
        input Pick @oneOf { id: ID name: String }
        input Filter { limit: Int! = 5 text: String }
        """

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let source: String
        var root = "{}"
        var variables = "{}"
        var operationName: String?
        /// The text after `{"id":null,`.
        let response: String

        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "keys are in the order of first appearance, with fragments expanded",
            source: """
                { book { pages ...F name ... on Named { tags: name } title } }
                fragment F on Book { title author { name } pages }
                """,
            root: #"{"book":{"name":"N","title":"T","pages":2,"author":{"name":"A"}}}"#,
            response:
                #""data":{"book":{"pages":2,"title":"T","author":{"name":"A"},"name":"N","tags":"N"}}}"#
        ),
        Case(
            name: "selections with the same key are merged",
            source: "{ book { author { name } } book { author { friend { name } } } }",
            root: #"{"book":{"author":{"name":"A","friend":{"name":"B"}}}}"#,
            response: #""data":{"book":{"author":{"name":"A","friend":{"name":"B"}}}}}"#),
        Case(
            name: "skip and include are combined",
            source: """
                query ($t: Boolean!, $f: Boolean!) {
                  a: __typename @include(if: $t) @skip(if: $t) b: __typename @include(if: $t) @skip(if: $f)
                  c: __typename @include(if: $f) @skip(if: $f) ... @skip(if: $t) { d: __typename }
                }
                """,
            variables: #"{"t":true,"f":false}"#, response: #""data":{"b":"Query"}}"#),
        Case(
            name: "null propagates to the nearest nullable ancestor",
            source:
                "{ a: book { title } b: books { title } c: sureBooks { author { friend { name } } } }",
            root: """
                {"book":{"title":null},"books":[{"title":"T"},{}],
                 "sureBooks":[{"author":{"friend":{"name":{"$error":"No."}}}},{"author":null}]}
                """,
            response:
                #""data":{"a":null,"b":[{"title":"T"},null],"c":[{"author":{"friend":null}},{"author":null}]},"#
                + #""errors":[{"message":"Cannot return null for non-nullable field Book.title.","#
                + #""locations":[{"line":1,"column":13}],"path":["a","title"]},"#
                + #"{"message":"Cannot return null for non-nullable field Book.title.","#
                + #""locations":[{"line":1,"column":32}],"path":["b",1,"title"]},"#
                + #"{"message":"No.","locations":[{"line":1,"column":73}],"path":["c",0,"author","friend","name"]}]}"#
        ),
        Case(
            name: "null at the root makes data null",
            source: "{ book { name } sure { title } }", root: #"{"book":{"name":"N"},"sure":{}}"#,
            response:
                #""data":null,"errors":[{"message":"Cannot return null for non-nullable field Book.title.","#
                + #""locations":[{"line":1,"column":24}],"path":["sure","title"]}]}"#),
        Case(
            name: "null propagates out of nested lists",
            source: "{ grid }", root: #"{"grid":[[1,2],[3,null],null]}"#,
            response: #""data":{"grid":[[1,2],null,null]},"errors":[{"message":"#
                + #""Cannot return null for non-nullable field Query.grid.","#
                + #""locations":[{"line":1,"column":3}],"path":["grid",1,1]}]}"#),
        Case(
            name: "an abstract value has the fields of its concrete type",
            source:
                "{ items { __typename ... on Named { name } ... on Book { title } } item { ... on Author { name } } }",
            root: """
                {"items":[{"__typename":"Book","name":"N","title":"T"},{"__typename":"Author","name":"A"},null],
                 "item":{"__typename":"Book"}}
                """,
            response: #""data":{"items":[{"__typename":"Book","name":"N","title":"T"},"#
                + #"{"__typename":"Author","name":"A"},null],"item":{}}}"#),
        Case(
            name: "root fields of a mutation are in order",
            source: "mutation { b: second { name } a: first { name } }",
            root: #"{"first":{"name":"1"},"second":{"name":"2"}}"#,
            response: #""data":{"b":{"name":"2"},"a":{"name":"1"}}}"#),
        Case(
            name:
                "absent arguments have defaults, null ones are null, absent variables count as absent",
            source: """
                query ($no: Int, $null: Int) {
                  a: echo b: echo(int: null) c: echo(int: $no) d: echo(int: $null) e: echo(list: [[$no, 1]])
                  f: echo(filter: {text: "x"}) g: echo(list: 1)
                }
                """,
            root: #"{"echo":{"$args":true}}"#, variables: #"{"null":null}"#,
            response:
                #""data":{"a":"{\"int\":3}","b":"{\"int\":null}","c":"{\"int\":3}","d":"{\"int\":null}","#
                + #""e":"{\"int\":3,\"list\":[[null,1]]}","f":"{\"int\":3,\"filter\":{\"limit\":5,\"text\":\"x\"}}","#
                + #""g":"{\"int\":3,\"list\":[[1]]}"}}"#),
        Case(
            name: "a single value is coerced to nested lists",
            source: "query ($l: [[Int]], $i: Int = 4) { a: echo(list: $l) b: echo(int: $i) }",
            root: #"{"echo":{"$args":true}}"#, variables: #"{"l":[1,[2,null]],"other":1}"#,
            response: #""data":{"a":"{\"int\":3,\"list\":[[1],[2,null]]}","b":"{\"int\":4}"}}"#),
        Case(
            name: "an argument that cannot be coerced is a field error at the argument",
            source: """
                query ($s: Int = 1) { a: echo(int: 1) b: echo(filter: {limit: $s}) c: must(not: $s) }
                """,
            root: #"{"echo":{"$args":true},"must":{"$args":true}}"#, variables: #"{"s":null}"#,
            response:
                #""data":{"a":"{\"int\":1}","b":null,"c":null},"errors":["#
                + #"{"message":"Argument \"filter\" has invalid value {limit: $s}.","#
                + #""locations":[{"line":1,"column":55}],"path":["b"]},"#
                + #"{"message":"Argument \"not\" of non-null type \"Int!\" must not be null.","#
                + #""locations":[{"line":1,"column":81}],"path":["c"]}]}"#),
        Case(
            name: "the condition of skip must not be null",
            source: "query ($s: Boolean = true) { __typename @skip(if: $s) }",
            variables: #"{"s":null}"#,
            response:
                #""errors":[{"message":"Argument \"if\" of non-null type \"Boolean!\" must not be null.","#
                + #""locations":[{"line":1,"column":51}]}]}"#),
        Case(
            name: "include is not evaluated after skip, in either order",
            source: """
                query ($s: Boolean = true) {
                  a: __typename @include(if: $s) @skip(if: true) b: __typename @skip(if: true) @include(if: $s)
                  c: __typename
                }
                """,
            variables: #"{"s":null}"#, response: #""data":{"c":"Query"}}"#),
        Case(
            name: "conditions of other operations may be null",
            source: """
                query A($s: Int) { echo(int: $s) } query B($s: Boolean!) { __typename @skip(if: $s) }
                """,
            root: #"{"echo":{"$args":true}}"#, variables: #"{"s":null}"#, operationName: "A",
            response: #""data":{"echo":"{\"int\":null}"}}"#),
        Case(
            name: "variable errors have locations and prevent the execution",
            source:
                "query ($l: [[Int]], $p: Pick, $f: Filter) { a: echo(list: $l, pick: $p, filter: $f) }",
            variables:
                #"{"l":[[1],[2,"3"]],"p":{"id":"1","name":null},"f":{"limit":null,"txt":""}}"#,
            response:
                #""errors":[{"message":"Variable \"$l\" got invalid value \"3\" at \"l[1][1]\"; "#
                + #"Int cannot represent non-integer value: \"3\"","locations":[{"line":1,"column":8}]},"#
                + #"{"message":"Variable \"$p\" got invalid value { id: \"1\", name: null }; "#
                + #"Exactly one key must be specified for OneOf type \"Pick\".","locations":[{"line":1,"column":21}]},"#
                + #"{"message":"Variable \"$f\" got invalid value null at \"f.limit\"; "#
                + #"Expected non-nullable type \"Int!\" not to be null.","locations":[{"line":1,"column":31}]},"#
                + #"{"message":"Variable \"$f\" got invalid value { limit: null, txt: \"\" }; "#
                + #"Field \"txt\" is not defined by type \"Filter\". Did you mean \"text\"?","#
                + #""locations":[{"line":1,"column":31}]}]}"#),
    ]

    @Test(arguments: cases)
    func returnsExpectedResult(_ test: Case) throws {
        func json(_ text: String) throws -> Value { try parseJSON(Array(text.utf8)) }
        let request = Value.object([
            .init("op", .string("execute")), .init("schema", .string(Self.schema)),
            .init("source", .string(test.source)), .init("root", try json(test.root)),
            .init("variables", try json(test.variables)),
            .init("operationName", test.operationName.map { .string($0) } ?? .null),
        ])
        let (lines, status) = try runBatch(to: [request], stackKilobytes: 512)
        #expect(status == 0)
        #expect(lines == [#"{"id":null,"# + test.response])
    }

    /// Tests more nested lists than a 64-bit word has bits.
    @Test func nullInDeepListPropagatesToNearestNullableList() throws {
        func nested(_ inside: String, in count: Int) -> String {
            String(repeating: "[", count: count) + inside + String(repeating: "]", count: count)
        }
        let request = #"""
            {"op":"execute","schema":"type Query { a: \#(nested("Int!", in: 70)) }","source":"{ a }",\#
            "root":{"a":\#(nested("null", in: 70))}}
            """#
        let (lines, status) = try runBatch(to: Array(request.utf8))
        #expect(status == 0)
        #expect(
            lines.first?.hasPrefix(#"{"id":null,"data":{"a":\#(nested("null", in: 69))},"#) == true)
    }
}
