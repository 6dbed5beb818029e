import GraphQL
import GraphQLServing
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A server for GraphQL over HTTP, server-sent events, and WebSockets, at the path `/graphql`.
///
/// ```swift
/// try await GraphQLServer(schema, port: 8080).run()
/// ```
///
/// - `POST` runs every operation, and `GET` queries, according to
///   [GraphQL over HTTP](https://graphql.github.io/graphql-over-http/draft/).
/// - A subscription is a stream of `text/event-stream`
///   ([graphql-sse](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md), distinct connections) or
///   `multipart/mixed`, or runs on a WebSocket with the subprotocol
///   [graphql-transport-ws](https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).
/// - If the schema has `@defer` and `@stream`, their responses use the same three transports.
/// - The server speaks HTTP/1.1 without TLS. A proxy in front of it adds TLS and HTTP/2.
///
/// It is a service of [ServiceLifecycle](https://github.com/swift-server/swift-service-lifecycle): in a `ServiceGroup`, a
/// graceful shutdown finishes the running requests. Without one, cancel the task of ``run()``.
public struct GraphQLServer: Service {
    private let server: HTTPServer

    /// Creates a server for a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema with its resolvers.
    ///   - host: The address to listen on. `0.0.0.0` accepts connections from other machines.
    ///   - port: The port to listen on. 0 lets the system choose one.
    ///   - limits: The limits of requests.
    ///   - options: The options of the transports.
    ///   - makeContext: Creates the context of a request. See `SchemaService`.
    public init<Context: ExecutionContext & Sendable>(
        _ schema: ExecutableSchema<Context>, host: String = "127.0.0.1", port: Int = 8080,
        limits: RequestLimits = RequestLimits(), options: Options = Options(),
        makeContext: @escaping @Sendable (GraphQLRequest) async throws(RequestErrors) -> Context
    ) {
        var options = options
        options.responseBytesMax = limits.responseBytesMax
        self.init(host: host, port: port, options: options) {
            [acceptsOnError = options.acceptsOnError, errorCodes = options.errorCodes] in
            SchemaService(
                schema, limits: limits, acceptsOnError: acceptsOnError,
                errorCodes: errorCodes, makeContext: makeContext)
        }
    }

    /// Creates a server for a schema whose requests share no state. Defects of resolvers are logged.
    public init(
        _ schema: ExecutableSchema<NoContext>, host: String = "127.0.0.1", port: Int = 8080,
        limits: RequestLimits = RequestLimits(), options: Options = Options()
    ) {
        self.init(schema, host: host, port: port, limits: limits, options: options) { request in
            NoContext { defect in
                options.logger.error("\(defect)", metadata: ["request_id": "\(request.requestID)"])
            }
        }
    }

    /// Creates a server for a service of your own.
    ///
    /// - Parameter makeService: Creates the service of an event loop. Called once on each loop, when the server starts.
    public init(
        host: String = "127.0.0.1", port: Int = 8080, options: Options = Options(),
        makeService: @escaping @Sendable () -> any GraphQLService
    ) {
        let unread = UnreadBytes()
        server = HTTPServer(
            group: options.group, host: host, port: port, logger: options.logger, unread: unread,
            onListening: { address in
                guard let port = address.port else { return }
                options.logger.info("serving http://\(host):\(port)\(GraphQLEndpoint.path)")
                options.onListening(port)
            }
        ) { executor in
            GraphQLEndpoint(
                service: makeService(), loop: executor.eventLoop,
                bodyBytesMax: options.bodyBytesMax, batchRequestsMax: options.batchRequestsMax,
                multipartBytesMax: options.bodyBytesMax,
                socketOrigins: AllowedOrigins(options.allowedOrigins),
                responseBytesMax: options.responseBytesMax, unread: unread
            ).routes
        }
    }

    /// Serves requests until a graceful shutdown or the cancellation of the task. Returns when the running requests have
    /// finished.
    ///
    /// - Throws: An error if the server cannot listen on the port.
    public func run() async throws { try await server.run() }

    /// The options of the transports.
    public struct Options: Sendable {
        /// The event loops of the connections.
        public var group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// The maximum size of a request's body, and of a message on a WebSocket, in bytes.
        public var bodyBytesMax = 1 << 20
        /// The maximum number of requests in a JSON array; 0 if arrays are not accepted.
        public var batchRequestsMax = 0
        /// The origins whose pages may open a WebSocket, such as `https://app.example.com`, in addition to the server's own.
        /// `*` allows all.
        public var allowedOrigins: [String] = []
        /// Whether requests may have the parameter `onError` (``GraphQL/ErrorBehavior``). It is ignored otherwise.
        public var acceptsOnError = false
        /// The codes of the engine's errors. The errors of the transports have fixed codes, such as `UNAUTHENTICATED` and
        /// `TOO_SLOW` in streams, and `BAD_REQUEST` in HTTP responses without a GraphQL result.
        public var errorCodes = ErrorCodes.apollo
        /// Receives a line when the server starts and stops, and one for each defect of a resolver.
        public var logger = Logger(label: "graphql")
        /// Called with the port when the server accepts connections.
        public var onListening: @Sendable (Int) -> Void = { _ in }
        /// The limit on the response to an array of requests.
        var responseBytesMax = RequestLimits().responseBytesMax

        /// Creates the default options.
        public init() {}
    }
}
