/// A load of a field of the subscription root: it opens the field's events, and then resolves the field for each.
///
/// The field is resolved as any other, with the event in place of the root.
public protocol PreparedSubscription: PreparedLoad {
    /// Begins to watch for events: those from the moment of the call on are not missed.
    ///
    /// - Throws: why there can be no events, which ends the operation before its first response.
    ///
    /// Spec: https://spec.graphql.org/September2025/#ResolveFieldEventStream()
    func open(
        arguments: ArgumentValues, in context: any ExecutionContext
    ) async throws(FieldError) -> any SourceStream
}

/// The events of one subscription, fetched one after the other by who can use them.
///
/// A slow reader fetches seldom; what waits for it meanwhile is the source's to bound.
public protocol SourceStream: AnyObject {
    /// Waits for the next event.
    ///
    /// - Returns: the event as the one object of the root; nil when there are no more, or the task is cancelled.
    func next() async throws(FieldError) -> (any ObjectBatch)?
}

/// One response for each event of a subscription.
///
/// Spec: https://spec.graphql.org/September2025/#MapSourceToResponseEvent()
public final class ResponseStream {
    private let advance: () async throws(RequestErrors) -> ExecutionResult?

    public init(_ advance: @escaping () async throws(RequestErrors) -> ExecutionResult?) {
        self.advance = advance
    }

    /// Waits for the next response.
    ///
    /// - Returns: nil when there are no more, or the task is cancelled.
    /// - Throws: why there are no more, where that is not their natural end.
    public func next() async throws(RequestErrors) -> ExecutionResult? { try await advance() }
}

/// Opens the events of a subscription; each is executed when the response is asked for.
///
/// - Parameters:
///   - context: what the source is opened with.
///   - eventContext: makes the context that an event is executed with.
/// - Throws: why there can be no events: of the arguments, or as the source says.
///
/// Spec: https://spec.graphql.org/September2025/#Subscribe()
public func subscribe(
    _ plan: OperationPlan, variables: VariableValues, context: any ExecutionContext,
    errorsMax: Int = 100, responseBytesMax: Int = .max,
    eventContext: @escaping () -> any ExecutionContext
) async throws(RequestErrors) -> ResponseStream {
    // Validation leaves one field; `@skip` and `@include` may not stand there.
    guard plan.kind == .subscription, let field = plan.root.fields.first,
        let subscription = field.load as? any PreparedSubscription
    else { throw RequestErrors([GraphQLError("The operation has no events to subscribe to.")]) }
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
            errorsMax: errorsMax, responseBytesMax: responseBytesMax)
    }
}

extension OperationPlan {
    /// The field's arguments with the request's variables.
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

    /// The error with its place in the document and in the response.
    func error(
        _ error: FieldError, of field: PlannedField, at path: [GraphQLError.PathElement]
    ) -> GraphQLError {
        let ofField = { field.selected.locations.map { self.source.location(at: $0.start) } }
        return GraphQLError(
            error.message, locations: error.locations.isEmpty ? ofField() : error.locations,
            path: path, extensions: error.extensions)
    }
}
