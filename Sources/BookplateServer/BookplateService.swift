import Bookplate
import GraphQL
import NIOCore
import Server

/// The product behind GraphQL over HTTP, on one event loop.
final class BookplateService: GraphQLService {
    private let runner: RequestRunner
    /// Whether answers tell what they cost the database, and on demand what was done for them.
    private let isDevelopment: Bool

    init(_ runner: RequestRunner, isDevelopment: Bool) {
        self.runner = runner
        self.isDevelopment = isDevelopment
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        guard let query = request.query else { return .persistedQueryNotFound }
        let answer = await runner.run(
            .init(
                query: query, operationName: request.operationName,
                variables: request.variables ?? .null, bearerToken: request.bearerToken,
                isReadOnly: request.isGET, requestID: request.requestID,
                address: request.client.map { RateKey(address: $0.high, $0.low) },
                isExplained: isDevelopment && request.extensions?["explain"]?.boolean == true))
        var headers = answer.rate?.headers ?? []
        if let seconds = answer.retryAfterSeconds { headers.append(("retry-after", "\(seconds)")) }
        if isDevelopment, let statistics = answer.statistics {
            headers.append(
                (
                    "x-database-cost",
                    "statements=\(statistics.statementCount), round-trips=\(statistics.roundTripCount)"
                ))
        }
        return GraphQLAnswer(
            body: ByteBuffer(bytes: answer.body), isRequestError: answer.isRequestError,
            status: answer.isForbiddenMutation
                ? .methodNotAllowed : answer.retryAfterSeconds != nil ? .tooManyRequests : nil,
            headers: headers)
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

extension GraphQLAnswer {
    /// What clients of automatic persisted queries expect of a server that keeps none: they send the text then.
    fileprivate static var persistedQueryNotFound: GraphQLAnswer {
        GraphQLAnswer(
            body: ByteBuffer(
                string: #"{"errors":[{"message":"PersistedQueryNotFound","#
                    + #""extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}]}"#),
            isRequestError: true, status: .ok)
    }
}
