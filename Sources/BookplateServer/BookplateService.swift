import Bookplate
import GraphQL
import Identity
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

    func accepts(bearerToken: String, requestID: String) -> Bool {
        runner.user(of: bearerToken, requestID: requestID) != nil
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        guard let query = request.query else { return .persistedQueryNotFound }
        return answer(await runner.run(.init(query, request, isExplained: isExplained(request))))
    }

    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation {
        guard let query = request.query else { return .answer(.persistedQueryNotFound) }
        switch await runner.open(.init(query, request, isExplained: isExplained(request))) {
        case .answer(let answer): return .answer(self.answer(answer))
        case .responses(let responses): return .responses(responses)
        }
    }

    func admit(
        _ bearerToken: String, on loop: any EventLoop, onEnd: @escaping () -> Void
    ) async throws(AdmissionError) -> AdmittedCaller {
        let onEnd = NIOLoopBound(onEnd, eventLoop: loop)
        do throws(RequestRunner.AdmissionError) {
            let admission = try await runner.admit(bearerToken, requestID: "") {
                loop.execute { onEnd.value() }
            }
            let lifetime = TimeAmount.seconds(admission.expiresAt - unixSecondsNow())
            return AdmittedCaller(
                expiresAt: .now() + lifetime, session: "\(admission.sessionID)",
                watch: admission.watch)
        } catch {
            switch error {
            case .refused: throw .refused
            case .unavailable: throw .unavailable
            }
        }
    }

    private func isExplained(_ request: GraphQLRequest) -> Bool {
        isDevelopment && request.extensions?["explain"]?.boolean == true
    }

    private func answer(_ answer: RequestRunner.Answer) -> GraphQLAnswer {
        var headers: [(String, String)] = []
        if isDevelopment, let statistics = answer.statistics {
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

extension RequestRunner.Request {
    fileprivate init(_ query: String, _ request: GraphQLRequest, isExplained: Bool) {
        self.init(
            query: query, operationName: request.operationName,
            variables: request.variables ?? .null, bearerToken: request.bearerToken,
            isReadOnly: request.isGET, requestID: request.requestID,
            uploads: request.uploads.map { Array($0.readableBytesView) }, isExplained: isExplained)
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
