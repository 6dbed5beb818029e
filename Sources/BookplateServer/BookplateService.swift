import Bookplate
import GraphQL
import NIOCore
import Server

/// The product behind GraphQL over HTTP, on one event loop.
final class BookplateService: GraphQLService {
    private let runner: RequestRunner
    /// Whether answers tell what they cost the database.
    private let showsCost: Bool

    init(_ runner: RequestRunner, showsCost: Bool) {
        self.runner = runner
        self.showsCost = showsCost
    }

    func accepts(bearerToken: String, requestID: String) -> Bool {
        runner.user(of: bearerToken, requestID: requestID) != nil
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        guard let query = request.query else { return .persistedQueryNotFound }
        let answer = await runner.run(
            .init(
                query: query, operationName: request.operationName,
                variables: request.variables ?? .null, bearerToken: request.bearerToken,
                isReadOnly: request.isGET, requestID: request.requestID,
                uploads: request.uploads.map { Array($0.readableBytesView) }))
        var headers: [(String, String)] = []
        if showsCost, let statistics = answer.statistics {
            headers.append(
                (
                    "x-database-cost",
                    "statements=\(statistics.statementCount), round-trips=\(statistics.roundTripCount)"
                ))
        }
        return GraphQLAnswer(
            body: ByteBuffer(bytes: answer.body), isRequestError: answer.isRequestError,
            status: answer.isForbiddenMutation ? .methodNotAllowed : nil, headers: headers)
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
