import GraphQL
import NIOCore
import Synchronization

@testable import Server

/// Answers with what it was asked; a few documents make it do something else.
final class EchoService: GraphQLService {
    /// Tasks that were cancelled while they slept, of all tests.
    static let cancelled = Atomic(0)
    /// Answers to `{large}`, which one test asks for.
    static let largeAnswers = Atomic(0)

    /// Requests of `{together}` so far, which one test sends; they are answered when there are `togetherCount`.
    static let together = Atomic(0)
    static let togetherCount = 6

    private static let slowIDs = Mutex<Set<String>>([])

    /// Returns when the slow request of this id runs.
    static func started(_ id: String) async {
        while !slowIDs.withLock({ $0.contains(id) }) {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    func answer(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLAnswer {
        loop.preconditionInEventLoop()
        defer { loop.preconditionInEventLoop() }
        switch request.query {
        case "{slow}", "{verySlow}":
            Self.slowIDs.withLock { _ = $0.insert(request.requestID) }
            let time: Duration = request.query == "{slow}" ? .milliseconds(300) : .seconds(60)
            do {
                try await Task.sleep(for: time)
            } catch {
                Self.cancelled.add(1, ordering: .relaxed)
                let hasTimedOut = request.timeout?.hasPassed ?? false
                return GraphQLAnswer(
                    body: ByteBuffer(string: #"{"data":{"hasTimedOut":\#(hasTimedOut)}}"#))
            }
            return GraphQLAnswer(body: ByteBuffer(string: #"{"data":{"slow":true}}"#))
        case "{wrong}":
            return GraphQLAnswer(
                body: ByteBuffer(string: #"{"errors":[{"message":"wrong"}]}"#),
                isRequestError: true)
        case "{large}", "{huge}":
            if request.query == "{large}" { Self.largeAnswers.add(1, ordering: .relaxed) }
            return GraphQLAnswer(body: ByteBuffer(repeating: 0x20, count: 4 << 20))
        case "{together}":
            // Responses of 4 MiB that are complete at the same time.
            Self.together.add(1, ordering: .relaxed)
            while Self.together.load(ordering: .relaxed) < Self.togetherCount {
                try? await Task.sleep(for: .milliseconds(2))
            }
            return GraphQLAnswer(body: ByteBuffer(repeating: 0x20, count: 4 << 20))
        case "{busy}":
            return GraphQLAnswer(
                body: ByteBuffer(string: #"{"errors":[{"message":"busy"}]}"#),
                isRequestError: true, status: .tooManyRequests, headers: [("retry-after", "7")])
        case "mutation{a}" where request.isGET:
            return GraphQLAnswer(
                body: ByteBuffer(string: #"{"errors":[{"message":"GET"}]}"#),
                isRequestError: true, status: .methodNotAllowed)
        default:
            return GraphQLAnswer(body: ByteBuffer(string: Self.text(of: request)))
        }
    }

    func accepts(bearerToken: String, requestID: String) -> Bool { bearerToken == "good" }

    // MARK: What lasts

    /// Streams that run now, of all tests.
    static let openStreams = Atomic(0)

    /// Events of `subscription{deluge}`, which one test asks for.
    static let deluges = Atomic(0)

    func open(_ request: GraphQLRequest, on loop: any EventLoop) async -> GraphQLOperation {
        loop.preconditionInEventLoop()
        guard let query = request.query, query.hasPrefix("subscription") else {
            return .answer(await answer(request, on: loop))
        }
        let running = RunningStream()
        var count = 0
        return .responses(
            ResponseStream { () throws(RequestErrors) in
                loop.preconditionInEventLoop()
                _ = running
                count += 1
                switch query {
                case "subscription{three}" where count <= 3:
                    return ExecutionResult(
                        body: Array(#"{"data":{"n":\#(count)}}"#.utf8), errors: [])
                case "subscription{fails}":
                    throw RequestErrors([GraphQLError("it broke")])
                case "subscription{flood}":
                    try? await Task.sleep(for: .milliseconds(1))
                    return ExecutionResult(
                        body: Array(repeating: 0x20, count: 64 << 10), errors: [])
                case "subscription{deluge}":
                    Self.deluges.add(1, ordering: .relaxed)
                    return ExecutionResult(
                        body: Array(repeating: 0x20, count: 32 << 20), errors: [])
                case "subscription{torrent}":
                    return ExecutionResult(
                        body: Array(repeating: 0x20, count: 16 << 20), errors: [])
                case "subscription{slow}":
                    try? await Task.sleep(for: .milliseconds(150))
                    return count > 3 || Task.isCancelled
                        ? nil
                        : ExecutionResult(body: Array(#"{"data":\#(count)}"#.utf8), errors: [])
                case "subscription{endless}":
                    try? await Task.sleep(for: .seconds(60))
                    return nil
                default:
                    return nil
                }
            })
    }

    /// Counts itself while it lives.
    private final class RunningStream {
        init() { EchoService.openStreams.add(1, ordering: .relaxed) }
        deinit { EchoService.openStreams.subtract(1, ordering: .relaxed) }
    }

    /// Tokens are `SESSION`, or `SESSION-MILLISECONDS` for one that runs out so soon; the sessions `bad`, `down` and,
    /// over sockets, `eager` are refused, `ending` ends after 100 ms.
    func admit(
        _ bearerToken: String, to opening: Opening, on loop: any EventLoop,
        onEnd: @escaping () -> Void
    ) async throws(AdmissionError) -> AdmittedCaller {
        let parts = bearerToken.split(separator: "-")
        let session = String(parts.first ?? "")
        if session == "bad" { throw .refused }
        if session == "down" { throw .unavailable }
        if session == "eager", case .socket(_?) = opening {
            throw .rateLimited(retryAfterSeconds: 7)
        }
        if session == "ending" {
            let onEnd = NIOLoopBound(onEnd, eventLoop: loop)
            loop.scheduleTask(in: .milliseconds(100)) { onEnd.value() }
        }
        let lifetime = parts.dropFirst().first.flatMap { Int64($0) } ?? 60_000
        return AdmittedCaller(
            expiresAt: .now() + .milliseconds(lifetime), session: session, watch: RunningStream())
    }

    /// What arrived, in a form that tests can compare.
    private static func text(of request: GraphQLRequest) -> String {
        [
            request.query.map { "query=\($0)" },
            request.documentID.map { "documentId=\($0)" },
            request.operationName.map { "operationName=\($0)" },
            request.variables.map { "variables=\($0)" },
            request.extensions.map { "extensions=\($0)" },
            request.bearerToken.map { "token=\($0)" },
            request.uploads.isEmpty
                ? nil : "uploads=\(request.uploads.map { String(buffer: $0) })",
        ].compactMap(\.self).joined(separator: " ")
    }
}
