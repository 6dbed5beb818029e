import GraphQL
import GraphQLServing
import Identity
import Postgres

/// Executes GraphQL requests on one event loop, from the text of the document to the bytes of the response.
package final class RequestRunner: GraphQLService {
    private let documents: DocumentCache
    private let texts: DocumentTexts
    private let database: ConnectionPool
    private let services: Services
    private let limits: RequestLimits
    private var tokens = VerifiedTokens()
    /// The version of the keys that verified `tokens`.
    private var keysVersion = 0
    private var telemetry: OperationTelemetry
    private let usage: SchemaUsage.Counts
    /// Whether responses report their database work, and on request explain their execution.
    private let isDevelopment: Bool

    package init(
        _ schema: BookplateSchema, database: ConnectionPool, services: Services,
        limits: RequestLimits = .bookplate,
        documents policy: DocumentPolicy = DocumentPolicy(),
        isDevelopment: Bool = false
    ) {
        self.isDevelopment = isDevelopment
        texts = DocumentTexts(policy, database)
        documents = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: limits)
        self.database = database
        self.services = services
        self.limits = limits
        telemetry = OperationTelemetry(services)
        usage = services.usage.makeCounts()
    }

    package func execute(_ request: GraphQLRequest) async -> GraphQLOperation {
        let address = request.client.map { RateKey($0) }
        var token: KnownToken?
        if let text = request.bearerToken, PersonalToken.isOne(text) {
            do throws(BookplateError) {
                token = try await personalToken(text, address, request.requestID)
            } catch {
                return .response(
                    refused(.request(error.requestErrors(requestID: request.requestID)), request))
            }
        }
        let viewer = token?.viewer ?? self.viewer(of: request.bearerToken, request.requestID)
        var gate = RateGate(services, viewer, address)
        var response: GraphQLResponse
        do throws(DocumentTexts.Refusal) {
            let planned = try await plan(request, token, &gate)
            if planned.plan.kind == .subscription {
                guard !request.expectsSingleResponse else {
                    throw .request(RequestErrors([.subscriptionNeedsStream]))
                }
                return .responses(try await subscribe(request, planned, viewer))
            }
            response = await run(request, planned, viewer)
        } catch {
            response = refused(error, request)
        }
        response.rateLimit = gate.state.map { RateLimitStatus($0) }
        return .response(response)
    }

    package func accepts(bearerToken: String, requestID: String) -> Bool {
        if PersonalToken.isOne(bearerToken) {
            return PersonalToken(bearerToken).map(services.mayUpload) ?? false
        }
        return user(of: bearerToken, requestID: requestID) != nil
    }

    /// Finds a personal access token.
    private func personalToken(
        _ text: String, _ address: RateKey?, _ requestID: String
    ) async throws(BookplateError) -> KnownToken {
        let context = RequestContext(
            viewer: nil, database: database, services: services, requestID: requestID,
            address: address)
        return try await context.token(TokenCredential(bearer: text))
    }

    package func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        let (viewer, tokenLifetime) = try await connectionCaller(bearerToken, kind)
        // Watch the session before checking it, so that no end of the session is missed in between.
        let watch = services.hub.watch(
            session: viewer.sessionID, of: viewer.userID, onEnd: onSessionEnd)
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: "")
        do throws(BookplateError) {
            try await context.read { _, _ in }
        } catch {
            throw error == .unauthenticated ? .unauthenticated : .unavailable
        }
        return AuthenticatedConnection(
            tokenLifetime: tokenLifetime, session: viewer.sessionID.description, watch: watch)
    }

    /// The longest time for which a connection is open without a new token.
    private static let tokenLifetimeMax = Duration.seconds(365 * 86_400)

    /// Returns the caller of a long-lived connection, and the time until the token expires.
    private func connectionCaller(
        _ bearerToken: String, _ kind: ConnectionKind
    ) async throws(ConnectionAuthenticationError) -> (Viewer, Duration) {
        var address: RateKey?
        if case .socket(let client) = kind { address = client.map { RateKey($0) } }
        if PersonalToken.isOne(bearerToken) {
            do throws(BookplateError) {
                let token = try await personalToken(bearerToken, address, "")
                if case .socket = kind { try charge(token.viewer, address) }
                let lifetime = token.lifetime ?? Self.tokenLifetimeMax
                return (token.viewer, min(lifetime, Self.tokenLifetimeMax))
            } catch {
                throw ConnectionAuthenticationError(error)
            }
        }
        let verified = verification(of: bearerToken, "")
        if case .socket = kind {
            do throws(BookplateError) {
                try charge((try? verified.get()).map { Viewer($0) }, address)
            } catch {
                // An expired token stays invalid, so the client need not wait.
                if case .failure(.expired) = verified { throw .unauthenticated }
                throw ConnectionAuthenticationError(error)
            }
        }
        guard case .success(let claims) = verified else { throw .unauthenticated }
        return (Viewer(claims), .seconds(claims.expiresAt - unixSecondsNow()))
    }

    /// Charges the authentication of a WebSocket to the user if the token is valid, and to the address otherwise.
    private func charge(_ viewer: Viewer?, _ address: RateKey?) throws(BookplateError) {
        var gate = RateGate(services, viewer, address)
        do throws(RequestErrors) {
            try gate.admit(1)
        } catch {
            throw .rateLimited(retryAfterSeconds: gate.state?.waitSeconds ?? 1)
        }
    }

    /// A request whose operation has been parsed, validated, and planned.
    private struct Planned {
        let text: DocumentText
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        /// Whether the document was in the cache.
        let isKnown: Bool
        let start: ContinuousClock.Instant
    }

    private func plan(
        _ request: GraphQLRequest, _ token: KnownToken?, _ gate: inout RateGate
    ) async throws(DocumentTexts.Refusal) -> Planned {
        // Charge one unit before the document is read, and the rest when the cost of the operation is known.
        do throws(RequestErrors) { try gate.admit(1) } catch { throw .request(error) }
        let text = try await texts.text(
            of: RequestedDocument(
                query: request.query, documentID: request.documentID,
                persistedQuery: request.extensions?["persistedQuery"]))
        if let documents = token?.documents {
            guard try await texts.isTrusted(text, among: documents) else {
                throw .request(
                    BookplateError.forbidden(
                        "The personal access token is bound to trusted documents. This is not one of them."
                    ).requestErrors(requestID: request.requestID))
            }
        }
        let start = ContinuousClock.now
        let missesBefore = documents.missCount
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        let cost: Int
        do throws(RequestErrors) {
            document = try documents.document(text.bytes)
            texts.register(text)
            (plan, variables, cost) = try document.plan(
                operationName: request.operationName, variables: request.variables ?? .null)
            try gate.admit(cost / RateLimits.objectsPerUnit)
        } catch {
            throw .request(error)
        }
        do throws(BookplateError) {
            try token?.check(plan.scopes)
        } catch {
            throw .request(error.requestErrors(requestID: request.requestID))
        }
        if text.isTrusted == false {
            services.logger.notice(
                "executed a document that is not trusted",
                metadata: [
                    "request_id": "\(request.requestID)", "operation": "\(plan.name ?? "")",
                    "sha256": "\(lowercaseHex(sha256(text.bytes)))",
                ])
        }
        let isKnown = documents.missCount == missesBefore
        telemetry.lookedUp(isKnown: isKnown)
        return Planned(
            text: text, document: document, plan: plan, variables: variables, isKnown: isKnown,
            start: start)
    }

    private func subscribe(
        _ request: GraphQLRequest, _ planned: Planned, _ viewer: Viewer?
    ) async throws(DocumentTexts.Refusal) -> ResponseStream {
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: request.requestID,
            rowBytesMax: limits.rowBytesMax, hasTimedOut: request.hasTimedOut)
        count(planned, request, viewer)
        do throws(RequestErrors) {
            return counted(
                try await GraphQL.subscribe(
                    planned.plan, variables: planned.variables, context: context,
                    errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
                    eventContext: { context.makeEventContext() }))
        } catch {
            throw .request(error)
        }
    }

    /// Returns the same responses, and counts their errors.
    private func counted(_ responses: ResponseStream) -> ResponseStream {
        ResponseStream { () throws(RequestErrors) in
            do throws(RequestErrors) {
                let response = try await responses.next()
                self.telemetry.count(response?.errors.compactMap(\.code) ?? [])
                return response
            } catch {
                self.telemetry.count(error.errors.compactMap(\.code))
                throw error
            }
        }
    }

    /// Counts the elements of the schema that the operation uses.
    private func count(_ planned: Planned, _ request: GraphQLRequest, _ viewer: Viewer?) {
        usage.add(
            planned.plan, variables: request.variables,
            by: UsageClient(tenantID: viewer?.tenantID, app: request.app))
    }

    private func run(
        _ request: GraphQLRequest, _ planned: Planned, _ viewer: Viewer?
    ) async -> GraphQLResponse {
        if request.isReadOnly, planned.plan.kind == .mutation {
            var response = refused([
                GraphQLError(
                    "GET requests can only execute queries. Send mutations with POST.",
                    extensions: [.init("code", .string("BAD_USER_INPUT"))])
            ])
            response.refusal = .mutationInReadOnlyRequest
            return response
        }
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: request.requestID,
            address: request.client.map { RateKey($0) },
            isExplained: isDevelopment && request.extensions?["explain"]?.boolean == true,
            mayReadReplica: planned.plan.kind == .query, rowBytesMax: limits.rowBytesMax,
            hasTimedOut: request.hasTimedOut)
        context.uploads = request.uploads
        count(planned, request, viewer)
        let executionStart = ContinuousClock.now
        let result = await GraphQL.execute(
            planned.plan, variables: planned.variables, context: context,
            errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax)
        let finished = OperationTelemetry.Finished(
            request: request, text: planned.text.bytes, kind: planned.plan.kind,
            operationName: planned.plan.name,
            planning: executionStart - planned.start, execution: .now - executionStart,
            errorCodes: result.errors.compactMap(\.code),
            statementCount: context.statistics.statementCount,
            roundTripCount: context.statistics.roundTripCount)
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

    /// Returns the context of a request that is not a GraphQL request.
    func context(
        bearerToken: String?, requestID: String, isExplained: Bool = false
    ) -> RequestContext {
        RequestContext(
            viewer: viewer(of: bearerToken, requestID), database: database, services: services,
            requestID: requestID, isExplained: isExplained)
    }

    /// Returns the user of an access token; nil if the token is invalid.
    ///
    /// This does not check whether the session has ended. The first pipeline of a request does that.
    package func user(of bearerToken: String, requestID: String) -> UUID? {
        viewer(of: bearerToken, requestID)?.userID
    }

    private func viewer(of bearerToken: String?, _ requestID: String) -> Viewer? {
        bearerToken.flatMap { try? verification(of: $0, requestID).get() }.map { Viewer($0) }
    }

    /// Verifies an access token, or finds it in the cache. The reason for a refusal is logged.
    ///
    /// Requests with an invalid token are executed as anonymous requests.
    private func verification(
        of token: String, _ requestID: String
    ) -> Result<AccessClaims, TokenError> {
        if keysVersion != services.accounts.keyring.version {
            keysVersion = services.accounts.keyring.version
            // Tokens signed by a removed key are no longer valid.
            tokens = VerifiedTokens()
        }
        let now = unixSecondsNow()
        let bytes = Array(token.utf8)
        if let claims = tokens.claims(of: bytes, now: now) { return .success(claims) }
        do throws(TokenError) {
            let claims = try verified(token, now: now)
            tokens.insert(claims, for: bytes)
            return .success(claims)
        } catch {
            services.logger.info(
                "refused an access token",
                metadata: ["request_id": "\(requestID)", "reason": "\(error.reason)"])
            return .failure(error)
        }
    }

    private func verified(_ token: String, now: UnixSeconds) throws(TokenError) -> AccessClaims {
        do throws(TokenError) {
            return try AccessToken.verify(token, keys: services.accounts.sessionKeys, now: now)
        } catch .unknownKey(let id) {
            // Another server may have loaded a new key before this one.
            guard services.accounts.keyring.refreshForUnknownKey() else {
                throw .unknownKey(id: id)
            }
            return try AccessToken.verify(token, keys: services.accounts.sessionKeys, now: now)
        }
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
                viewer: nil, database: database, services: services, requestID: request.requestID,
                hasTimedOut: request.hasTimedOut)
            let known = context.fieldError(
                services.bookplateError(error, request.requestID, isReadOnly: true))
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
