import Foundation
import GraphQL
import Testing

/// Tests `graphql-tool batch`: its responses to invalid requests, and how it executes operations on
/// JSON values. Tests of the engine are in `Execution`.
@Suite struct BatchTests {
    static let validRequest = #"{"id":7,"op":"print","source":"{a}"}"#
    static let validResponse = #"{"id":7,"text":"{\n  a\n}"}"#

    @Test(
        arguments: [
            ("nope", "null", "JSON has an unexpected character at byte 1."),
            ("[1]", "null", "The request must be a JSON object."),
            ("{}", "null", #"The member \"op\" of the request must be a string."#),
            (#"{"id":1,"op":2}"#, "1", #"The member \"op\" of the request must be a string."#),
            (
                #"{"id":"a","op":"no"}"#, #""a""#,
                #"Unknown op \"no\": use parse, print, validate, introspect, execute, or execute-incrementally."#
            ),
            (
                #"{"id":[1],"op":"parse"}"#, "[1]",
                #"The member \"source\" of the request must be a string."#
            ),
            (
                #"{"op":"validate","source":"{a}"}"#, "null",
                #"The member \"schema\" of the request must be a string."#
            ),
            (
                #"{"op":"execute","schema":"type Query{a:Int}","source":"{a}","variables":[1]}"#,
                "null", #"The member \"variables\" of the request must be an object."#
            ),
            (
                #"{"op":"execute","schema":"type Query{a:Int}","source":"{a}","operationName":1}"#,
                "null", #"The member \"operationName\" of the request must be a string."#
            ),
            (
                #"{"op":"print","source":"{a}","source":"{b}"}"#, "null",
                #"JSON has the member \"source\" twice in one object at byte 29."#
            ),
        ])
    func reportsInvalidRequests(line: String, id: String, message: String) throws {
        let (lines, status) = try runBatch(to: Array("\(line)\r\n\n \n\(Self.validRequest)".utf8))
        #expect(status == 0)
        #expect(
            lines == [
                #"{"id":\#(id),"errors":[{"message":"\#(message)","locations":[]}]}"#,
                Self.validResponse,
            ])
    }

    /// A read error is not treated as the end of the input.
    @Test func reportsReadErrors() throws {
        let tool = Process()
        tool.executableURL = graphQLTool
        tool.arguments = ["batch"]
        let errors = Pipe()
        tool.standardInput = try FileHandle(forReadingFrom: URL(filePath: "/"))
        tool.standardError = errors
        try tool.run()
        let errorOutput = String(
            decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        tool.waitUntilExit()
        #expect(errorOutput == "graphql-tool: standard input cannot be read: Is a directory\n")
        #expect(tool.terminationStatus == 1)
    }

    /// Invalid UTF-8 is rejected instead of being repaired, which would change its meaning.
    @Test func rejectsInvalidUTF8() throws {
        let line =
            Array(#"{"op":"print","source":"{a}"#.utf8) + [0xFF, 0x0A]
            + Array(Self.validRequest.utf8)
        let (lines, status) = try runBatch(to: line)
        #expect(status == 0)
        #expect(
            lines == [
                #"{"id":null,"errors":[{"message":"JSON is not valid UTF-8 at byte 27.","locations":[]}]}"#,
                Self.validResponse,
            ])
    }

    @Test func acceptsLongLines() throws {
        let fields = String(repeating: "a ", count: 200_000)
        let line = #"{"op":"validate","schema":"type Query{a:Int}","source":"{\#(fields)}"}"#
        let (lines, status) = try runBatch(to: Array("\(line)\n\(Self.validRequest)\n".utf8))
        #expect(status == 0)
        #expect(lines == [#"{"id":null,"errors":[]}"#, Self.validResponse])
    }

    @Test func reportsAllExecutionErrors() throws {
        let items = Array(repeating: #"{"$error":"No."}"#, count: 250).joined(separator: ",")
        let line = #"""
            {"op":"execute","schema":"type Query{a:[Int]}","source":"{a}","root":{"a":[\#(items)]}}
            """#
        let response = try #require(try runBatch(to: Array(line.utf8)).lines.first)
        #expect(response.components(separatedBy: #""message":"No.""#).count == 251)
        #expect(response.contains(#""path":["a",249]"#))
    }

    private func execute(_ schema: String, _ root: String) throws -> [String] {
        func literal(_ text: String) -> String { jsonText(.string(text)) }
        let source = "{ f { __typename ... on A { x } } }"
        let line =
            #"{"op":"execute","schema":\#(literal(schema)),"source":\#(literal(source)),"root":\#(root)}"#
        return try runBatch(to: Array(line.utf8)).lines
    }

    /// The values of the root are converted to the type of their field like in graphql-js.
    @Test func serializesLeavesLikeGraphQLJS() throws {
        let accepted = [
            ("Int", "\"5\"", "5"), ("Int", "true", "1"), ("Int", "2.0", "2"),
            ("Float", "\"1.5\"", "1.5"),
            ("String", "1.5", "\"1.5\""), ("String", "true", "\"true\""), ("Boolean", "0", "false"),
            ("ID", "7", "\"7\""), ("Any", "{\"a\":[1]}", "{\"a\":[1]}"),
            ("Size", "\"LARGE\"", "\"LARGE\""),
        ]
        let rejected = [
            ("Int", "1.5", "Int cannot represent non-integer value: 1.5"),
            (
                "Int", "2147483648",
                "Int cannot represent non 32-bit signed integer value: 2147483648"
            ),
            ("Float", "\"x\"", "Float cannot represent non numeric value: \\\"x\\\""),
            ("String", "[]", "String cannot represent value: []"),
            ("Boolean", "\"x\"", "Boolean cannot represent a non boolean value: \\\"x\\\""),
            ("ID", "1.5", "ID cannot represent value: 1.5"),
            ("Size", "\"HUGE\"", "Enum \\\"Size\\\" cannot represent value: \\\"HUGE\\\""),
        ]
        let requests = (accepted + rejected).map { type, value, _ in
            #"{"op":"execute","schema":"type Query { f: \#(type) } scalar Any enum Size { SMALL LARGE }","#
                + #""source":"{ f }","root":{"f":\#(value)}}"#
        }
        let (lines, status) = try runBatch(to: Array(requests.joined(separator: "\n").utf8))
        #expect(status == 0)
        #expect(
            lines == accepted.map { #"{"id":null,"data":{"f":\#($0.2)}}"# }
                + rejected.map {
                    #"{"id":null,"data":{"f":null},"errors":[{"message":"\#($0.2)","#
                        + #""locations":[{"line":1,"column":3}],"path":["f"]}]}"#
                })
    }

    @Test(
        arguments: [
            (#"{"__typename":"A","x":1}"#, #"{"__typename":"A","x":1}"#, nil),
            (
                "{}", "null",
                #"must resolve to an Object type at runtime for field "Query.f": its value has no "__typename"."#
            ),
            (#"{"__typename":"U"}"#, "null", #"was resolved to a non-object type "U"."#),
            (
                #"{"__typename":"X"}"#, "null",
                #"was resolved to a type "X" that does not exist inside the schema."#
            ),
            (
                #"{"__typename":"Query"}"#, "null",
                #"Runtime Object type "Query" is not a possible type for "U"."#
            ),
        ] as [(String, String, String?)])
    func resolvesAbstractTypesByTypename(value: String, data: String, message: String?) throws {
        let lines = try execute(
            "type Query { f: U } union U = A | B type A { x: Int } type B { y: Int }",
            #"{"f":\#(value)}"#)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix(#"{"id":null,"data":{"f":\#(data)}"#) == true)
        if let message {
            #expect(lines.first?.contains(message.replacing("\"", with: "\\\"")) == true)
        } else {
            #expect(lines.first?.contains("errors") == false)
        }
    }

    /// The value `{"$args": true}` is replaced by the coerced arguments of its field.
    @Test func echoesCoercedArguments() throws {
        let line = #"""
            {"op":"execute","schema":"type Query { f(a: Int = 1, b: [Int]): String }","source":"{ f(b: 2) }",\#
            "root":{"f":{"$args":true}}}
            """#
        #expect(
            try runBatch(to: Array(line.utf8)).lines
                == [#"{"id":null,"data":{"f":"{\"a\":1,\"b\":[2]}"}}"#])
    }
}
