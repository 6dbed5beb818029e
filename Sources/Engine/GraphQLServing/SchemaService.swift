import GraphQL

/// Executes the requests of an `ExecutableSchema` on one event loop or thread. It parses and validates each document once.
///
/// Responses have several parts if the schema has `@defer` and `@stream`, and an operation uses them. Every client may open
/// WebSockets and streams; the context of each operation decides what it may do.
///
/// ```swift
/// let service = SchemaService(schema) { _ in NoContext() }
/// let response = await service.respond(to: GraphQLRequest(query: "{ books { title } }"))
/// ```
public final class SchemaService<Context: ExecutionContext & Sendable>: GraphQLService {
    private let documents: DocumentCache
    private let limits: RequestLimits
    private let acceptsOnError: Bool
    /// The codes of the engine's errors.
    public let errorCodes: ErrorCodes
    private let makeContext: (GraphQLRequest) async throws(RequestErrors) -> Context

    /// - Parameters:
    ///   - schema: The schema with its resolvers.
    ///   - limits: The limits of requests.
    ///   - acceptsOnError: Whether requests may have the parameter `onError`. It is ignored otherwise.
    ///   - errorCodes: The codes of the engine's errors.
    ///   - makeContext: Creates the context of a request, for example with the user of its token. The context of a
    ///     subscription is that of all its events. Errors that it throws are the response.
    public init(
        _ schema: ExecutableSchema<Context>, limits: RequestLimits = RequestLimits(),
        acceptsOnError: Bool = false, errorCodes: ErrorCodes = .apollo,
        makeContext: @escaping (GraphQLRequest) async throws(RequestErrors) -> Context
    ) {
        self.limits = limits
        self.acceptsOnError = acceptsOnError
        self.errorCodes = errorCodes
        self.makeContext = makeContext
        documents = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: limits, errorCodes: errorCodes)
    }

    /// Executes a request. A document is required: persisted queries are not supported.
    public func execute(_ request: GraphQLRequest) async -> GraphQLOperation {
        do throws(RequestErrors) {
            guard let query = request.query else {
                throw RequestErrors([
                    GraphQLError("The request has no query.", kind: .invalidInput)
                ])
            }
            let errorBehavior = acceptsOnError ? try request.errorBehavior() : .propagate
            let document = try await documents.document(Array(query.utf8))
            let (plan, variables, _) = try await document.plan(
                operationName: request.operationName, variables: request.variables ?? .null,
                isIncremental: request.incrementalFormat != nil)
            switch plan.kind {
            case .mutation where request.isReadOnly:
                return .response(
                    GraphQLResponse(
                        body: RequestErrors([.mutationNeedsPOST]).coded(by: errorCodes).body,
                        isRequestError: true,
                        refusal: .mutationInReadOnlyRequest))
            case .subscription where request.expectsSingleResponse:
                throw RequestErrors([.subscriptionNeedsStream])
            case .subscription:
                let context = try await makeContext(request)
                return .responses(
                    try await subscribe(
                        plan, variables: variables, context: context, onError: errorBehavior,
                        errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
                        eventContext: { context }))
            case .query, .mutation:
                let context = try await makeContext(request)
                if plan.isIncremental {
                    let (first, rest) = await executeIncrementally(
                        plan, variables: variables, context: context, onError: errorBehavior,
                        errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
                        format: request.incrementalFormat ?? .draft)
                    let response = Self.response(first)
                    return rest.map { .incremental(response, rest: $0) } ?? .response(response)
                }
                return .response(
                    Self.response(
                        await GraphQL.execute(
                            plan, variables: variables, context: context, onError: errorBehavior,
                            errorsMax: limits.errorsMax,
                            responseBytesMax: limits.responseBytesMax)))
            }
        } catch {
            return .response(
                GraphQLResponse(body: error.coded(by: errorCodes).body, isRequestError: true))
        }
    }

    private static func response(_ result: ExecutionResult) -> GraphQLResponse {
        var response = GraphQLResponse(body: result.body)
        response.errorCodes = result.errors.compactMap(\.code)
        return response
    }
}
