import GraphQL
import Testing

/// Tests that nesting does not use the thread's stack, even in a debug build with its large stack
/// frames.
@Suite struct SmallStackTests {
    static let stackKilobytes = 256

    private static func nested(_ open: String, _ inside: String, _ close: String, _ count: Int)
        -> String
    {
        String(repeating: open, count: count) + inside + String(repeating: close, count: count)
    }

    private static func schema(listDepth: Int) -> String {
        """
        type Query { a(v: V, l: \(nested("[", "Int", "]", listDepth)), r: R): Query i: I x: Int }
        interface I { i: I } type O implements I { i: I }
        input R { r: R l: [R] } scalar V
        """
    }

    /// Valid documents with the maximum nesting depth, by the kind of nesting.
    static let deepest: [(name: String, source: String, listDepth: Int)] = [
        ("fields", "{ " + nested("a { ", "x", " }", 199) + " }", 1),
        (
            "fields twice",
            "{ " + nested("a { ", "x", " }", 199) + nested("a { ", "x", " }", 199) + " }", 1
        ),
        ("inline fragments", "{ " + nested("... { ", "x", " }", 199) + " }", 1),
        (
            "fragments on types",
            "{ i { " + nested("... on I { i { ", "__typename", " } }", 99) + " } }", 1
        ),
        ("lists", "{ a(v: " + nested("[", "", "]", 199) + ") { x } }", 1),
        ("objects", "{ a(v: " + nested("{a: ", "1", "}", 199) + ") { x } }", 1),
        ("input objects", "{ a(r: " + nested("{r: ", "null", "}", 199) + ") { x } }", 1),
        ("input objects in lists", "{ a(r: " + nested("{l: [", "", "]}", 99) + ") { x } }", 1),
        ("typed lists", "{ a(l: " + nested("[", "", "]", 199) + ") { x } }", 199),
        (
            "a variable's type", "query ($l: \(nested("[", "Int", "]", 200))) { a(l: $l) { x } }",
            200
        ),
        (
            "arguments twice",
            "{ " + String(repeating: "a(v: \(nested("[", "", "]", 198))) { x } ", count: 2) + "}", 1
        ),
    ]

    @Test(arguments: deepest)
    func handlesDeepestDocuments(name: String, source: String, listDepth: Int) throws {
        let schema = Value.Member("schema", .string(Self.schema(listDepth: listDepth)))
        let text = Value.Member("source", .string(source))
        var root = Value.object([.init("x", .int(1))])
        for _ in 0..<190 { root = .object([.init("a", root)]) }
        let requests = ["parse", "print", "validate", "execute"].map { op in
            Value.object([.init("op", .string(op)), schema, text, .init("root", root)])
        }
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        try #require(status == 0 && lines.count == 4)
        #expect(lines[0].hasPrefix(#"{"id":null,"ast":{"kind":"Document""#))
        #expect(lines[1].hasPrefix(#"{"id":null,"text":"#))
        #expect(lines[2] == #"{"id":null,"errors":[]}"#)
        #expect(lines[3].hasPrefix(#"{"id":null,"data":{"#))
        #expect(!lines[3].contains("errors"))
    }

    @Test func findsDeeplyNestedConflicts() throws {
        let source =
            "{ " + Self.nested("a { ", "b: x", " }", 99)
            + Self.nested("a { ", "b: __typename", " }", 99) + " }"
        let request = Value.object([
            .init("op", .string("validate")),
            .init("schema", .string(Self.schema(listDepth: 1))), .init("source", .string(source)),
        ])
        let (lines, status) = try runBatch(to: [request], stackKilobytes: Self.stackKilobytes)
        #expect(status == 0)
        #expect(lines.first?.contains("\\\"x\\\" and \\\"__typename\\\" are different") == true)
    }

    /// Only the size of the document limits the length of a chain of fragments.
    @Test(arguments: ["...F", "a { ...F"])
    func handlesLongFragmentChains(spread: String) throws {
        let close = spread.contains("{") ? "}" : ""
        var source = "{ ...F0 }"
        for index in 0..<4_000 {
            source += " fragment F\(index) on Query { \(spread)\(index + 1) \(close) }"
        }
        source += " fragment F4000 on Query { x }"
        let requests = ["parse", "print", "validate", "execute"].map { op in
            Value.object([
                .init("op", .string(op)), .init("source", .string(source)),
                .init("schema", .string(Self.schema(listDepth: 1))),
                .init("root", .object([.init("x", .int(1))])),
            ])
        }
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        try #require(status == 0 && lines.count == 4)
        #expect(lines[2] == #"{"id":null,"errors":[]}"#)
        #expect(
            lines[3]
                == (close.isEmpty
                    ? #"{"id":null,"data":{"x":1}}"# : #"{"id":null,"data":{"a":null}}"#))
    }

    @Test func handlesDeepVariablesAndSchemas() throws {
        var records = Value.null
        for _ in 0..<95 { records = .object([.init("l", .list([records]))]) }
        var anything = Value.list([])
        for _ in 0..<190 { anything = .list([anything]) }
        let type = Self.nested("[", "Int", "]", 200)
        let requests: [Value] = [
            .object([
                .init("op", .string("execute")),
                .init("schema", .string(Self.schema(listDepth: 1))),
                .init("source", .string("query ($r: R, $v: V) { a(r: $r, v: $v) { x } }")),
                .init("variables", .object([.init("r", records), .init("v", anything)])),
            ]),
            .object([
                .init("op", .string("introspect")),
                .init(
                    "schema",
                    .string(
                        "type Query { a(b: \(type) = \(Self.nested("[", "", "]", 200))): \(type) }")
                ),
            ]),
        ]
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        try #require(status == 0 && lines.count == 2)
        #expect(lines[0] == #"{"id":null,"data":{"a":null}}"#)
        #expect(lines[1].hasPrefix(#"{"id":null,"data":{"__schema""#))
    }

    @Test func handlesChainsOfDefaultValues() throws {
        func schema(_ count: Int) -> String {
            let chain = (0..<count).map { "input I\($0) { a: I\($0 + 1) = {} } " }.joined()
            return "type Query { x(i: I0 = {}): Int } " + chain + "input I\(count) { a: Int }"
        }
        let requests = [200, 4_000].map { count in
            Value.object([
                .init("op", .string("execute")), .init("schema", .string(schema(count))),
                .init("source", .string("{ x }")), .init("root", .object([.init("x", .int(1))])),
            ])
        }
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        try #require(status == 0 && lines.count == 2)
        #expect(lines[0] == #"{"id":null,"data":{"x":1}}"#)
        #expect(lines[1].contains("has 201 levels including the default values it references"))
    }

    /// The start of each document, and the text that is repeated after it.
    static let excessive: [(start: String, unit: String)] = [
        ("", "{a"), ("{", "...{"), ("{", "...on A{"), ("{a(b:", "["), ("{a(b:", "{c:"),
        ("{a(b:", "[{c:"), ("query($a:", "["), ("query($a:B=", "["), ("{a@b(c:", "{d:"),
        ("type A{a:", "["), ("type A{a(b:C=", "{d:"), ("type A@b(c:", "["),
    ]

    @Test func rejectsExtremeNestingWithError() throws {
        var requests = Self.excessive.map { start, unit in
            Value.object([
                .init("op", .string("execute")), .init("schema", .string("type Query { a: Int }")),
                .init("source", .string(start + String(repeating: unit, count: 1_500_000))),
            ])
        }
        requests.append(
            .object([.init("op", .string("print")), .init("source", .string("{ a }"))]))
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        try #require(status == 0 && lines.count == requests.count)
        for line in lines.dropLast() {
            #expect(line.contains("Document is nested deeper than 200 levels."), "\(line)")
        }
        #expect(lines.last == #"{"id":null,"text":"{\n  a\n}"}"#)
    }
}
