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
        /// The files of a multipart request; variables name them by `UploadReference`.
        package var uploads: [[UInt8]]

        package init(
            query: String, operationName: String? = nil, variables: Value = .null,
            bearerToken: String? = nil, isReadOnly: Bool = false, requestID: String = "",
            uploads: [[UInt8]] = []
        ) {
            self.query = query
            self.operationName = operationName
            self.variables = variables
            self.bearerToken = bearerToken
            self.isReadOnly = isReadOnly
            self.requestID = requestID
            self.uploads = uploads
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

    package init(
        _ schema: BookplateSchema, database: ConnectionPool, services: Services,
        limits: RequestLimits = RequestLimits()
    ) {
        documents = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: limits)
        self.database = database
        self.services = services
        self.limits = limits
    }

    /// Runs one request. To be called on the loop of the connection pool.
    package func run(_ request: Request) async -> Answer {
        let plan: OperationPlan
        let variables: VariableValues
        do throws(RequestErrors) {
            let document = try documents.document(Array(request.query.utf8))
            (plan, variables) = try document.plan(
                operationName: request.operationName, variables: request.variables)
        } catch {
            return Self.refused(error.errors)
        }
        if request.isReadOnly, plan.kind != .query {
            var answer = Self.refused([
                GraphQLError(
                    "GET runs queries only. Send a mutation by POST.",
                    extensions: [.init("code", .string("BAD_USER_INPUT"))])
            ])
            answer.isForbiddenMutation = true
            return answer
        }
        let context = context(bearerToken: request.bearerToken, requestID: request.requestID)
        context.uploads = request.uploads
        let result = await execute(
            plan, variables: variables, context: context, errorsMax: limits.errorsMax)
        return Answer(
            body: result.body, errorCodes: result.errors.compactMap(\.code),
            statistics: context.statistics)
    }

    /// A request of whoever the token names.
    func context(bearerToken: String?, requestID: String) -> RequestContext {
        RequestContext(
            viewer: bearerToken.flatMap { viewer(of: $0, requestID) }, database: database,
            services: services, requestID: requestID)
    }

    /// The id of the user that a token is of; nil for one that is not good. That its session is alive is asked
    /// in the database, with the request's first statement.
    package func user(of bearerToken: String, requestID: String) -> UUID? {
        viewer(of: bearerToken, requestID)?.userID
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
