import EchoServer
import GraphQL
import GraphQLExplorer
import GraphQLNIO
import Logging
import NIOCore
import Telemetry

@testable import Server

private let schema = Result {
    try buildSchema(parse(Source("type Query { hello(name: String): String }")))
}

/// A server with the routes of the product.
enum ProductServer {
    /// Runs a test with a server, then stops the server gracefully and waits for its end.
    static func run<Result: Sendable>(
        limits: HTTPLimits = .quick, hasExplorer: Bool = true, schemaText: String? = nil,
        log: LogSpy? = nil, accessLogLevel: Logger.Level = .debug, metrics: Metrics = Metrics(),
        readiness: @escaping @Sendable () async -> ReadinessStatus = { .ready },
        routes: @escaping @Sendable (any EventLoop) -> [Route] = { _ in [] },
        _ test: (TestServer) async throws -> Result
    ) async throws -> Result {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        if let log { logger = Logger(label: "test") { _ in log.handler } }
        return try await TestServer.run(
            limits: limits, logger: logger, accessLogLevel: accessLogLevel, metrics: metrics,
            allRoutes: { loop, shutdown in
                standardRoutes(
                    loop: loop, service: EchoService(on: loop), bodyBytesMax: 4096,
                    explorer: hasExplorer ? try Explorer(schema: schema.get()) : nil,
                    schemaText: schemaText, shutdown: shutdown, readiness: readiness)
                    + routes(loop)
            }, test)
    }
}
