import GraphQL
import GraphQLServing
import NIOCore
import SocketClient
import Synchronization
import TestBasics

@testable import GraphQLNIO

/// A service whose responses contain the request. Some documents have other effects; see `execute`.
package final class EchoService: GraphQLService {
    private let loop: any EventLoop

    package init(on loop: any EventLoop) { self.loop = loop }

    /// The number of requests for `{together}`, which only one test sends. All of them are answered when there are
    /// `togetherCount`.
    package static let together = Atomic(0)
    package static let togetherCount = 6

    // MARK: Held requests

    private struct HeldRequests {
        var started: Set<String> = []
        var released: Set<String> = []
        var cancelled: Set<String> = []
    }

    /// The requests for `{held}` by their id. Each runs until its test releases it, or until it is cancelled.
    private static let held = Mutex(HeldRequests())

    /// Waits until the held request with this id runs.
    package static func started(_ id: String) async throws {
        try await waitUntil("request \(id) runs") { held.withLock { $0.started.contains(id) } }
    }

    /// Lets the held request with this id finish.
    package static func release(_ id: String) { held.withLock { _ = $0.released.insert(id) } }

    package static func isCancelled(_ id: String) -> Bool {
        held.withLock { $0.cancelled.contains(id) }
    }

    /// Returns false if the task was cancelled before the request was released.
    private static func waitForRelease(_ id: String) async -> Bool {
        held.withLock { _ = $0.started.insert(id) }
        while !held.withLock({ $0.released.contains(id) }) {
            do {
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                held.withLock { _ = $0.cancelled.insert(id) }
                return false
            }
        }
        return true
    }

    // MARK: Single responses

    private nonisolated(nonsending) func response(to request: GraphQLRequest) async
        -> GraphQLResponse
    {
        loop.preconditionInEventLoop()
        defer { loop.preconditionInEventLoop() }
        switch request.query {
        case "{held}":
            guard await Self.waitForRelease(request.requestID) else {
                let hasTimedOut = request.hasTimedOut()
                return GraphQLResponse(
                    body: Array(#"{"data":{"hasTimedOut":\#(hasTimedOut)}}"#.utf8))
            }
            return GraphQLResponse(body: Array(Self.heldResponse.utf8))
        case "{wrong}":
            return GraphQLResponse(
                body: Array(#"{"errors":[{"message":"wrong"}]}"#.utf8),
                isRequestError: true)
        case "{bytes}":
            return GraphQLResponse(body: Array("bytes=\(request.bodyByteCount)".utf8))
        case "{huge}":
            return GraphQLResponse(body: Array(repeating: 0x20, count: 4 << 20))
        case "{together}":
            // Responses of 4 MiB that are complete at the same time.
            Self.together.add(1, ordering: .relaxed)
            while Self.together.load(ordering: .relaxed) < Self.togetherCount {
                try? await Task.sleep(for: .milliseconds(2))
            }
            return GraphQLResponse(body: Array(repeating: 0x20, count: 4 << 20))
        case "{busy}":
            return GraphQLResponse(
                body: Array(#"{"errors":[{"message":"busy"}]}"#.utf8),
                isRequestError: true, refusal: .rateLimited(retryAfterSeconds: 7))
        case "mutation{a}" where request.isReadOnly:
            return GraphQLResponse(
                body: Array(#"{"errors":[{"message":"GET"}]}"#.utf8),
                isRequestError: true, refusal: .mutationInReadOnlyRequest)
        default:
            return GraphQLResponse(body: Array(Self.text(of: request).utf8))
        }
    }

    /// The response to `{held}` after its release.
    package static let heldResponse = #"{"data":{"held":true}}"#

    package func accepts(bearerToken: String, requestID: String) -> Bool { bearerToken == "good" }

    // MARK: Subscriptions

    /// The number of response streams and watched sessions in memory, of all tests.
    package static let openStreams = Atomic(0)

    /// The number of events of `subscription{deluge}`, which only one test requests.
    package static let delugeEventCount = Atomic(0)

    package nonisolated(nonsending) func execute(_ request: GraphQLRequest) async
        -> GraphQLOperation
    {
        loop.preconditionInEventLoop()
        if let format = request.incrementalFormat, request.query?.hasPrefix("{deferred") == true {
            return incremental(request, format)
        }
        guard let query = request.query, query.hasPrefix("subscription"),
            !request.expectsSingleResponse
        else { return .response(await response(to: request)) }
        let instance = CountedInstance()
        var count = 0
        return .responses(
            ResponseStream { () throws(RequestErrors) in
                self.loop.preconditionInEventLoop()
                _ = instance
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
                    Self.delugeEventCount.add(1, ordering: .relaxed)
                    return ExecutionResult(
                        body: Array(repeating: 0x20, count: 32 << 20), errors: [])
                case "subscription{torrent}":
                    return ExecutionResult(
                        body: Array(repeating: 0x20, count: 16 << 20), errors: [])
                case "subscription{held}":
                    // Three events after the request is released.
                    guard await Self.waitForRelease(request.requestID), count <= 3 else {
                        return nil
                    }
                    return ExecutionResult(body: Array(#"{"data":\#(count)}"#.utf8), errors: [])
                case "subscription{endless}":
                    // No event: returns when the task is cancelled.
                    try? await Task.sleep(for: .seconds(3600))
                    return nil
                default:
                    return nil
                }
            })
    }

    /// Returns a response in two parts. The second one of `{deferredHeld}` comes after the request is released, or after
    /// its task is cancelled, as for a real service.
    private func incremental(
        _ request: GraphQLRequest, _ format: IncrementalFormat
    ) -> GraphQLOperation {
        let instance = CountedInstance()
        var count = 0
        let rest = ResponseStream { () throws(RequestErrors) in
            _ = instance
            count += 1
            guard count == 1 else { return nil }
            var isReleased = true
            if request.query == "{deferredHeld}" {
                isReleased = await Self.waitForRelease(request.requestID)
            }
            let text =
                #"{"part":2,"format":"\#(format)","isReleased":\#(isReleased),"hasTimedOut":\#(request.hasTimedOut())}"#
            return ExecutionResult(body: Array(text.utf8), errors: [])
        }
        return .incremental(GraphQLResponse(body: Array(#"{"part":1}"#.utf8)), rest: rest)
    }

    /// Counts its instances in `openStreams`.
    private final class CountedInstance {
        init() { EchoService.openStreams.add(1, ordering: .relaxed) }
        deinit { EchoService.openStreams.subtract(1, ordering: .relaxed) }
    }

    /// Accepts tokens of the form `SESSION` or `SESSION-MILLISECONDS`, where the number is the token's lifetime.
    ///
    /// The sessions `bad`, `down`, and (on WebSockets) `eager` are refused. The session `ending` ends after 100 ms. The token
    /// `held` is accepted when its test releases it.
    package func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind,
        onSessionEnd: @escaping @Sendable () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        let parts = bearerToken.split(separator: "-")
        let session = String(parts.first ?? "")
        if session == "bad" { throw .unauthenticated }
        if session == "down" { throw .unavailable }
        if session == "eager", case .socket(_?) = kind {
            throw .rateLimited(retryAfterSeconds: 7)
        }
        if session == "held" {
            guard await Self.waitForRelease(bearerToken) else { throw .unavailable }
        }
        if session == "ending" {
            loop.scheduleTask(in: .milliseconds(100)) { onSessionEnd() }
        }
        let lifetime = parts.dropFirst().first.flatMap { Int64($0) } ?? 60_000
        return AuthenticatedConnection(
            tokenLifetime: .milliseconds(lifetime), session: session, watch: CountedInstance())
    }

    /// Returns the properties of a request in a form that tests can compare.
    private static func text(of request: GraphQLRequest) -> String {
        [
            request.query.map { "query=\($0)" },
            request.documentID.map { "documentId=\($0)" },
            request.operationName.map { "operationName=\($0)" },
            request.variables.map { "variables=\($0)" },
            request.extensions.map { "extensions=\($0)" },
            request.onError.map { "onError=\($0)" },
            request.bearerToken.map { "token=\($0)" },
            request.app == ClientApp() ? nil : "app=\(request.app.name)/\(request.app.version)",
            request.uploads.isEmpty
                ? nil
                : "uploads=\(request.uploads.map { String(decoding: (try? $0.bytes()) ?? [], as: UTF8.self) })",
        ].compactMap(\.self).joined(separator: " ")
    }
}

extension String {
    /// A POST of `{held}` with this request id.
    package static func held(_ id: String, headers: String = "") -> String {
        .post(
            #"{"query":"{held}"}"#,
            headers: "content-type: application/json\r\nx-request-id: \(id)\r\n\(headers)")
    }
}
