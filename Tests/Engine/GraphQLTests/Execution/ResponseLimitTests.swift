import GraphQL
import GraphQLServing
import Synchronization
import Testing

/// Tests the limit on the size of one response, which is checked while the response is written.
@Suite struct ResponseLimitTests {
    private static let sdl = """
        type Query { items(count: Int!): [Item] all(count: Int!): [Item!]! texts(count: Int!): [String!]! }
        type Mutation { item: Item }
        type Item { text: String! bad: String failing: String! item: Item }
        """
    private static let textBytes = 100

    /// Counts the leaves that were written.
    private final class Written: Sendable {
        let count = Atomic(0)
    }

    private final class Items: ObjectBatch {
        let count: Int
        private let selection: PlannedSelection?
        private let written: Written

        init(_ count: Int, _ selection: PlannedSelection?, _ written: Written) {
            self.count = count
            self.selection = selection
            self.written = written
        }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            written.count.add(1, ordering: .relaxed)
            switch selection?.fields[field].selected.name {
            case "bad", "failing": return .error(FieldError("This field always fails."))
            default:
                writer.write(String(repeating: "x", count: textBytes))
                return .value
            }
        }
    }

    private struct Loader: FieldLoader {
        let written: Written

        func prepare(_ field: SelectedField) -> any PreparedLoad {
            Prepared(
                selection: field.selections.first, isItem: field.name == "item", written: written)
        }

        struct Prepared: PreparedLoad {
            let selection: PlannedSelection?
            let isItem: Bool
            let written: Written

            func start(
                for parents: any ObjectBatch, arguments: ArgumentValues,
                in context: any ExecutionContext
            ) -> Load {
                if isItem { return .ready(.each(of: Items(parents.count, selection, written))) }
                let count = arguments["count"]?.int ?? 0
                let items = Items(count, selection, written)
                return .ready(
                    Children(
                        slots: [.list(start: 1, count: Int32(count))]
                            + (0..<Int32(count)).map { .object(group: 0, index: $0) },
                        groups: [.init(items)]))
            }
        }
    }

    private struct Resolvers: ResolverSource {
        let written: Written

        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            type.name == "Query" || field.name == "item"
                ? .load(Loader(written: written)) : .property
        }
    }

    private final class Context: ExecutionContext {
        let needsFlush = false
        func flush() async {}
    }

    private static func run(
        _ text: String, bytesMax: Int = .max, onError errorBehavior: ErrorBehavior = .propagate
    ) async throws -> (result: ExecutionResult, written: Int) {
        let written = Written()
        let cache = DocumentCache(
            schema: try buildSchema(Source(sdl)), resolvers: Resolvers(written: written),
            limits: RequestLimits(), errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array(text.utf8)).plan(
            operationName: nil, variables: .null)
        let result = await execute(
            plan, variables: variables, context: Context(), onError: errorBehavior,
            responseBytesMax: bytesMax)
        return (result, written.count.load(ordering: .relaxed))
    }

    @Test(arguments: [
        "{ items(count: 1000) { text } }", "{ all(count: 1000) { text } }",
        "{ texts(count: 1000) }", "{ items(count: 1000) { item { text } } }",
        // Null propagation discards what was written for `items`, and `b` is written after that.
        "{ items(count: 1000) { text a: text failing } b: items(count: 1000) { text } }",
    ])
    func writingStopsWhenTheLimitIsExceeded(query: String) async throws {
        let (result, written) = try await Self.run(query, bytesMax: 2000)
        let body = String(decoding: result.body, as: UTF8.self)
        #expect(
            body
                == #"{"errors":[{"message":"The response is larger than 2000 bytes. "#
                + #"Select fewer fields or request smaller pages.","#
                + #""extensions":{"code":"RESPONSE_TOO_LARGE","limit":"responseBytesMax","max":2000}}],"#
                + #""data":null}"#)
        #expect(result.errors.map(\.kind) == [.responseTooLarge])
        #expect(String(decoding: result.data, as: UTF8.self) == "null")
        // Writing stopped early: 2,000 bytes hold fewer than 20 texts.
        if !query.contains("failing") { #expect(written <= 20) }
    }

    /// A short request can have a long response because of its keys alone, or because of the paths of its errors.
    @Test(arguments: [
        "{ items(count: 50) { \(String(repeating: "k", count: 1000)): text } }",
        "{ \(String(repeating: "k", count: 1000)): items(count: 50) { bad } }",
    ])
    func keysAndErrorsCountTowardsTheLimit(query: String) async throws {
        let (result, _) = try await Self.run(query, bytesMax: 20_000)
        #expect(result.errors.map(\.kind) == [.responseTooLarge])
        #expect(result.body.count < 1000)
    }

    @Test(arguments: [
        "{ items(count: 10) { text } }", "{ items(count: 10) { text bad } }",
        "{ items(count: 10) { item { text } } texts(count: 3) }",
    ])
    func responseCanBeAsLargeAsTheLimit(query: String) async throws {
        let whole = try await Self.run(query).result
        #expect(whole.errors.allSatisfy { $0.kind == nil })
        let byteCount = whole.body.count
        #expect(try await Self.run(query, bytesMax: byteCount).result.body == whole.body)
        let larger = try await Self.run(query, bytesMax: byteCount - 1).result
        #expect(larger.errors.map(\.kind) == [.responseTooLarge])
    }

    /// With `.halt`, a field of a mutation is written before the next one is executed, to find errors of its values.
    @Test func mutationWritesEachFieldTwiceIfErrorsHalt() async throws {
        let fields = (1...10).map { "f\($0): item { text }" }.joined(separator: " ")
        let (result, written) = try await Self.run("mutation { \(fields) }", onError: .halt)
        #expect(result.errors.isEmpty)
        #expect(written == 20)
    }
}
