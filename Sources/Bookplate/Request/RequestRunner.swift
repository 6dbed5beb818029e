import GraphQL
import Identity
import Postgres

/// Answers GraphQL requests on one event loop: from the text to the bytes of the response.
package final class RequestRunner {
    /// A request as the transport hands it over.
    package struct Request: Sendable {
        package var document: RequestedDocument
        package var operationName: String?
        /// An object, or null.
        package var variables: Value
        /// Not verified yet.
        package var bearerToken: String?
        /// Mutations are refused.
        package var isReadOnly: Bool
        package var requestID: String
        /// The client's; nil where nothing is to be limited by it.
        package var address: RateKey?
        /// The files of a multipart request; variables name them by `UploadReference`.
        package var uploads: [[UInt8]]
        /// Whether the answer tells what was done for it; development only.
        package var isExplained: Bool
        /// Whether the request's task was cancelled because it took too long. A task that is cancelled for any other
        /// reason has no client any more.
        package var hasTimedOut: @Sendable () -> Bool

        package init(
            _ document: RequestedDocument, operationName: String? = nil, variables: Value = .null,
            bearerToken: String? = nil, isReadOnly: Bool = false, requestID: String = "",
            address: RateKey? = nil, uploads: [[UInt8]] = [], isExplained: Bool = false,
            hasTimedOut: @escaping @Sendable () -> Bool = { false }
        ) {
            self.document = document
            self.operationName = operationName
            self.variables = variables
            self.bearerToken = bearerToken
            self.isReadOnly = isReadOnly
            self.requestID = requestID
            self.address = address
            self.uploads = uploads
            self.isExplained = isExplained
            self.hasTimedOut = hasTimedOut
        }
    }

    package struct Answer: Sendable {
        /// The whole response as JSON.
        package var body: [UInt8]
        /// Whether it was refused before execution: there is no `data`.
        package var isRequestError = false
        /// Whether it is a mutation that came where only queries may.
        package var isForbiddenMutation = false
        /// Whether the next who asks the same may get this answer: nobody in particular asked, a named document, without
        /// variables, and nothing went wrong.
        package var isForEverybody = false
        /// Codes of its errors, for the log.
        package var errorCodes: [String] = []
        package var statistics: Statistics?
        /// Where the caller stands; nil where nothing is limited.
        package var rate: RateLimits.State?
        /// Seconds after which what was refused may be asked again.
        package var retryAfterSeconds: Int?
    }

    private let documents: DocumentCache
    private let texts: DocumentTexts
    private let database: ConnectionPool
    private let services: Services
    private let limits: RequestLimits
    private var tokens = VerifiedTokens()
    /// Of the keys that verified them.
    private var keysVersion = 0
    private var telemetry: OperationTelemetry

    package init(
        _ schema: BookplateSchema, database: ConnectionPool, services: Services,
        limits: RequestLimits = RequestLimits(), documents policy: DocumentPolicy = DocumentPolicy()
    ) {
        texts = DocumentTexts(policy, database)
        documents = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: limits)
        self.database = database
        self.services = services
        self.limits = limits
        telemetry = OperationTelemetry(services)
    }

    /// What an operation gives: one answer, or one for each event.
    package enum Operation {
        case answer(Answer)
        case responses(ResponseStream)
    }

    /// Runs one request that is answered once. To be called on the loop of the connection pool.
    package func run(_ request: Request) async -> Answer {
        let viewer = viewer(of: request.bearerToken, request.requestID)
        var gate = RateGate(services, viewer, request.address)
        var answer: Answer
        do throws(DocumentTexts.Refusal) {
            let planned = try await plan(request, &gate)
            guard planned.plan.kind != .subscription else {
                throw .request(RequestErrors([.needsStream]))
            }
            answer = await run(request, planned, viewer)
        } catch {
            answer = refused(error, request)
        }
        answer.rate = gate.state
        return answer
    }

    /// Runs one request that may be a subscription. To be called on the loop of the connection pool.
    package func open(_ request: Request) async -> Operation {
        let viewer = viewer(of: request.bearerToken, request.requestID)
        var gate = RateGate(services, viewer, request.address)
        var answer: Answer
        do throws(DocumentTexts.Refusal) {
            let planned = try await plan(request, &gate)
            guard planned.plan.kind != .subscription else {
                return .responses(try await subscribe(request, planned, viewer))
            }
            answer = await run(request, planned, viewer)
        } catch {
            answer = refused(error, request)
        }
        answer.rate = gate.state
        return .answer(answer)
    }

    /// A caller who was let in, and whose session is watched while this is kept.
    package struct Admission: Sendable {
        /// When the token runs out, in seconds of Unix time.
        package let expiresAt: Int64
        package let sessionID: UUID
        package let watch: Hub.Watch
    }

    package enum AdmissionError: Error {
        /// The token is not good, or its session has ended.
        case refused
        case rateLimited(retryAfterSeconds: Int)
        /// The database cannot say.
        case unavailable
    }

    /// A token that came by itself and not with a request, so that it is charged as one.
    package struct LoneToken: Sendable {
        let address: RateKey?

        package init(from address: RateKey?) { self.address = address }
    }

    /// Lets a caller open what lasts. To be called on the loop of the connection pool.
    ///
    /// - Parameters:
    ///   - lone: nil where the token came with a request, which was charged.
    ///   - onEnd: called when the session ends, on any thread, perhaps more than once.
    package func admit(
        _ token: String, _ lone: LoneToken? = nil, requestID: String,
        onEnd: @escaping @Sendable () -> Void
    ) async throws(AdmissionError) -> Admission {
        let verified = verification(of: token, requestID)
        if let lone { try charge(verified, lone) }
        guard case .success(let claims) = verified else { throw .refused }
        let viewer = Viewer(claims)
        // Watched first: an end in between is heard of twice rather than not at all.
        let watch = services.hub.watch(session: viewer.sessionID, of: viewer.userID, onEnd: onEnd)
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: requestID)
        do throws(BookplateError) {
            _ = try await context.read { _, _ in }
        } catch {
            throw error == .unauthenticated ? .refused : .unavailable
        }
        return Admission(expiresAt: claims.expiresAt, sessionID: viewer.sessionID, watch: watch)
    }

    /// Charges the user whose token is good, and else the address.
    private func charge(
        _ token: Result<AccessClaims, TokenError>, _ lone: LoneToken
    ) throws(AdmissionError) {
        var gate = RateGate(services, (try? token.get()).map { Viewer($0) }, lone.address)
        do throws(RequestErrors) {
            try gate.admit(1)
        } catch {
            // To wait would not make it good again.
            if case .failure(.expired) = token { throw .refused }
            throw .rateLimited(retryAfterSeconds: gate.state?.waitSeconds ?? 1)
        }
    }

    /// A request whose operation is ready to be executed, and how it came to that.
    private struct Planned {
        let text: DocumentText
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        /// Whether the document's text was seen before.
        let isKnown: Bool
        let start: ContinuousClock.Instant
    }

    private func plan(
        _ request: Request, _ gate: inout RateGate
    ) async throws(DocumentTexts.Refusal) -> Planned {
        // One unit before anything is read; the rest when it is known what is asked for.
        do throws(RequestErrors) { try gate.admit(1) } catch { throw .request(error) }
        let text = try await texts.text(of: request.document)
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
                operationName: request.operationName, variables: request.variables)
            try gate.admit(cost / RateLimits.objectsPerUnit)
        } catch {
            throw .request(error)
        }
        if text.isTrusted == false {
            services.logger.notice(
                "ran a document that no app was published with",
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
        _ request: Request, _ planned: Planned, _ viewer: Viewer?
    ) async throws(DocumentTexts.Refusal) -> ResponseStream {
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: request.requestID,
            rowBytesMax: limits.rowBytesMax, hasTimedOut: request.hasTimedOut)
        do throws(RequestErrors) {
            return counted(
                try await GraphQL.subscribe(
                    planned.plan, variables: planned.variables, context: context,
                    errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
                    eventContext: { context.another() }))
        } catch {
            throw .request(error)
        }
    }

    /// The responses, with their errors counted.
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

    private func run(
        _ request: Request, _ planned: Planned, _ viewer: Viewer?
    ) async -> Answer {
        if request.isReadOnly, planned.plan.kind == .mutation {
            var answer = refused([
                GraphQLError(
                    "GET runs queries only. Send a mutation by POST.",
                    extensions: [.init("code", .string("BAD_USER_INPUT"))])
            ])
            answer.isForbiddenMutation = true
            return answer
        }
        let context = RequestContext(
            viewer: viewer, database: database, services: services, requestID: request.requestID,
            address: request.address, isExplained: request.isExplained,
            mayReadReplica: planned.plan.kind == .query, rowBytesMax: limits.rowBytesMax,
            hasTimedOut: request.hasTimedOut)
        context.uploads = request.uploads
        let executionStart = ContinuousClock.now
        let result = await execute(
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
            planning: finished.planning, execution: finished.execution)
        var answer = Answer(
            body: body ?? result.body,
            isForEverybody: planned.text.isNamed && request.bearerToken == nil
                && (request.variables.isNull || request.variables == .object([]))
                && planned.plan.kind == .query && result.errors.isEmpty,
            errorCodes: finished.errorCodes, statistics: context.statistics)
        answer.retryAfterSeconds = RateGate.retryAfterSeconds(of: result.errors)
        return answer
    }

    /// A request of whoever the token names.
    func context(
        bearerToken: String?, requestID: String, isExplained: Bool = false
    ) -> RequestContext {
        RequestContext(
            viewer: viewer(of: bearerToken, requestID), database: database, services: services,
            requestID: requestID, isExplained: isExplained)
    }

    /// The id of the user that a token is of; nil for one that is not good. That its session is alive is asked
    /// in the database, with the request's first statement.
    package func user(of bearerToken: String, requestID: String) -> UUID? {
        viewer(of: bearerToken, requestID)?.userID
    }

    private func viewer(of bearerToken: String?, _ requestID: String) -> Viewer? {
        bearerToken.flatMap { try? verification(of: $0, requestID).get() }.map { Viewer($0) }
    }

    /// A token that is not good is then the same as none; why is for the log.
    private func verification(
        of token: String, _ requestID: String
    ) -> Result<AccessClaims, TokenError> {
        if keysVersion != services.keyring.version {
            keysVersion = services.keyring.version
            // What a withdrawn key has signed is good no longer.
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
            return try AccessToken.verify(token, keys: services.sessionKeys, now: now)
        } catch .unknownKey(let id) {
            // Another server may have read a new key before this one.
            guard services.keyring.refreshForUnknownKey() else { throw .unknownKey(id: id) }
            return try AccessToken.verify(token, keys: services.sessionKeys, now: now)
        }
    }

    private func refused(_ refusal: DocumentTexts.Refusal, _ request: Request) -> Answer {
        if Task.isCancelled, !request.hasTimedOut() { return abandoned(request) }
        switch refusal {
        case .request(let errors):
            return refused(errors.errors)
        case .database(let error):
            let context = RequestContext(
                viewer: nil, database: database, services: services, requestID: request.requestID,
                hasTimedOut: request.hasTimedOut)
            let known = context.fieldError(services.describe(error, request.requestID))
            return refused([GraphQLError(known.message, extensions: known.extensions)])
        }
    }

    /// The answer to a request that ended before it was executed, because its client left. It is not sent.
    private func abandoned(_ request: Request) -> Answer {
        telemetry.abandoned(nil, request.requestID)
        let error = BookplateError.cancelled
        return Answer(
            body: RequestErrors([
                GraphQLError(error.message, extensions: [.init("code", .string(error.code))])
            ]).body,
            isRequestError: true, errorCodes: [error.code])
    }

    private func refused(_ errors: [GraphQLError]) -> Answer {
        let codes = errors.compactMap(\.code)
        telemetry.refused(codes)
        var answer = Answer(
            body: RequestErrors(errors).body, isRequestError: true, errorCodes: codes)
        answer.retryAfterSeconds = RateGate.retryAfterSeconds(of: errors)
        return answer
    }
}

extension GraphQLError {
    fileprivate static let needsStream = GraphQLError(
        "A subscription has many answers. Accept text/event-stream or "
            + "multipart/mixed;subscriptionSpec=\"1.0\", or ask over a WebSocket.",
        extensions: [.init("code", .string("BAD_USER_INPUT"))])
}

extension Viewer {
    init(_ claims: AccessClaims) {
        self.init(
            userID: .init(claims.userID), tenantID: .init(claims.tenantID),
            sessionID: .init(claims.sessionID))
    }
}

extension RequestLimits {
    /// The maximum memory of the rows that the levels of one operation load: twice the maximum size of the response, and
    /// at least 16 MiB.
    ///
    /// Without it, rows of any size would be loaded for a response that is refused because of its size. The rows need not
    /// be smaller than the response: they also hold columns that the response does not, and libpq needs 16 bytes for each
    /// cell, even if it is null. With 10,000 objects, the most that is allowed, a response of 8 MiB consists of about
    /// 800 bytes for each object. Twice that leaves room for the overhead of 40 cells in each row.
    var rowBytesMax: Int {
        let (twice, overflow) = responseBytesMax.multipliedReportingOverflow(by: 2)
        return overflow ? .max : max(twice, 16 << 20)
    }
}
