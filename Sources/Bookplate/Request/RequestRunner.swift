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

        package init(
            _ document: RequestedDocument, operationName: String? = nil, variables: Value = .null,
            bearerToken: String? = nil, isReadOnly: Bool = false, requestID: String = ""
        ) {
            self.document = document
            self.operationName = operationName
            self.variables = variables
            self.bearerToken = bearerToken
            self.isReadOnly = isReadOnly
            self.requestID = requestID
        }
    }

    package struct Answer: Sendable {
        /// The whole response as JSON.
        package var body: [UInt8]
        /// Whether it was refused before execution: there is no `data`.
        package var isRequestError = false
        /// Whether it is a mutation that came where only queries may.
        package var isForbiddenMutation = false
        /// Whether it names a document that is not known: the client is to send the text.
        package var isUnknownDocument = false
        /// Whether the next who asks the same may get this answer: nobody in particular asked, a named document, without
        /// variables, and nothing went wrong.
        package var isForEverybody = false
        /// Codes of its errors, for the log.
        package var errorCodes: [String] = []
        package var statistics: Statistics?
    }

    private let documents: DocumentCache
    private let texts: DocumentTexts
    private let database: ConnectionPool
    private let services: Services
    private let limits: RequestLimits
    private var tokens = VerifiedTokens()

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
    }

    /// Runs one request. To be called on the loop of the connection pool.
    package func run(_ request: Request) async -> Answer {
        let text: DocumentText
        do throws(DocumentTexts.Refusal) {
            text = try await texts.text(of: request.document)
        } catch {
            return refused(error, request.requestID)
        }
        let plan: OperationPlan
        let variables: VariableValues
        do throws(RequestErrors) {
            let document = try documents.document(text.bytes)
            texts.register(text)
            (plan, variables) = try document.plan(
                operationName: request.operationName, variables: request.variables)
        } catch {
            return Self.refused(error.errors)
        }
        if text.isTrusted == false {
            services.logger.notice(
                "ran a document that no app was published with",
                metadata: [
                    "request_id": "\(request.requestID)", "operation": "\(plan.name ?? "")",
                    "sha256": "\(lowercaseHex(sha256(text.bytes)))",
                ])
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
        let context = RequestContext(
            viewer: request.bearerToken.flatMap { viewer(of: $0, request.requestID) },
            database: database, services: services, requestID: request.requestID)
        let result = await execute(
            plan, variables: variables, context: context, errorsMax: limits.errorsMax)
        return Answer(
            body: result.body,
            isForEverybody: text.isNamed && request.bearerToken == nil
                && (request.variables.isNull || request.variables == .object([]))
                && plan.kind == .query && result.errors.isEmpty,
            errorCodes: result.errors.compactMap(\.code), statistics: context.statistics)
    }

    private func refused(_ refusal: DocumentTexts.Refusal, _ requestID: String) -> Answer {
        switch refusal {
        case .request(let errors):
            var answer = Self.refused(errors.errors)
            answer.isUnknownDocument = errors.isPersistedQueryNotFound
            return answer
        case .database(let error):
            let known = services.describe(error, requestID).fieldError(requestID: requestID)
            return Self.refused([GraphQLError(known.message, extensions: known.extensions)])
        }
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
