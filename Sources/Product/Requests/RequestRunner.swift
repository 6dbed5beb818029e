import GraphQL
import GraphQLServing
import Identity
import Postgres

/// Executes GraphQL requests on one event loop, from the text of the document to the bytes of the response.
package final class RequestRunner: GraphQLService {
    private let documents: DocumentCache
    private let texts: DocumentTexts
    let database: ConnectionPool
    let environment: RequestEnvironment
    let product: any AnyObject & Sendable
    let limits: RequestLimits
    var tokens: TokenVerifier
    var telemetry: OperationTelemetry
    private let usage: SchemaUsage.Counts
    /// Whether responses report their database work, and on request explain their execution.
    private let isDevelopment: Bool
    /// Whether requests may have the parameter `onError`. It is ignored otherwise.
    private let acceptsOnError: Bool

    /// - Parameters:
    ///   - product: The services of the product, for its resolvers.
    ///   - isDevelopment: Whether responses report their database work, and on request explain their execution.
    ///   - acceptsOnError: Whether requests may have the parameter `onError`.
    package init(
        _ schema: Schema, _ resolvers: any ResolverSource, database: ConnectionPool,
        environment: RequestEnvironment, product: any AnyObject & Sendable,
        limits: RequestLimits, documents policy: DocumentPolicy, isDevelopment: Bool,
        acceptsOnError: Bool
    ) {
        self.isDevelopment = isDevelopment
        self.acceptsOnError = acceptsOnError
        texts = DocumentTexts(policy, database)
        documents = DocumentCache(
            schema: schema, resolvers: resolvers, limits: limits, errorCodes: .apollo)
        self.database = database
        self.environment = environment
        self.product = product
        self.limits = limits
        tokens = TokenVerifier(environment)
        telemetry = OperationTelemetry(environment)
        usage = environment.usage.makeCounts()
    }

    package func execute(_ request: GraphQLRequest) async -> GraphQLOperation {
        let address = request.client.map { RateKey($0) }
        var token: KnownToken?
        if let text = request.bearerToken, TokenCredential.isToken(text) {
            do throws(BookplateError) {
                token = try await personalToken(text, address, request.requestID)
            } catch {
                return .response(
                    refused(.request(error.requestErrors(requestID: request.requestID)), request))
            }
        }
        let viewer = token?.viewer ?? self.viewer(of: request.bearerToken, request.requestID)
        let charges = RequestCharges(environment, viewer, address)
        var response: GraphQLResponse
        do throws(DocumentTexts.Refusal) {
            let planned = try await plan(request, token, charges)
            if max(planned.text.bytes.count, request.bodyByteCount) > Self.largeBytes {
                await Task.yield()
            }
            if planned.plan.kind == .subscription {
                guard !request.expectsSingleResponse else {
                    throw .request(RequestErrors([.subscriptionNeedsStream]))
                }
                return .responses(try await subscribe(request, planned, viewer, charges))
            }
            if planned.plan.isIncremental, !planned.isRefused(request) {
                let (first, rest) = await runIncrementally(
                    request, planned, viewer, charges)
                response = first
                response.rateLimit = charges.limit.map { RateLimitStatus($0) }
                if let rest { return .incremental(response, rest: rest) }
                return .response(response)
            }
            response = await run(request, planned, viewer, charges)
        } catch {
            response = refused(error, request)
        }
        response.rateLimit = charges.limit.map { RateLimitStatus($0) }
        return .response(response)
    }

    package func accepts(bearerToken: String, requestID: String) -> Bool {
        if TokenCredential.isToken(bearerToken) {
            return environment.mayUpload(TokenCredential(bearer: bearerToken))
        }
        return user(of: bearerToken, requestID: requestID) != nil
    }

    /// Finds a personal access token.
    func personalToken(
        _ text: String, _ address: RateKey?, _ requestID: String
    ) async throws(BookplateError) -> KnownToken {
        let context = makeContext(nil, requestID, address)
        return try await context.token(TokenCredential(bearer: text))
    }

    /// A request whose operation has been parsed, validated, and planned.
    struct Planned {
        let text: DocumentText
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        /// Whether the document was in the cache.
        let isKnown: Bool
        let errorBehavior: ErrorBehavior
        let start: ContinuousClock.Instant

        /// Whether the operation is a mutation of a request that may not change anything.
        func isRefused(_ request: GraphQLRequest) -> Bool {
            request.isReadOnly && plan.kind == .mutation
        }
    }

    /// The size of a document or body that can take milliseconds to validate, to plan, and to execute. Other requests have their turn
    /// in between.
    private static let largeBytes = 1024

    /// Finds the document of a request, plans its operation, and charges its cost.
    private func plan(
        _ request: GraphQLRequest, _ token: KnownToken?, _ charges: RequestCharges
    ) async throws(DocumentTexts.Refusal) -> Planned {
        // Charge the request and its size before the document is read, and the rest when the cost of the operation is known.
        let errorBehavior: ErrorBehavior
        do throws(RequestErrors) {
            try charge(1 + RateLimits.units(forBodyOf: request.bodyByteCount), charges)
            errorBehavior = acceptsOnError ? try request.errorBehavior() : .propagate
        } catch {
            throw .request(error)
        }
        let text = try await texts.text(
            of: RequestedDocument(
                query: request.query, documentID: request.documentID,
                persistedQuery: request.extensions?["persistedQuery"]))
        if let documents = token?.documents {
            try await requireTrusted(text, among: documents, request)
        }
        let start = ContinuousClock.now
        let missesBefore = documents.missCount
        var turnStart = start
        // Large variables take long, too, as does a document that turns out to be invalid.
        defer { charges.spend(.now - turnStart) }
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        let cost: Int
        let isKnown: Bool
        do throws(RequestErrors) {
            document = try documents.document(text.bytes)
            isKnown = documents.missCount == missesBefore
            texts.register(text)
            if !isKnown, text.bytes.count > Self.largeBytes {
                charges.spend(.now - turnStart)
                await Task.yield()
                turnStart = .now
            }
            (plan, variables, cost) = try document.plan(
                operationName: request.operationName, variables: request.variables ?? .null,
                isIncremental: request.incrementalFormat != nil)
            try charge(cost / RateLimits.objectsPerUnit, charges)
        } catch {
            throw .request(error)
        }
        do throws(BookplateError) {
            try token?.check(plan.scopes)
        } catch {
            throw .request(error.requestErrors(requestID: request.requestID))
        }
        if text.isTrusted == false {
            environment.logger.notice(
                "executed a document that is not trusted",
                metadata: [
                    "request_id": "\(request.requestID)",
                    "operation": "\((plan.name ?? "").prefix(100))",
                    "sha256": "\(lowercaseHex(sha256(text.bytes)))",
                ])
        }
        database.executor.note("planned \(plan.name ?? "an operation") \(request.requestID)")
        telemetry.lookedUp(isKnown: isKnown)
        return Planned(
            text: text, document: document, plan: plan, variables: variables, isKnown: isKnown,
            errorBehavior: errorBehavior, start: start)
    }

    private func charge(_ units: Int, _ charges: RequestCharges) throws(RequestErrors) {
        do throws(BookplateError) {
            try charges.admit(units)
        } catch {
            throw error.requestErrors(requestID: "")
        }
    }

    /// - Throws: `.request` if a text is not one of the trusted documents to which a token is bound.
    private func requireTrusted(
        _ text: DocumentText, among documents: Set<String>, _ request: GraphQLRequest
    ) async throws(DocumentTexts.Refusal) {
        guard try await texts.isTrusted(text, among: documents) else {
            throw .request(
                BookplateError.forbidden(
                    "The personal access token is bound to trusted documents, and this is not one of them. Send one of them "
                        + "without changes, or create a token without documents."
                ).requestErrors(requestID: request.requestID))
        }
    }

    /// Counts the elements of the schema that the operation uses, by app.
    func countUsage(_ planned: Planned, _ request: GraphQLRequest, _ viewer: Viewer?) {
        usage.add(
            planned.plan, variables: request.variables,
            by: UsageClient(tenantID: viewer?.tenantID, app: request.app))
    }

    private func run(
        _ request: GraphQLRequest, _ planned: Planned, _ viewer: Viewer?,
        _ charges: RequestCharges
    ) async -> GraphQLResponse {
        if planned.isRefused(request) {
            var response = refused([.mutationNeedsPOST])
            response.refusal = .mutationInReadOnlyRequest
            return response
        }
        let context = makeContext(request, planned, viewer, charges)
        countUsage(planned, request, viewer)
        let executionStart = ContinuousClock.now
        let result = await GraphQL.execute(
            planned.plan, variables: planned.variables, context: context,
            onError: planned.errorBehavior, errorsMax: limits.errorsMax,
            responseBytesMax: limits.responseBytesMax)
        let finished = OperationTelemetry.Finished(
            request, text: planned.text.bytes, planned.plan, planningStart: planned.start,
            executionStart: executionStart, errorCodes: result.errors.compactMap(\.code),
            context.statistics)
        telemetry.finished(finished, isAbandoned: Task.isCancelled && !request.hasTimedOut())
        let body = context.explanation?.added(
            to: result.body, isKnown: planned.isKnown, document: planned.document,
            scopes: planned.plan.scopes, planning: finished.planning, execution: finished.execution)
        var response = GraphQLResponse(
            body: body ?? result.body, refusal: GraphQLResponse.Refusal(result.errors))
        response.isPublic =
            planned.text.isNamed && request.bearerToken == nil && !request.hasVariables
            && planned.plan.kind == .query && result.errors.isEmpty
        response.errorCodes = finished.errorCodes
        if isDevelopment {
            response.databaseCost = DatabaseCost(
                statementCount: finished.statementCount, roundTripCount: finished.roundTripCount)
        }
        return response
    }

    func makeContext(
        _ request: GraphQLRequest, _ planned: Planned, _ viewer: Viewer?,
        _ charges: RequestCharges
    ) -> RequestContext {
        let context = RequestContext(
            viewer: viewer, database: database, environment: environment, product: product,
            requestID: request.requestID, address: request.client.map { RateKey($0) },
            charges: charges,
            isExplained: isDevelopment && request.extensions?["explain"]?.boolean == true,
            mayReadReplica: planned.plan.kind == .query, rowBytesMax: limits.rowBytesMax,
            hasTimedOut: request.hasTimedOut)
        context.uploads = request.uploads
        return context
    }

    /// Returns the context of a request that is not a GraphQL request.
    package func context(
        bearerToken: String?, requestID: String, isExplained: Bool = false
    ) -> RequestContext {
        RequestContext(
            viewer: viewer(of: bearerToken, requestID), database: database,
            environment: environment, product: product, requestID: requestID,
            isExplained: isExplained)
    }

    func makeContext(
        _ viewer: Viewer?, _ requestID: String, _ address: RateKey? = nil
    ) -> RequestContext {
        RequestContext(
            viewer: viewer, database: database, environment: environment, product: product,
            requestID: requestID, address: address)
    }

    /// Returns the user of an access token; nil if the token is invalid.
    ///
    /// This does not check whether the session has ended. The first pipeline of a request does that.
    package func user(of bearerToken: String, requestID: String) -> UUID? {
        viewer(of: bearerToken, requestID)?.userID
    }

    private func viewer(of bearerToken: String?, _ requestID: String) -> Viewer? {
        bearerToken.flatMap { try? tokens.verify($0, requestID).get() }.map { Viewer($0) }
    }

    private func refused(
        _ refusal: DocumentTexts.Refusal, _ request: GraphQLRequest
    ) -> GraphQLResponse {
        if Task.isCancelled, !request.hasTimedOut() { return abandoned(request) }
        switch refusal {
        case .request(let errors):
            return refused(errors.errors)
        case .database(let error):
            let context = RequestContext(
                viewer: nil, database: database, environment: environment, product: product,
                requestID: request.requestID, hasTimedOut: request.hasTimedOut)
            let known = context.fieldError(
                environment.bookplateError(error, request.requestID, isReadOnly: true))
            return refused([GraphQLError(known.message, extensions: known.extensions)])
        }
    }

    /// Returns the response to a request whose client disconnected before it was executed. It is not sent.
    private func abandoned(_ request: GraphQLRequest) -> GraphQLResponse {
        telemetry.abandoned(nil, request.requestID)
        let error = BookplateError.cancelled
        var response = GraphQLResponse(
            body: RequestErrors([
                GraphQLError(error.message, extensions: [.init("code", .string(error.code))])
            ]).body,
            isRequestError: true)
        response.errorCodes = [error.code]
        return response
    }

    private func refused(_ errors: [GraphQLError]) -> GraphQLResponse {
        let errors = errors.map { $0.coded(by: errorCodes) }
        let codes = errors.compactMap(\.code)
        telemetry.refused(codes)
        var response = GraphQLResponse(
            body: RequestErrors(errors).body, isRequestError: true,
            refusal: GraphQLResponse.Refusal(errors))
        response.errorCodes = codes
        return response
    }
}

extension GraphQLRequest {
    fileprivate var hasVariables: Bool {
        guard let variables, !variables.isNull else { return false }
        return variables != .object([])
    }
}
