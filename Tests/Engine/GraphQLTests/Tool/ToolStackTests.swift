import GraphQL
import Testing

/// Tests that `graphql-tool` does not use the stack for nested requests and syntax trees. Tests of
/// the engine itself are in `SmallStackTests`.
@Suite struct ToolStackTests {
    private static let stackKilobytes = 256

    @Test func printsDeepestSyntaxTrees() throws {
        let requests = deepestDocuments.map { document in
            Value.object([.init("op", .string("parse")), .init("source", .string(document.source))])
        }
        let (lines, status) = try runBatch(to: requests, stackKilobytes: Self.stackKilobytes)
        #expect(status == 0)
        #expect(lines.count == requests.count)
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"id":null,"ast":{"kind":"Document""#) })
    }

    @Test func readsDeeplyNestedRequests() throws {
        var root = Value.object([])
        for _ in 0..<190 { root = .object([.init("a", root)]) }
        let request = Value.object([
            .init("op", .string("execute")),
            .init("schema", .string("type Query { a: Query x: Int }")),
            .init("source", .string("{ " + nested("a { ", "x", " }", 190) + " }")),
            .init("root", root),
        ])
        let (lines, status) = try runBatch(to: [request], stackKilobytes: Self.stackKilobytes)
        #expect(status == 0)
        #expect(
            lines == [#"{"id":null,"data":{"# + nested(#""a":{"#, #""x":null"#, "}", 190) + "}}"])
    }
}
