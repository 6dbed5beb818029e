import Testing

@testable import GraphQL

/// Tests Subscribe, CreateSourceEventStream, and MapSourceToResponseEvent of the specification.
@Suite struct SubscribeTests {
    private static let sdl = """
        type Query { q: Int }
        type Subscription { count(to: Int!): Event  broken: Event  plain: Int }
        type Event { number: Int!  odd: Int! }
        """

    /// A stream of numbered events, starting at 1. The non-nullable field `odd` of events with even
    /// numbers is null.
    private final class Events: ObjectBatch, SourceStream {
        let count = 1
        private var number = 0
        private let last: Int
        private let failsAt: Int

        init(to last: Int, failsAt: Int = .max) {
            self.last = last
            self.failsAt = failsAt
        }

        func next() async throws(FieldError) -> (any ObjectBatch)? {
            number += 1
            if number == failsAt { throw FieldError("The source failed.") }
            return number > last || Task.isCancelled ? nil : Event(number)
        }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            .null
        }
    }

    private final class Event: ObjectBatch {
        let count = 1
        let number: Int
        init(_ number: Int) { self.number = number }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            if field == 1 && number % 2 == 0 { return .null }
            writer.write(number)
            return .value
        }
    }

    private struct Loader: FieldLoader, PreparedSubscription {
        let failsAt: Int?

        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func open(
            arguments: ArgumentValues, in context: any ExecutionContext
        ) async throws(FieldError) -> any SourceStream {
            if let failsAt {
                return Events(to: 100, failsAt: failsAt)
            }
            let last = arguments["to"]?.int ?? 0
            guard last >= 0 else {
                throw FieldError("Not below 0.", extensions: [.init("code", .string("BAD"))])
            }
            return Events(to: last)
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.each(of: parents)) }
    }

    private struct Plain: FieldLoader, PreparedLoad {
        func prepare(_ field: SelectedField) -> any PreparedLoad { self }
        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.null(parents.count)) }
    }

    private struct Resolvers: ResolverSource {
        func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
            switch field.name {
            case "count": .load(Loader(failsAt: nil))
            case "broken": .load(Loader(failsAt: 2))
            case "plain": .load(Plain())
            default: .property
            }
        }
    }

    private final class Context: ExecutionContext {
        let needsFlush = false
        func flush() async {}
    }

    private func stream(
        _ text: String, _ variables: Value = .null
    ) async throws(RequestErrors) -> ResponseStream {
        let schema = try buildSchema(Source(Self.sdl))
        let cache = DocumentCache(
            schema: schema, resolvers: Resolvers(), limits: RequestLimits())
        let (plan, values, _) = try cache.document(Array(text.utf8)).plan(
            operationName: nil, variables: variables)
        return try await subscribe(plan, variables: values, context: Context()) { Context() }
    }

    private func responses(_ stream: ResponseStream) async throws -> [String] {
        var bodies: [String] = []
        while let response = try await stream.next() {
            bodies.append(String(decoding: response.body, as: UTF8.self))
        }
        return bodies
    }

    @Test func eachEventProducesOneResponse() async throws {
        let stream = try await stream("subscription { c: count(to: 3) { number } }")
        #expect(
            try await responses(stream) == [
                #"{"data":{"c":{"number":1}}}"#, #"{"data":{"c":{"number":2}}}"#,
                #"{"data":{"c":{"number":3}}}"#,
            ])
        #expect(try await stream.next() == nil)
    }

    @Test func coercesArgumentsFromVariables() async throws {
        let stream = try await stream(
            "subscription ($n: Int!) { count(to: $n) { number } }", .object([.init("n", .int(1))]))
        #expect(try await responses(stream) == [#"{"data":{"count":{"number":1}}}"#])
    }

    @Test func streamContinuesAfterEventError() async throws {
        let stream = try await stream("subscription { count(to: 3) { number odd } }")
        let bodies = try await responses(stream)
        #expect(bodies.count == 3)
        #expect(bodies[1].contains(#""path":["count","odd"]"#))
        #expect(bodies[1].hasSuffix(#""data":{"count":null}}"#))
        #expect(bodies[2] == #"{"data":{"count":{"number":3,"odd":3}}}"#)
    }

    @Test func failureToOpenStreamIsRequestError() async throws {
        do throws(RequestErrors) {
            _ = try await stream("subscription { count(to: -1) { number } }")
            Issue.record("the stream was opened")
        } catch {
            #expect(error.errors.map(\.message) == ["Not below 0."])
            #expect(error.errors[0].code == "BAD")
            #expect(error.errors[0].path == [.key("count")])
            #expect(error.errors[0].locations == [SourceLocation(line: 1, column: 16)])
        }
    }

    @Test func streamFailureEndsResponses() async throws {
        let stream = try await stream("subscription { broken { number } }")
        #expect(try await stream.next()?.errors == [])
        do throws(RequestErrors) {
            _ = try await stream.next()
            Issue.record("the stream continued")
        } catch {
            #expect(error.errors.map(\.message) == ["The source failed."])
        }
    }

    @Test(arguments: ["{ q }", "subscription { plain }"])
    func rejectsFieldsWithoutEventStream(text: String) async {
        await #expect(throws: RequestErrors.self) { _ = try await stream(text) }
    }
}
