import GraphQL
import GraphQLServing
import Identity
import Postgres

/// Executes GraphQL requests on one event loop, from the text of the document to the bytes of the response.
package final class RequestRunner: GraphQLService {
    package let errorCodes = ErrorCodes.bookplate
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
            schema: schema, resolvers: resolvers, limits: limits, errorCodes: .bookplate)
        self.database = database
        self.environment = environment
        self.product = product
        self.limits = limits
        tokens = TokenVerifier(environment)
        telemetry = OperationTelemetry(environment)
        usage = environment.usage.makeCounts()
    }

    /// Executes a request in stages: find the caller, admit the request, find the document, plan the operation, admit it, execute it,
    /// and respond.
    package func execute(_ request: GraphQLRequest) async -> GraphQLOperation {
        let caller: Caller
        do throws(BookplateError) {
            caller = try await findCaller(of: request)
        } catch {
            return .response(
                refused(.request(error.requestErrors(for: request)), request))
        }
        do throws(DocumentTexts.Refusal) {
            let errorBehavior = try admit(request, caller)
            let text = try await findDocument(of: request, caller)
            let planned = try await plan(text, request, caller, errorBehavior)
            try admit(planned, request, caller)
            if max(text.bytes.count, request.bodyByteCount) > Self.largeBytes { await Task.yield() }
            return respond(try await execute(planned, request, caller), to: caller)
        } catch {
            return respond(.response(refused(error, request)), to: caller)
        }
    }

    /// The caller of a request, and what is charged to it.
    struct Caller {
        /// The personal access token, or the access token of an app; nil for a session and for an anonymous request.
        let token: KnownToken?
        let viewer: Viewer?
        let charges: RequestCharges
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
        let cost: Int
        /// Whether the document was in the cache.
        let isKnown: Bool
        let errorBehavior: ErrorBehavior
        let start: ContinuousClock.Instant
        /// The time that parsing, validation, and planning took.
        let time: Duration
    }

    /// The size of a document or body that can take milliseconds to validate, to plan, and to execute. Other requests have their turn
    /// in between.
    private static let largeBytes = 1024

    // MARK: - Stages

    private func findCaller(of request: GraphQLRequest) async throws(BookplateError) -> Caller {
        let address = request.client.map { RateKey($0) }
        var token: KnownToken?
        if let text = request.bearerToken, TokenCredential.isToken(text) {
            token = try await personalToken(text, address, request.requestID)
        }
        let viewer = token?.viewer ?? viewer(of: request.bearerToken, request.requestID)
        return Caller(
            token: token, viewer: viewer, charges: RequestCharges(environment, viewer, address))
    }

    /// Charges a request and its size before its document is read.
    private func admit(
        _ request: GraphQLRequest, _ caller: Caller
    ) throws(DocumentTexts.Refusal) -> ErrorBehavior {
        do throws(RequestErrors) {
            try charge(1 + RateLimits.units(forBodyOf: request.bodyByteCount), caller, request)
            return acceptsOnError ? try request.errorBehavior() : .propagate
        } catch {
            throw .request(error)
        }
    }

    private func findDocument(
        of request: GraphQLRequest, _ caller: Caller
    ) async throws(DocumentTexts.Refusal) -> DocumentText {
        let text = try await texts.text(
            of: RequestedDocument(
                query: request.query, documentID: request.documentID,
                persistedQuery: request.extensions?["persistedQuery"]))
        if let documents = caller.token?.documents {
            try await requireTrusted(text, among: documents, request)
        }
        return text
    }

    /// Parses, validates, and plans the operation, or takes its plan from the cache.
    private func plan(
        _ text: DocumentText, _ request: GraphQLRequest, _ caller: Caller,
        _ errorBehavior: ErrorBehavior
    ) async throws(DocumentTexts.Refusal) -> Planned {
        let start = ContinuousClock.now
        let timer = TurnTimer()
        do throws(RequestErrors) {
            let known = try documents.cached(text.bytes)
            let document: CachedDocument
            if let known {
                document = known
            } else {
                document = try await documents.add(text.bytes, timer: timer)
                if text.bytes.count > Self.largeBytes { await timer.giveWay() }
            }
            texts.register(text)
            let (plan, variables, cost) = try await document.plan(
                operationName: request.operationName, variables: request.variables ?? .null,
                isIncremental: request.incrementalFormat != nil)
            return Planned(
                text: text, document: document, plan: plan, variables: variables, cost: cost,
                isKnown: known != nil, errorBehavior: errorBehavior, start: start,
                time: timer.elapsed)
        } catch {
            // A document that turns out to be invalid takes long, too.
            caller.charges.spend(timer.elapsed)
            throw .request(error)
        }
    }

    /// Charges the cost of an operation and the time of its planning, which may be long because of large variables, and checks
    /// the scopes of the token.
    private func admit(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) throws(DocumentTexts.Refusal) {
        defer { caller.charges.spend(planned.time) }
        do throws(RequestErrors) {
            try charge(planned.cost / RateLimits.objectsPerUnit, caller, request)
        } catch {
            throw .request(error)
        }
        do throws(BookplateError) {
            try caller.token?.check(planned.plan.scopes)
        } catch {
            throw .request(error.requestErrors(for: request))
        }
    }

    private func execute(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) async throws(DocumentTexts.Refusal) -> GraphQLOperation {
        note(planned, request)
        switch planned.plan.kind {
        case .subscription:
            guard !request.expectsSingleResponse else {
                throw .request(RequestErrors([.subscriptionNeedsStream]))
            }
            return .responses(try await subscribe(planned, request, caller))
        case .mutation where request.isReadOnly:
            var response = refused([.mutationNeedsPOST])
            response.refusal = .mutationInReadOnlyRequest
            return .response(response)
        case .query, .mutation:
            if planned.plan.isIncremental {
                return await runIncrementally(planned, request, caller)
            }
            return .response(await run(planned, request, caller))
        }
    }

    /// Adds the state of the caller's rate limit.
    private func respond(_ operation: GraphQLOperation, to caller: Caller) -> GraphQLOperation {
        let limit = caller.charges.limit.map { RateLimitStatus($0) }
        switch operation {
        case .response(var response):
            response.rateLimit = limit
            return .response(response)
        case .incremental(var first, let rest):
            first.rateLimit = limit
            return .incremental(first, rest: rest)
        case .responses: return operation
        }
    }

    // MARK: - Parts of the stages

    private func charge(
        _ units: Int, _ caller: Caller, _ request: GraphQLRequest
    ) throws(RequestErrors) {
        do throws(BookplateError) {
            try caller.charges.admit(units)
        } catch {
            throw error.requestErrors(for: request)
        }
    }

    /// Logs and counts an operation that is about to be executed.
    private func note(_ planned: Planned, _ request: GraphQLRequest) {
        let plan = planned.plan
        if planned.text.isTrusted == false {
            environment.logger.notice(
                "executed a document that is not trusted",
                metadata: [
                    "request_id": "\(request.requestID)",
                    "operation": "\((plan.name ?? "").prefix(100))",
                    "sha256": "\(lowercaseHex(sha256(planned.text.bytes)))",
                ])
        }
        database.executor.note("planned \(plan.name ?? "an operation") \(request.requestID)")
        telemetry.lookedUp(isKnown: planned.isKnown)
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
                ).requestErrors(for: request))
        }
    }

    /// Counts the elements of the schema that the operation uses, by app.
    func countUsage(_ planned: Planned, _ request: GraphQLRequest, _ caller: Caller) {
        usage.add(
            planned.plan, variables: request.variables,
            by: UsageClient(tenantID: caller.viewer?.tenantID, app: request.app))
    }

    private func run(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) async -> GraphQLResponse {
        let context = makeContext(planned, request, caller)
        countUsage(planned, request, caller)
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
        response.operationName = finished.operationName
        if isDevelopment {
            response.databaseCost = DatabaseCost(
                statementCount: finished.statementCount, roundTripCount: finished.roundTripCount)
        }
        return response
    }

    func makeContext(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) -> RequestContext {
        let context = RequestContext(
            viewer: caller.viewer, database: database, environment: environment, product: product,
            requestID: request.requestID, address: request.client.map { RateKey($0) },
            charges: caller.charges,
            isExplained: isDevelopment && request.extensions?["explain"]?.boolean == true,
            mayReadReplica: planned.plan.kind == .query, rowBytesMax: limits.rowBytesMax,
            hasTimedOut: request.hasTimedOut)
        context.acceptLanguage = request.acceptLanguage
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
            context.acceptLanguage = request.acceptLanguage
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
