import Foundation
import Testing

@testable import GraphQL
import GraphQLServing

/// Tests that nesting uses little or none of the thread's stack, even in debug builds and with
/// AddressSanitizer, whose stack frames are large.
@Suite struct SmallStackTests {
    private static let stackKilobytes = 384

    @Test func tasksRunOnTheSmallStack() async throws {
        @Sendable func stackBytes() -> Int { Thread.current.stackSize }
        #expect(
            try await withStack(kilobytes: Self.stackKilobytes) { stackBytes() }
                == Self.stackKilobytes * 1024)
    }

    private static func schema(listDepth: Int) -> String {
        """
        type Query { a(v: V, l: \(nested("[", "Int", "]", listDepth)), r: R): Query i: I x: Int }
        interface I { i: I } type O implements I { i: I }
        input R { r: R l: [R] } scalar V
        """
    }

    /// The results of all parts of the engine for one document.
    private struct Results {
        let nodesCount: Int
        let printed: String
        let messages: [String]
        let response: String
    }

    /// Parses, prints, validates, and executes a document on a small stack.
    private func process(
        _ source: String, schema sdl: String, root: Value = .object([.init("x", .int(1))]),
        variables: Value = .null
    ) async throws -> Results {
        try await withStack(kilobytes: Self.stackKilobytes) {
            let document = try parse(Source(source), limits: .trusted)
            let schema = try buildSchema(Source(sdl))
            let cache = DocumentCache(
                schema: schema, resolvers: JSONDataSource(schema: schema, loading: .afterFlush),
                limits: .trusted, errorCodes: .apollo)
            let messages = validate(document, against: schema).map(\.message)
            var response = ""
            if messages.isEmpty {
                let (plan, values, _) = try await cache.document(Array(source.utf8))
                    .plan(operationName: nil, variables: variables)
                let result = await execute(
                    plan, variables: values, root: JSONBatch([root], selection: plan.root),
                    context: RecordingContext())
                response = String(decoding: result.body, as: UTF8.self)
            }
            return Results(
                nodesCount: Int(document.tree.nodes.count), printed: print(document),
                messages: messages, response: response)
        }
    }

    @Test(arguments: deepestDocuments)
    func handlesDeepestDocuments(name: String, source: String, listDepth: Int) async throws {
        var root = Value.object([.init("x", .int(1))])
        for _ in 0..<190 { root = .object([.init("a", root)]) }
        let results = try await process(
            source, schema: Self.schema(listDepth: listDepth), root: root)
        #expect(results.nodesCount > 190)
        #expect(results.printed.utf8.count > 190)
        #expect(results.messages == [])
        #expect(results.response.hasPrefix(#"{"data":{""#))
    }

    @Test func findsDeeplyNestedConflicts() async throws {
        let source =
            "{ " + nested("a { ", "b: x", " }", 99)
            + nested("a { ", "b: __typename", " }", 99) + " }"
        let messages = try await process(source, schema: Self.schema(listDepth: 1)).messages
        #expect(messages.count == 1)
        // Only the beginning of such a long message is left, and its end.
        #expect(messages.first?.contains(#"Fields "a" conflict because"#) == true)
    }

    /// Only the size of the document limits the length of a chain of fragments.
    @Test(arguments: [
        ("...F", "", #"{"data":{"x":1}}"#), ("a { ...F", "}", #"{"data":{"a":null}}"#),
    ])
    func handlesLongFragmentChains(open: String, close: String, response: String) async throws {
        let chain = (0..<4_000).map { " fragment F\($0) on Query { \(open)\($0 + 1) \(close) }" }
        let source = "{ ...F0 }" + chain.joined() + " fragment F4000 on Query { x }"
        let results = try await process(source, schema: Self.schema(listDepth: 1))
        #expect(results.messages == [])
        #expect(results.response == response)
    }

    @Test func handlesDeepVariables() async throws {
        var records = Value.null
        for _ in 0..<95 { records = .object([.init("l", .list([records]))]) }
        var anything = Value.list([])
        for _ in 0..<190 { anything = .list([anything]) }
        let response = try await process(
            "query ($r: R, $v: V) { a(r: $r, v: $v) { x } }", schema: Self.schema(listDepth: 1),
            variables: .object([.init("r", records), .init("v", anything)])
        ).response
        #expect(response == #"{"data":{"a":null}}"#)
    }

    @Test func handlesDeepTypesAndDefaultValuesInSchemas() async throws {
        let type = nested("[", "Int", "]", 200)
        let results = try await process(
            introspectionQuery,
            schema: "type Query { a(b: \(type) = \(nested("[", "", "]", 200))): \(type) }")
        #expect(results.messages == [])
        #expect(results.response.hasPrefix(#"{"data":{"__schema""#))
    }

    /// The default value of each input object refers to the next one.
    private static func schema(defaultValuesCount count: Int) -> String {
        let chain = (0..<count).map { "input I\($0) { a: I\($0 + 1) = {} } " }.joined()
        return "type Query { x(i: I0 = {}): Int } " + chain + "input I\(count) { a: Int }"
    }

    @Test func handlesChainsOfDefaultValues() async throws {
        let results = try await process("{ x }", schema: Self.schema(defaultValuesCount: 200))
        #expect(results.response == #"{"data":{"x":1}}"#)
        let error = await #expect(throws: RequestErrors.self) {
            try await process("{ x }", schema: Self.schema(defaultValuesCount: 4_000))
        }
        #expect(
            error?.errors.first?.message.contains(
                "has 201 levels including the default values it references") == true)
    }
}
