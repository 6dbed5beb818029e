import GraphQL
import GraphQLServing
import Testing

/// Tests the format of responses, byte by byte.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Response
@Suite struct ResponseFormatTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            Source(
                "scalar Any type Query { a: Any b: Any book(id: Int! = 1): Book } type Book { title: String! }"
            ))
    }

    @Test func responseWithoutErrorsHasOnlyData() async throws {
        #expect(
            try await respond(to: "{ a b }", root: #"{"a": 1}"#, schema: schema)
                == #"{"data":{"a":1,"b":null}}"#)
    }

    /// The order helps people who read the response.
    @Test func errorsPrecedeData() async throws {
        #expect(
            try await respond(
                to: "{\n  a\n  b\n}", root: #"{"b": {"$error": "No."}}"#, schema: schema)
                == #"{"errors":[{"message":"No.","locations":[{"line":3,"column":3}],"path":["b"]}],"#
                + #""data":{"a":null,"b":null}}"#)
    }

    /// Only an operation that was executed has data, which can be null.
    @Test func requestErrorHasNoData() async throws {
        #expect(
            try await respond(to: "query ($x: Int!) { book(id: $x) { title } }", schema: schema)
                == #"{"errors":[{"message":"Variable \"$x\" of required type \"Int!\" was not provided.","#
                + #""locations":[{"line":1,"column":8}],"extensions":{"code":"BAD_USER_INPUT"}}]}"#)
    }

    @Test func errorMembersHaveAFixedOrderAndAreOmittedIfEmpty() {
        func body(_ error: GraphQLError) -> String {
            String(decoding: RequestErrors([error]).body, as: UTF8.self)
        }
        #expect(body(GraphQLError("No.")) == #"{"errors":[{"message":"No."}]}"#)
        #expect(
            body(GraphQLError("No.", path: [])) == #"{"errors":[{"message":"No.","path":[]}]}"#)
        #expect(
            body(
                GraphQLError(
                    "\"No.\"",
                    locations: [
                        GraphQL.SourceLocation(line: 1, column: 2),
                        GraphQL.SourceLocation(line: 3, column: 4),
                    ],
                    path: [.key("a"), .index(0), .key("b")],
                    extensions: [.init("code", .string("C")), .init("limits", .list([.int(1)]))]))
                == #"{"errors":[{"message":"\"No.\"","#
                + #""locations":[{"line":1,"column":2},{"line":3,"column":4}],"path":["a",0,"b"],"#
                + #""extensions":{"code":"C","limits":[1]}}]}"#)
    }

    @Test func resultSeparatesDataAndErrors() async throws {
        let cache = DocumentCache(
            schema: schema, resolvers: JSONDataSource(schema: schema, loading: .immediate),
            limits: RequestLimits(), errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array("{ a b }".utf8))
            .plan(operationName: nil, variables: .null)
        for (root, data, messages) in [
            (#"{"a": 1}"#, #"{"a":1,"b":null}"#, []),
            (#"{"b": {"$error": "No."}}"#, #"{"a":null,"b":null}"#, ["No."]),
        ] {
            let result = await execute(
                plan, variables: variables, root: JSONBatch([try json(root)], selection: plan.root),
                context: RecordingContext())
            #expect(String(decoding: result.data, as: UTF8.self) == data)
            #expect(result.errors.map(\.message) == messages)
        }
    }

    @Test(arguments: [
        (Value.string(""), #""""#), (.string("a/é😀\u{2028}"), #""a/é😀\#u{2028}""#),
        (.string("\" \\ \n \r \t"), #""\" \\ \n \r \t""#),
        (.string("\u{0}\u{8}\u{C}\u{1F}\u{7F}"), "\"\\u0000\\u0008\\u000c\\u001f\u{7F}\""),
        (.int(.min), "-9223372036854775808"), (.int(0), "0"),
        (.bigInt("123456789012345678901234567890"), "123456789012345678901234567890"),
        (.float(1), "1"), (.float(-0.5), "-0.5"), (.float(0.1), "0.1"), (.float(1e21), "1e+21"),
        (.float(.nan), "null"), (.float(.infinity), "null"), (.boolean(true), "true"),
        (.null, "null"),
        (.list([]), "[]"), (.object([]), "{}"),
        (.list([.null, .list([.int(1)]), .object([.init("a", .int(2))])]), #"[null,[1],{"a":2}]"#),
        (.object([.init("b", .list([])), .init("a\"", .null)]), #"{"b":[],"a\"":null}"#),
    ])
    func valuesAreSerializedAsJSON(value: Value, expected: String) {
        #expect(jsonText(value) == expected)
    }
}
