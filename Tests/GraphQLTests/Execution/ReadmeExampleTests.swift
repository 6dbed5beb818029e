import Foundation
import GraphQL
import Testing

/// The example of `Sources/README.md`, compiled and run as it stands there.
@Suite struct ReadmeExampleTests {
    @Test func theExampleRuns() async throws {
        let result = try await example()
        #expect(String(decoding: result.body, as: UTF8.self) == #"{"data":{"hello":"world"}}"#)
    }

    @Test func theExampleIsTheOneOfTheReadme() throws {
        let file = URL(filePath: #filePath)
        let root = (0..<4).reduce(file) { url, _ in url.deletingLastPathComponent() }
        let readme = try String(
            contentsOf: root.appending(path: "Sources/README.md"), encoding: .utf8)
        let example = try String(contentsOf: file, encoding: .utf8)
            .components(separatedBy: "    // example\n")[1]
            .split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
            .joined(separator: "\n")
        #expect(readme.contains("```swift\n\(example)\n```"))
    }
}

private func example() async throws -> ExecutionResult {
    // example
    let schema = try buildSchema(parse(Source("type Query { hello: String }"), limits: .trusted))
    let cache = DocumentCache(schema: schema, resolvers: MyResolvers(), limits: RequestLimits())
    let document = try cache.document(Array("{ hello }".utf8))
    let (plan, variables, _) = try document.plan(operationName: nil, variables: .null)
    let result = await execute(plan, variables: variables, context: MyContext())
    // example
    return result
}

private struct MyResolvers: ResolverSource {
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        .load(HelloLoader())
    }
}

private struct HelloLoader: FieldLoader, PreparedLoad {
    func prepare(_ field: SelectedField) -> any PreparedLoad { self }

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        .ready(.each(of: Greeting()))
    }
}

private final class Greeting: ObjectBatch {
    let count = 1

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        writer.write("world")
        return .value
    }
}

private final class MyContext: ExecutionContext {
    let needsFlush = false
    func flush() async {}
}
