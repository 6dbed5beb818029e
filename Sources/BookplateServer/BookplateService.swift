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

    /// How long answers for everybody may be kept by those between the server and its clients.
    private static let cacheSeconds = 60

    init(_ runner: RequestRunner, isDevelopment: Bool) {
        self.runner = runner
        self.isDevelopment = isDevelopment
    }

    func accepts(bearerToken: String, requestID: String) -> Bool {
        runner.user(of: bearerToken, requestID: requestID) != nil
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        answer(
            await runner.run(.init(request, isExplained: isExplained(request))),
            isGET: request.isGET)
    }

    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation {
        switch await runner.open(.init(request, isExplained: isExplained(request))) {
        case .answer(let answer): return .answer(self.answer(answer, isGET: request.isGET))
        case .responses(let responses): return .responses(responses)
        }
    }

    func admit(
        _ bearerToken: String, to opening: Opening, on loop: any EventLoop,
        onEnd: @escaping () -> Void
    ) async throws(AdmissionError) -> AdmittedCaller {
        let onEnd = NIOLoopBound(onEnd, eventLoop: loop)
        let lone: RequestRunner.LoneToken? =
            switch opening {
            case .socket(let client): .init(from: client.map { RateKey($0) })
            case .stream: nil
            }
        do throws(RequestRunner.AdmissionError) {
            let admission = try await runner.admit(bearerToken, lone, requestID: "") {
                loop.execute { onEnd.value() }
            }
            let lifetime = TimeAmount.seconds(admission.expiresAt - unixSecondsNow())
            return AdmittedCaller(
                expiresAt: .now() + lifetime, session: "\(admission.sessionID)",
                watch: admission.watch)
        } catch {
            switch error {
            case .refused: throw .refused
            case .rateLimited(let seconds): throw .rateLimited(retryAfterSeconds: seconds)
            case .unavailable: throw .unavailable
            }
        }
    }

    private func isExplained(_ request: GraphQLRequest) -> Bool {
        isDevelopment && request.extensions?["explain"]?.boolean == true
    }

    private func answer(_ answer: RequestRunner.Answer, isGET: Bool) -> GraphQLAnswer {
        var headers = answer.rate?.headers ?? []
        if let seconds = answer.retryAfterSeconds { headers.append(("retry-after", "\(seconds)")) }
        if isDevelopment, let statistics = answer.statistics {
            headers.append(
                (
                    "x-database-cost",
                    "statements=\(statistics.statementCount), round-trips=\(statistics.roundTripCount)"
                ))
        }
        if isGET, answer.isForEverybody {
            headers.append(("cache-control", "public, max-age=\(Self.cacheSeconds)"))
        }
        return GraphQLAnswer(
            body: ByteBuffer(bytes: answer.body), isRequestError: answer.isRequestError,
            status: status(of: answer), headers: headers)
    }

    /// Nil where the media type decides.
    private func status(of answer: RequestRunner.Answer) -> GraphQLAnswer.Status? {
        if answer.isForbiddenMutation { return .methodNotAllowed }
        return answer.retryAfterSeconds != nil ? .tooManyRequests : nil
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
