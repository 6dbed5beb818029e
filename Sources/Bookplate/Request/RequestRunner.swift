import GraphQL
import Identity
import Postgres

/// Answers GraphQL requests on one event loop: from the text to the bytes of the response.
package final class RequestRunner {
    /// A request as the transport hands it over.
    package struct Request: Sendable {
        package var query: String
        package var operationName: String?
        /// An object, or null.
        package var variables: Value
        /// Not verified yet.
        package var bearerToken: String?
        /// Mutations are refused.
        package var isReadOnly: Bool
        package var requestID: String
        /// Whether the answer tells what was done for it; development only.
        package var isExplained: Bool

        package init(
            query: String, operationName: String? = nil, variables: Value = .null,
            bearerToken: String? = nil, isReadOnly: Bool = false, requestID: String = "",
            isExplained: Bool = false
        ) {
            self.query = query
            self.operationName = operationName
            self.variables = variables
            self.bearerToken = bearerToken
            self.isReadOnly = isReadOnly
            self.requestID = requestID
            self.isExplained = isExplained
        }
    }

    package struct Answer: Sendable {
        /// The whole response as JSON.
        package var body: [UInt8]
        /// Whether it was refused before execution: there is no `data`.
        package var isRequestError = false
        /// Whether it is a mutation that came where only queries may.
        package var isForbiddenMutation = false
        /// Codes of its errors, for the log.
        package var errorCodes: [String] = []
        package var statistics: Statistics?
    }

    private let documents: DocumentCache
    private let database: ConnectionPool
    private let services: Services
    private let limits: RequestLimits
    private var tokens = VerifiedTokens()
    private var telemetry: OperationTelemetry

    package init(
        _ schema: BookplateSchema, database: ConnectionPool, services: Services,
        limits: RequestLimits = RequestLimits()
    ) {
        documents = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: limits)
        self.database = database
        self.services = services
        self.limits = limits
        telemetry = OperationTelemetry(services)
    }

    /// Runs one request. To be called on the loop of the connection pool.
    package func run(_ request: Request) async -> Answer {
        let start = ContinuousClock.now
        let missesBefore = documents.missCount
        let document: CachedDocument
        let plan: OperationPlan
        let variables: VariableValues
        do throws(RequestErrors) {
            document = try documents.document(Array(request.query.utf8))
            (plan, variables) = try document.plan(
                operationName: request.operationName, variables: request.variables)
        } catch {
            let answer = Self.refused(error.errors)
            telemetry.refused(answer.errorCodes)
            return answer
        }
        let isKnown = documents.missCount == missesBefore
        telemetry.lookedUp(isKnown: isKnown)
        if request.isReadOnly, plan.kind != .query {
            var answer = Self.refused([
                GraphQLError(
                    "GET runs queries only. Send a mutation by POST.",
                    extensions: [.init("code", .string("BAD_USER_INPUT"))])
            ])
            answer.isForbiddenMutation = true
            telemetry.refused(answer.errorCodes)
            return answer
        }
        let context = RequestContext(
            viewer: request.bearerToken.flatMap { viewer(of: $0, request.requestID) },
            database: database, services: services, requestID: request.requestID,
            isExplained: request.isExplained)
        let planned = ContinuousClock.now
        let result = await execute(
            plan, variables: variables, context: context, errorsMax: limits.errorsMax)
        let errorCodes = result.errors.compactMap(\.code)
        let finished = OperationTelemetry.Finished(
            request: request, kind: plan.kind, operationName: plan.name, planning: planned - start,
            execution: .now - planned, errorCodes: errorCodes,
            statementCount: context.statistics.statementCount,
            roundTripCount: context.statistics.roundTripCount)
        telemetry.finished(finished)
        let body = context.explanation?.added(
            to: result.body, isKnown: isKnown, document: document, planning: finished.planning,
            execution: finished.execution)
        return Answer(
            body: body ?? result.body, errorCodes: errorCodes, statistics: context.statistics)
    }

    /// nil for a token that is not good, which is then the same as none; why is for the log.
    private func viewer(of token: String, _ requestID: String) -> Viewer? {
        let now = unixSecondsNow()
        let bytes = Array(token.utf8)
        if let claims = tokens.claims(of: bytes, now: now) { return Viewer(claims) }
        do throws(TokenError) {
            let claims = try AccessToken.verify(token, keys: services.sessionKeys, now: now)
            tokens.insert(claims, for: bytes)
            return Viewer(claims)
        } catch {
            services.logger.info(
                "refused an access token",
                metadata: ["request_id": "\(requestID)", "reason": "\(error)"])
            return nil
        }
    }

    private static func refused(_ errors: [GraphQLError]) -> Answer {
        var writer = ResponseWriter()
        writer.append("{\"errors\":")
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return Answer(
            body: writer.bytes, isRequestError: true, errorCodes: errors.compactMap(\.code))
    }
}

extension Viewer {
    init(_ claims: AccessClaims) {
        self.init(
            userID: .init(claims.userID), tenantID: .init(claims.tenantID),
            sessionID: .init(claims.sessionID))
    }
}
