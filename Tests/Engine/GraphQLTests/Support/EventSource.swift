import GraphQL
import GraphQLServing

/// The resolvers of a schema whose subscription fields have streams of numbered events.
///
/// - `count(to:)` has events with the numbers 1, 2, and so on. A negative argument cannot be
///   subscribed to.
/// - `broken` has one event and then fails.
/// - `plain` has no event stream.
///
/// The field `odd` of an event is null if the number is even.
struct EventSource: ResolverSource {
    static let sdl = """
        type Query { q: Int }
        type Subscription { count(to: Int!): Event  sure: Event!  broken: Event  plain: Int }
        type Event { number: Int!  odd: Int! }
        """

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        switch field.name {
        case "count": .load(EventLoader(failsAt: nil))
        case "sure": .load(EventLoader(failsAt: nil, endsAt: 3))
        case "broken": .load(EventLoader(failsAt: 2))
        case "plain": .load(PlainLoader())
        default: .property
        }
    }
}

/// A stream of numbered events, starting at 1.
private final class Events: SourceStream {
    private var number = 0
    private let last: Int
    private let failsAt: Int?

    init(to last: Int, failsAt: Int?) {
        self.last = last
        self.failsAt = failsAt
    }

    func next() async throws(FieldError) -> (any ObjectBatch)? {
        number += 1
        if number == failsAt { throw FieldError("The source failed.") }
        return number > last ? nil : Event(number)
    }
}

private final class Event: ObjectBatch {
    let count = 1
    private let number: Int
    init(_ number: Int) { self.number = number }

    /// The second field is `odd`.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        if field == 1 && number.isMultiple(of: 2) { return .null }
        writer.write(number)
        return .value
    }
}

private struct EventLoader: SubscriptionLoader, PreparedSubscription {
    let failsAt: Int?
    var endsAt: Int?

    func prepare(_ field: SelectedField) -> any PreparedSubscription { self }

    func open(
        arguments: ArgumentValues, in context: any ExecutionContext
    ) async throws(FieldError) -> any SourceStream {
        let last = endsAt ?? arguments["to"]?.int ?? .max
        guard last >= 0 else {
            throw FieldError("Not below 0.", extensions: [.init("code", .string("BAD"))])
        }
        (context as? RecordingContext)?.record("open")
        return Events(to: last, failsAt: failsAt)
    }

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        (context as? RecordingContext)?.record("start")
        return .ready(.each(of: parents))
    }
}

private struct PlainLoader: FieldLoader, PreparedLoad {
    func prepare(_ field: SelectedField) -> any PreparedLoad { self }

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load { .ready(.null(parents.count)) }
}

/// Opens the response stream of a subscription.
///
/// - Parameter eventContext: creates the context for executing one event.
func openStream(
    _ source: String, variables: String = "{}", context: RecordingContext = RecordingContext(),
    errorsMax: Int = 100, responseBytesMax: Int = .max,
    eventContext: @escaping () -> RecordingContext = { RecordingContext() }
) async throws -> ResponseStream {
    let cache = DocumentCache(
        schema: try buildSchema(Source(EventSource.sdl)), resolvers: EventSource(),
        limits: RequestLimits(), errorCodes: .apollo)
    let (plan, values, _) = try await cache.document(Array(source.utf8))
        .plan(operationName: nil, variables: try json(variables))
    return try await subscribe(
        plan, variables: values, context: context, errorsMax: errorsMax,
        responseBytesMax: responseBytesMax, eventContext: eventContext)
}

/// Reads a stream to its end.
func responses(_ stream: ResponseStream) async throws -> [String] {
    var bodies: [String] = []
    while let response = try await stream.next() {
        bodies.append(String(decoding: response.body, as: UTF8.self))
    }
    return bodies
}
