import Bookplate
import GraphQL
import NIOCore
import Server

/// The product behind GraphQL over HTTP, on one event loop.
final class BookplateService: GraphQLService {
    private let runner: RequestRunner
    /// Whether answers tell what they cost the database.
    private let showsCost: Bool

    /// How long answers for everybody may be kept by those between the server and its clients.
    private static let cacheSeconds = 60

    init(_ runner: RequestRunner, showsCost: Bool) {
        self.runner = runner
        self.showsCost = showsCost
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        let document = RequestedDocument(
            query: request.query, documentID: request.documentID,
            persistedQuery: request.extensions?["persistedQuery"])
        let answer = await runner.run(
            .init(
                document, operationName: request.operationName,
                variables: request.variables ?? .null, bearerToken: request.bearerToken,
                isReadOnly: request.isGET, requestID: request.requestID))
        var headers: [(String, String)] = []
        if showsCost, let statistics = answer.statistics {
            headers.append(
                (
                    "x-database-cost",
                    "statements=\(statistics.statementCount), round-trips=\(statistics.roundTripCount)"
                ))
        }
        if request.isGET, answer.isForEverybody {
            headers.append(("cache-control", "public, max-age=\(Self.cacheSeconds)"))
        }
        return GraphQLAnswer(
            body: ByteBuffer(bytes: answer.body), isRequestError: answer.isRequestError,
            status: answer.isForbiddenMutation
                ? .methodNotAllowed : answer.isUnknownDocument ? .ok : nil,
            headers: headers)
    }
}
