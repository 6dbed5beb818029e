import GraphQL
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Telemetry

@testable import Server

private let schema = Result {
    try buildSchema(parse(Source("type Query { hello(name: String): String }")))
}

/// A server on a port of its own for the time of a test.
struct TestServer {
    let port: Int
    let group: ServiceGroup
    let gauges: LiveGauges

    /// Runs `test` beside a server, stops the server gracefully and waits for its end.
    static func run<Result: Sendable>(
        limits: HTTPLimits = .quick, bodyBytesMax: Int = 4096, batchRequestsMax: Int = 0,
        hasExplorer: Bool = true, unread: UnreadBytes = UnreadBytes(), responseBytesMax: Int = .max,
        schemaText: String? = nil, log: LogSpy? = nil, metrics: Metrics = Metrics(),
        readiness: @escaping @Sendable () async -> Readiness = { .ready },
        routes: @escaping @Sendable (any EventLoop) -> [Route] = { _ in [] },
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        if let log { logger = Logger(label: "test") { _ in log.handler } }
        let gauges = LiveGauges()
        let server = HTTPServer(
            group: MultiThreadedEventLoopGroup.singleton, host: "127.0.0.1", port: 0,
            limits: limits, logger: logger, metrics: metrics, gauges: gauges, unread: unread,
            onListening: { listening.yield($0.port ?? 0) }
        ) { executor in
            standardRoutes(
                loop: executor.eventLoop, service: EchoService(), bodyBytesMax: bodyBytesMax,
                batchRequestsMax: batchRequestsMax,
                explorer: hasExplorer ? try Explorer(schema: schema.get()) : nil,
                schemaText: schemaText,
                socketOrigins: AllowedOrigins(["https://app.example.com"]),
                responseBytesMax: responseBytesMax, unread: unread, readiness: readiness)
                + routes(executor.eventLoop)
        }
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
                try await tasks.waitForAll()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
    }

    /// One request over a connection of its own.
    func send(_ request: String, toHEAD: Bool = false) async throws -> RawResponse {
        try await onThread { [port] in
            let client = try RawClient(port: port)
            try client.send(request)
            return try client.response(toHEAD: toHEAD)
        }
    }

    /// A POST of a GraphQL request.
    func post(
        _ body: String, headers: String = "content-type: application/json\r\n"
    ) async throws -> RawResponse {
        try await send(.post(body, headers: headers))
    }

    func get(_ target: String, headers: String = "") async throws -> RawResponse {
        try await send("GET \(target) HTTP/1.1\r\nhost: test\r\n\(headers)\r\n")
    }
}

extension String {
    static func post(
        _ body: String, headers: String = "content-type: application/json\r\n"
    ) -> String {
        "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }
}

extension HTTPLimits {
    /// Timeouts short enough to be waited for.
    static var quick: HTTPLimits {
        var limits = HTTPLimits()
        limits.sweepInterval = .milliseconds(20)
        return limits
    }
}
