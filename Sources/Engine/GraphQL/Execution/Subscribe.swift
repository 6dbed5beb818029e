/// The loader of a field of the subscription root type.
///
/// ```swift
/// struct BookAdded: SubscriptionLoader {
///     func prepare(_ field: SelectedField) -> any PreparedSubscription { Prepared(field) }
/// }
/// ```
public protocol SubscriptionLoader: FieldLoader {
    /// Prepares a selected field. Called once when an operation is planned.
    func prepare(_ field: SelectedField) -> any PreparedSubscription
}

extension SubscriptionLoader {
    /// Prepares a selected field.
    public func prepare(_ field: SelectedField) -> any PreparedLoad {
        let prepared: any PreparedSubscription = prepare(field)
        return prepared
    }
}

/// A prepared load of a subscription root field. It opens the event stream, and later resolves the
/// field for each event.
///
/// The field is resolved like any other, with the event as its parent.
public protocol PreparedSubscription: PreparedLoad {
    /// Opens the event stream. Every event that occurs after this call starts is delivered.
    ///
    /// - Throws: an error if the stream cannot be opened. The operation then ends with a request
    ///   error instead of a response stream.
    ///
    /// Spec: https://spec.graphql.org/September2025/#ResolveFieldEventStream()
    func open(
        arguments: ArgumentValues, in context: any ExecutionContext
    ) async throws(FieldError) -> any SourceStream
}

/// The events of one subscription, which the consumer pulls one at a time.
///
/// A slow consumer pulls rarely. The stream must limit the number of events that it buffers in the
/// meantime.
public protocol SourceStream: AnyObject {
    /// Waits for the next event.
    ///
    /// - Returns: the event as a batch with one object, or nil if the stream has ended or the task
    ///   is cancelled. A batch with another number of objects is a defect: its response is an error,
    ///   and the stream continues.
    /// - Throws: an error if the stream fails. No more events follow.
    func next() async throws(FieldError) -> (any ObjectBatch)?
}

/// The responses of a subscription, one for each event.
///
/// Spec: https://spec.graphql.org/September2025/#MapSourceToResponseEvent()
public final class ResponseStream {
    private let advance: () async throws(RequestErrors) -> ExecutionResult?

    /// Creates a stream. `advance` returns the next response, or nil at the end.
    public init(_ advance: @escaping () async throws(RequestErrors) -> ExecutionResult?) {
        self.advance = advance
    }

    /// Waits for the next response.
    ///
    /// - Returns: the response, or nil if the stream has ended or the task is cancelled.
    /// - Throws: an error if the event stream failed. No more responses follow.
    public func next() async throws(RequestErrors) -> ExecutionResult? { try await advance() }
}

/// Opens the event stream of a subscription. An event is executed when the consumer requests the
/// next response.
///
/// - Parameters:
///   - plan: the plan of the subscription.
///   - variables: the coerced variables, which `CachedDocument.plan` returns with the plan.
///   - context: the context for opening the event stream.
///   - errorBehavior: what an execution error does to the response of its event. The stream continues.
///   - errorsMax: the maximum number of execution errors in each response.
///   - responseBytesMax: the maximum size of each response.
///   - eventContext: creates the context for executing one event.
/// - Throws: an error if the arguments are invalid or the event stream cannot be opened.
///
/// Spec: https://spec.graphql.org/September2025/#Subscribe()
public func subscribe(
    _ plan: OperationPlan, variables: VariableValues, context: any ExecutionContext,
    onError errorBehavior: ErrorBehavior = .propagate, errorsMax: Int = 100,
    responseBytesMax: Int = .max,
    eventContext: @escaping () -> any ExecutionContext
) async throws(RequestErrors) -> ResponseStream {
    // Validation guarantees exactly one root field, without `@skip` and `@include`.
    guard plan.kind == .subscription, let field = plan.root.fields.first,
        let subscription = field.load as? any PreparedSubscription
    else {
        throw RequestErrors([
            GraphQLError(
                "The operation does not select a field with an event stream.",
                kind: .invalidInput)
        ])
    }
    let path = [GraphQLError.PathElement.key(field.selected.responseKey)]
    let source: any SourceStream
    do throws(FieldError) {
        let arguments = try plan.arguments(of: field, variables: variables)
        source = try await subscription.open(arguments: arguments, in: context)
    } catch {
        throw RequestErrors([plan.error(error, of: field, at: path)])
    }
    return ResponseStream { () throws(RequestErrors) in
        let event: any ObjectBatch
        do throws(FieldError) {
            guard let next = try await source.next() else { return nil }
            event = next
        } catch {
            throw RequestErrors([plan.error(error, of: field, at: path)])
        }
        return await execute(
            plan, variables: variables, root: event, context: eventContext(),
            onError: errorBehavior, errorsMax: errorsMax, responseBytesMax: responseBytesMax)
    }
}

extension OperationPlan {
    /// Returns the field's arguments, coerced with the request's variables.
    func arguments(
        of field: PlannedField, variables: VariableValues
    ) throws(FieldError) -> ArgumentValues {
        switch field.selected.arguments {
        case .constant(let values):
            return values
        case .variable(let given):
            do throws(GraphQLError) {
                return try coerceArgumentValues(
                    field.selected.definition.arguments, given: given, variables: variables,
                    schema: schema, source: source)
            } catch {
                throw FieldError(error)
            }
        case .invalid(let error):
            throw FieldError(error)
        }
    }

    /// Returns the error with its locations in the document and its path in the response.
    func error(
        _ error: FieldError, of field: PlannedField, at path: [GraphQLError.PathElement]
    ) -> GraphQLError {
        let ofField = { field.selected.locations.map { self.source.location(at: $0.start) } }
        return GraphQLError(
            error.message, locations: error.locations.isEmpty ? ofField() : error.locations,
            path: path, kind: error.kind, extensions: error.extensions
        ).coded(by: errorCodes)
    }
}
