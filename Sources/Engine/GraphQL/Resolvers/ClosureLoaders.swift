/// The arguments and the context of a field, which its closure gets.
public struct FieldRequest<Context: Sendable>: Sendable {
    /// The coerced arguments, with default values. An argument without either is absent.
    public let arguments: ArgumentValues
    /// The state of the request, such as the signed-in user.
    public let context: Context
}

/// The values with which a closure is called: the objects of a batch, and the request.
private struct ClosureInput<Object, Context: ExecutionContext & Sendable> {
    let objects: [Object]
    let request: FieldRequest<Context>

    /// - Throws: The error of the field if the batch or the context has another type.
    init(
        _ objects: [Object]?, _ parents: any ObjectBatch, _ arguments: ArgumentValues,
        _ context: any ExecutionContext, _ field: SelectedField
    ) throws(FieldError) {
        guard let objects else {
            throw context.error(for: LoaderDefect(field, "got objects of \(type(of: parents))"))
        }
        guard let typedContext = context as? Context else {
            throw context.error(
                for: LoaderDefect(field, "needs a context of the type \(Context.self)"))
        }
        self.objects = objects
        request = FieldRequest(arguments: arguments, context: typedContext)
    }
}

/// Runs a closure for each object of a level.
struct ClosureLoader<Object, Result, Context: ExecutionContext & Sendable>: FieldLoader {
    typealias Resolve = @Sendable (Object, FieldRequest<Context>) throws -> Result

    let objects: ObjectTypes
    /// Returns the objects of a batch; nil if it has objects of another type.
    let parents: @Sendable (any ObjectBatch) -> [Object]?
    let resolve: Resolve

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(
            field: field, converter: ResultConverter(field, objects), parents: parents,
            resolve: resolve)
    }

    private struct Prepared: PreparedLoad {
        let field: SelectedField
        let converter: ResultConverter<Result>
        let parents: @Sendable (any ObjectBatch) -> [Object]?
        let resolve: Resolve

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            let input: ClosureInput<Object, Context>
            do throws(FieldError) {
                input = try ClosureInput(self.parents(parents), parents, arguments, context, field)
            } catch {
                return .ready(.failed(parents.count, error))
            }
            let results = input.objects.map { object in
                Swift.Result<Result, any Error> { try resolve(object, input.request) }
            }
            return .ready(converter.children(of: results, for: field, in: context))
        }
    }
}

/// Runs an asynchronous closure once for all objects of a level, at the same time as those of other fields.
struct BatchLoader<Object: Sendable, Result: Sendable, Context: ExecutionContext & Sendable>:
    FieldLoader
{
    typealias Resolve = @Sendable ([Object], FieldRequest<Context>) async throws -> [Result]

    let objects: ObjectTypes
    /// Returns the objects of a batch; nil if it has objects of another type.
    let parents: @Sendable (any ObjectBatch) -> [Object]?
    /// Returns one result for each object.
    let resolve: Resolve

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(
            field: field, converter: ResultConverter(field, objects), parents: parents,
            resolve: resolve)
    }

    private struct Prepared: PreparedLoad {
        let field: SelectedField
        let converter: ResultConverter<Result>
        let parents: @Sendable (any ObjectBatch) -> [Object]?
        let resolve: Resolve

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            let input: ClosureInput<Object, Context>
            do throws(FieldError) {
                input = try ClosureInput(self.parents(parents), parents, arguments, context, field)
            } catch {
                return .ready(.failed(parents.count, error))
            }
            let (objects, request) = (input.objects, input.request)
            return .concurrent(
                ConcurrentCall { [resolve] () -> Swift.Result<[Result], any Error> in
                    do {
                        let results = try await resolve(objects, request)
                        return .success(results)
                    } catch {
                        return .failure(error)
                    }
                } finish: { outcome in
                    children(outcome, of: objects.count, in: context)
                })
        }

        private func children(
            _ outcome: Swift.Result<[Result], any Error>, of count: Int,
            in context: any ExecutionContext
        ) -> Children {
            do {
                let results = try outcome.get()
                guard results.count == count else {
                    throw LoaderDefect(
                        field, "returned \(results.count) values for \(count) objects")
                }
                return converter.children(
                    of: results.map { .success($0) }, for: field, in: context)
            } catch {
                return .failed(count, context.fieldError(error, of: field))
            }
        }
    }
}

/// Runs a closure that opens the event stream of a subscription. Each event is the value of the field.
struct StreamLoader<Events: AsyncSequence & SendableMetatype, Context: ExecutionContext & Sendable>:
    SubscriptionLoader
{
    let objects: ObjectTypes
    let open: @Sendable (FieldRequest<Context>) async throws -> Events

    func prepare(_ field: SelectedField) -> any PreparedSubscription {
        PreparedStream(
            field: field, converter: ResultConverter<Events.Element>(field, objects), open: open)
    }
}

private struct PreparedStream<
    Events: AsyncSequence & SendableMetatype, Context: ExecutionContext & Sendable
>:
    PreparedSubscription
{
    let field: SelectedField
    let converter: ResultConverter<Events.Element>
    let open: @Sendable (FieldRequest<Context>) async throws -> Events

    func open(
        arguments: ArgumentValues, in context: any ExecutionContext
    ) async throws(FieldError) -> any SourceStream {
        guard let typedContext = context as? Context else {
            throw context.error(
                for: LoaderDefect(field, "needs a context of the type \(Context.self)"))
        }
        do {
            let events = try await open(
                FieldRequest(arguments: arguments, context: typedContext))
            return EventStream(events.makeAsyncIterator(), field, context)
        } catch {
            throw context.fieldError(error, of: field)
        }
    }

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        guard let event = parents as? EventBatch<Events.Element> else {
            let defect = LoaderDefect(field, "was executed without an event")
            return .ready(.failed(parents.count, context.error(for: defect)))
        }
        return .ready(converter.children(of: [.success(event.event)], for: field, in: context))
    }
}

/// One event of a subscription: the parent of the root field.
private final class EventBatch<Event>: ObjectBatch {
    let count = 1
    let event: Event

    init(_ event: Event) { self.event = event }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult { .null }
}

/// The events of an asynchronous sequence.
private final class EventStream<Iterator: AsyncIteratorProtocol>: SourceStream {
    private var iterator: Iterator
    private let field: SelectedField
    private let context: any ExecutionContext

    init(_ iterator: Iterator, _ field: SelectedField, _ context: any ExecutionContext) {
        self.iterator = iterator
        self.field = field
        self.context = context
    }

    func next() async throws(FieldError) -> (any ObjectBatch)? {
        do {
            return try await iterator.next(isolation: #isolation).map { EventBatch($0) }
        } catch {
            throw context.fieldError(error, of: field)
        }
    }
}
