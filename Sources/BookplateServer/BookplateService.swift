import Bookplate
import GraphQL
import Identity
import NIOCore
import Server

/// Connects the GraphQL transport to `RequestRunner`, on one event loop.
final class BookplateService: GraphQLService {
    private let runner: RequestRunner
    /// Whether responses report the number of SQL statements, and explain their execution on request.
    private let isDevelopment: Bool

    /// How long caches may keep a public response.
    private static let cacheSeconds = 60

    init(_ runner: RequestRunner, isDevelopment: Bool) {
        self.runner = runner
        self.isDevelopment = isDevelopment
    }

    func accepts(bearerToken: String, requestID: String) -> Bool {
        runner.user(of: bearerToken, requestID: requestID) != nil
    }

    func respond(to request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLResponse {
        response(
            await runner.run(.init(request, isExplained: isExplained(request))),
            isGET: request.isGET)
    }

    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation {
        switch await runner.open(.init(request, isExplained: isExplained(request))) {
        case .response(let response):
            return .response(self.response(response, isGET: request.isGET))
        case .responses(let responses): return .responses(responses)
        }
    }

    func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind, on loop: any EventLoop,
        onSessionEnd: @escaping () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        let onSessionEnd = NIOLoopBound(onSessionEnd, eventLoop: loop)
        let charge: RequestRunner.ConnectionCharge? =
            switch kind {
            case .socket(let client): .init(from: client.map { RateKey($0) })
            case .stream: nil
            }
        do throws(RequestRunner.ConnectionAuthenticationError) {
            let connection = try await runner.authenticateConnection(
                bearerToken, charge, requestID: ""
            ) {
                loop.execute { onSessionEnd.value() }
            }
            let lifetime = TimeAmount.seconds(connection.expiresAt - unixSecondsNow())
            return AuthenticatedConnection(
                expiresAt: .now() + lifetime, session: "\(connection.sessionID)",
                watch: connection.watch)
        } catch {
            switch error {
            case .unauthenticated: throw .unauthenticated
            case .rateLimited(let seconds): throw .rateLimited(retryAfterSeconds: seconds)
            case .unavailable: throw .unavailable
            }
        }
    }

    private func isExplained(_ request: GraphQLRequest) -> Bool {
        isDevelopment && request.extensions?["explain"]?.boolean == true
    }

    private func response(_ result: RequestRunner.Response, isGET: Bool) -> GraphQLResponse {
        var headers = result.rate?.headers ?? []
        if let seconds = result.retryAfterSeconds { headers.append(("retry-after", "\(seconds)")) }
        if isDevelopment, let statistics = result.statistics {
            headers.append(
                (
                    "x-database-cost",
                    "statements=\(statistics.statementCount), round-trips=\(statistics.roundTripCount)"
                ))
        }
        if isGET, result.isPublic {
            headers.append(("cache-control", "public, max-age=\(Self.cacheSeconds)"))
        }
        return GraphQLResponse(
            body: ByteBuffer(bytes: result.body), isRequestError: result.isRequestError,
            status: status(of: result), headers: headers)
    }

    /// Returns the HTTP status of a response; nil if it follows from the media type.
    private func status(of result: RequestRunner.Response) -> GraphQLResponse.Status? {
        if result.isForbiddenMutation { return .methodNotAllowed }
        return result.retryAfterSeconds != nil ? .tooManyRequests : nil
    }
}

extension RateLimits.State {
    /// Spec: https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
    fileprivate var headers: [(String, String)] {
        [
            ("ratelimit-policy", "\"\(name)\";q=\(unitsPerMinute);w=60"),
            ("ratelimit", "\"\(name)\";r=\(remaining);t=\(waitSeconds)"),
        ]
    }
}

extension RateKey {
    fileprivate init(_ client: ClientAddress) { self.init(address: client.high, client.low) }
}

extension RequestRunner.Request {
    fileprivate init(_ request: GraphQLRequest, isExplained: Bool) {
        self.init(
            RequestedDocument(
                query: request.query, documentID: request.documentID,
                persistedQuery: request.extensions?["persistedQuery"]),
            operationName: request.operationName,
            variables: request.variables ?? .null, bearerToken: request.bearerToken,
            isReadOnly: request.isGET, requestID: request.requestID,
            address: request.client.map { RateKey($0) },
            uploads: request.uploads.map { Array($0.readableBytesView) }, isExplained: isExplained,
            hasTimedOut: { [timeout = request.timeout] in timeout?.hasPassed ?? false })
    }
}
