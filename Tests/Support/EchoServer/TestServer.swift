import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SocketClient
import Telemetry
import TestBasics

@testable import GraphQLNIO

/// A server on its own port for the duration of a test.
package struct TestServer {
    package let port: Int
    package let group: ServiceGroup
    package let gauges: LiveGauges

    /// Runs a test with a server that has GraphQL by `EchoService` at `/graphql`, and text at `/text`.
    ///
    /// - Parameter routes: Other routes of an event loop.
    package static func run<Result: Sendable>(
        limits: HTTPLimits = .quick, bodyBytesMax: Int = 4096, batchRequestsMax: Int = 0,
        unread: UnreadBytes = UnreadBytes(), responseBytesMax: Int = .max,
        metrics: Metrics = Metrics(),
        routes: @escaping @Sendable (any EventLoop) -> [Route] = { _ in [] },
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        try await run(
            limits: limits, unread: unread, metrics: metrics,
            allRoutes: { loop, _ in
                GraphQLEndpoint(
                    service: EchoService(on: loop), loop: loop, bodyBytesMax: bodyBytesMax,
                    batchRequestsMax: batchRequestsMax, multipartBytesMax: bodyBytesMax,
                    socketOrigins: AllowedOrigins(["https://app.example.com"]),
                    responseBytesMax: responseBytesMax, unread: unread
                ).routes + [Route(.GET, "/text") { _ in .text(.ok, "text") }] + routes(loop)
            }, test)
    }

    /// Runs a test with a server, then stops the server gracefully and waits for its end.
    ///
    /// - Parameter allRoutes: The routes of an event loop.
    package static func run<Result: Sendable>(
        limits: HTTPLimits = .quick, unread: UnreadBytes = UnreadBytes(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        accessLogLevel: Logger.Level = .debug, metrics: Metrics = Metrics(),
        allRoutes: @escaping @Sendable (any EventLoop, ShutdownState) throws -> [Route],
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let gauges = LiveGauges()
        let shutdown = ShutdownState()
        let channels = HTTPChannels(
            limits: limits, logger: logger, accessLogLevel: accessLogLevel, metrics: metrics,
            gauges: gauges, unread: unread
        ) { executor in try allRoutes(executor.eventLoop, shutdown) }
        let server = HTTPServer(
            group: MultiThreadedEventLoopGroup.singleton, host: "127.0.0.1", port: 0,
            channels: channels, shutdown: shutdown,
            onListening: { listening.yield($0.port ?? 0) })
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: server)], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            guard let port = await ports.first(where: { _ in true }) else {
                throw RawClient.Failure(description: "the server did not start")
            }
            do {
                let result = try await test(TestServer(port: port, group: group, gauges: gauges))
                await group.triggerGracefulShutdown()
                // Ends the delay.
                if limits.stopDelay > .zero { tasks.cancelAll() }
                do {
                    try await tasks.waitForAll()
                } catch is CancellationError {}
                return result
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
    }

    /// Sends one request over a new connection and returns the response.
    package func send(_ request: String, toHEAD: Bool = false) async throws -> RawResponse {
        try await onThread { [port] in
            let client = try RawClient(port: port)
            try client.send(request)
            return try client.response(toHEAD: toHEAD)
        }
    }

    /// Sends a GraphQL request by POST.
    package func post(
        _ body: String, headers: String = "content-type: application/json\r\n"
    ) async throws -> RawResponse {
        try await send(.post(body, headers: headers))
    }

    package func get(_ target: String, headers: String = "") async throws -> RawResponse {
        try await send("GET \(target) HTTP/1.1\r\nhost: test\r\n\(headers)\r\n")
    }

    /// Starts a graceful shutdown, and waits until the server accepts no connections and all event loops know of it.
    package func beginShutdown() async throws {
        await group.triggerGracefulShutdown()
        try await waitUntil("no connections are accepted") {
            (try? await onThread { [port] in try RawClient(port: port) }) == nil
        }
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            try await loop.submit {}.get()
        }
    }

    /// Waits until all sockets, operations, and streams have ended and are released from memory.
    package func waitUntilIdle() async throws {
        try await waitUntil("no sockets, operations, and streams remain") {
            gauges.sockets == 0 && gauges.operations == 0 && gauges.streams == 0
                && EchoService.openStreams.load(ordering: .relaxed) == 0
        }
    }
}

extension HTTPLimits {
    /// Limits with a short sweep interval, so that timeouts pass soon after their deadline.
    package static var quick: HTTPLimits {
        var limits = HTTPLimits()
        limits.sweepInterval = .milliseconds(20)
        return limits
    }
}
