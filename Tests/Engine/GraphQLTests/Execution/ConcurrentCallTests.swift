import GraphQL
import GraphQLServing
import Synchronization
import Testing

/// Requests to other services run at the same time as those of the other fields of their level.
@Suite struct ConcurrentCallTests {
    /// Calls that wait until a number of them has started.
    private final class Meeting: Sendable {
        private struct State {
            var arrived = 0
            var running = 0
            var runningMost = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())
        let size: Int

        init(size: Int) { self.size = size }

        var runningMost: Int { state.withLock { $0.runningMost } }

        /// Returns when `size` calls have arrived, those of earlier groups of `size` calls not included.
        func meet() async {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    state.running += 1
                    state.runningMost = max(state.runningMost, state.running)
                    state.arrived += 1
                    state.waiting.append(continuation)
                    guard state.arrived % size == 0 else { return [] }
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for continuation in ready { continuation.resume() }
            }
            state.withLock { $0.running -= 1 }
        }
    }

    /// Fields of `Query`: a call that meets the others and returns its argument, and a load that needs the flush.
    private struct Loader: FieldLoader, PreparedLoad {
        let meeting: Meeting?

        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            guard let meeting else {
                (context as? Context)?.needsFlush = true
                return .afterFlush { _ in .each(of: Texts(["flushed"])) }
            }
            let text = arguments["text"]?.string ?? ""
            return .concurrent(
                ConcurrentCall {
                    await meeting.meet()
                    return text
                } finish: { text in
                    .each(of: Texts([text]))
                })
        }
    }

    private final class Texts: ObjectBatch {
        private let texts: [String]
        var count: Int { texts.count }

        init(_ texts: [String]) { self.texts = texts }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            writer.write(texts[object])
            return .value
        }
    }

    private struct Resolvers: ResolverSource {
        let meeting: Meeting

        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            if type.name == "Thing" { return .property }
            return .load(Loader(meeting: field.name == "flushed" ? nil : meeting))
        }
    }

    private final class Context: ExecutionContext {
        var needsFlush = false

        func flush() async { needsFlush = false }
    }

    private func response(to query: String, _ meeting: Meeting) async throws -> String {
        let schema = try buildSchema(
            Source(
                """
                type Query { call(text: String): String object(text: String): Thing flushed: String }
                type Thing { text: String }
                """))
        let cache = DocumentCache(
            schema: schema, resolvers: Resolvers(meeting: meeting), limits: RequestLimits(),
            errorCodes: .apollo)
        let document = try await cache.document(Array(query.utf8))
        let (plan, variables, _) = try await document.plan(operationName: nil, variables: .null)
        let result = await execute(plan, variables: variables, context: Context())
        return String(decoding: result.body, as: UTF8.self)
    }

    /// None of the calls returns before the last of them has started.
    @Test func callsOfOneLevelRunAtTheSameTime() async throws {
        let response = try await response(
            to: #"{ a: call(text: "1") flushed b: call(text: "2") c: object(text: "3") { text } }"#,
            Meeting(size: 3))
        #expect(
            response
                == #"{"data":{"a":"1","flushed":"flushed","b":"2","c":{"text":"3"}}}"#)
    }

    @Test func atMostEightCallsRunAtTheSameTime() async throws {
        let meeting = Meeting(size: 8)
        let fields = (0..<16).map { #"f\#($0): call(text: "\#($0)")"# }
        let response = try await response(to: "{ \(fields.joined(separator: " ")) }", meeting)
        let values = (0..<16).map { #""f\#($0)":"\#($0)""# }
        #expect(response == #"{"data":{\#(values.joined(separator: ","))}}"#)
        #expect(meeting.runningMost == 8)
    }

    @Test func closuresOfOneLevelRunAtTheSameTime() async throws {
        let meeting = Meeting(size: 2)
        let schema = try ExecutableSchema("type Query { a: Int b: Int }") { resolvers in
            for (name, value) in [("a", 1), ("b", 2)] {
                resolvers.query.field(name) { _ in
                    await meeting.meet()
                    return value
                }
            }
        }
        #expect(try await response(to: "{ a b }", schema) == #"{"data":{"a":1,"b":2}}"#)
    }

    private func response(
        to text: String, _ schema: ExecutableSchema<NoContext>
    ) async throws -> String {
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: RequestLimits(), errorCodes: .apollo)
        let document = try await cache.document(Array(text.utf8))
        let (plan, variables, _) = try await document.plan(operationName: nil, variables: .null)
        let result = await execute(plan, variables: variables, context: NoContext())
        return String(decoding: result.body, as: UTF8.self)
    }

    /// The starts and ends of calls, in order.
    private final class Log: Sendable {
        private let storage = Mutex<[String]>([])

        var events: [String] { storage.withLock { $0 } }

        func add(_ event: String) { storage.withLock { $0.append(event) } }
    }

    @Test func rootFieldsOfMutationsRunOneAfterTheOther() async throws {
        let log = Log()
        let schema = try ExecutableSchema(
            "type Query { a: Int } type Mutation { call(number: Int!): Int! }"
        ) { resolvers in
            resolvers.query.field("a") { _ in 1 }
            resolvers.mutation.field("call") { request in
                let number = request.arguments["number"]?.int ?? 0
                log.add("start \(number)")
                // Gives the second call the time to start, if it does not wait for the end of the first.
                var attempts = 0
                while attempts < 50, !log.events.contains("start 2") {
                    try await Task.sleep(for: .milliseconds(1))
                    attempts += 1
                }
                log.add("end \(number)")
                return number
            }
        }
        let response = try await response(
            to: "mutation { a: call(number: 1) b: call(number: 2) }", schema)
        #expect(response == #"{"data":{"a":1,"b":2}}"#)
        #expect(log.events == ["start 1", "end 1", "start 2", "end 2"])
    }
}
