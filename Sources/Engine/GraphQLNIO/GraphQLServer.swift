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
/// - ``Options/otherRequests`` serves other paths, such as those of health checks.
/// - The server speaks HTTP/1.1 without TLS. A proxy in front of it adds TLS and HTTP/2. ``GraphQLChannels`` adds GraphQL to a
///   SwiftNIO server of your own, with or without TLS.
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
        self.init(
            GraphQLChannels(schema, limits: limits, options: options, makeContext: makeContext),
            host, port, options)
    }

    /// Creates a server for a schema whose requests share no state. Defects of resolvers are logged.
    public init(
        _ schema: ExecutableSchema<NoContext>, host: String = "127.0.0.1", port: Int = 8080,
        limits: RequestLimits = RequestLimits(), options: Options = Options()
    ) {
        self.init(
            GraphQLChannels(schema, limits: limits, options: options), host, port, options)
    }

    /// Creates a server for a service of your own.
    ///
    /// - Parameters:
    ///   - host: The address to listen on. `0.0.0.0` accepts connections from other machines.
    ///   - port: The port to listen on. 0 lets the system choose one.
    ///   - options: The options of the transports.
    ///   - makeService: Creates the service of an event loop. Called once on each loop, when the server starts.
    public init(
        host: String = "127.0.0.1", port: Int = 8080, options: Options = Options(),
        makeService: @escaping @Sendable () -> any GraphQLService
    ) {
        self.init(
            GraphQLChannels(options: options, makeService: makeService), host, port, options)
    }

    private init(_ graphql: GraphQLChannels, _ host: String, _ port: Int, _ options: Options) {
        server = HTTPServer(
            group: options.group, host: host, port: port, channels: graphql.channels,
            onListening: { address in
                guard let port = address.port else { return }
                options.logger.info("serving http://\(host):\(port)\(options.path)")
                options.onListening(port)
            })
    }

    /// Serves requests until a graceful shutdown or the cancellation of the task. Returns when the running requests have
    /// finished.
    ///
    /// - Throws: An error if the server cannot listen on the port, or if it has been stopped before.
    public func run() async throws { try await server.run() }

    /// The options of the transports.
    public struct Options: Sendable {
        /// The event loops of the connections.
        public var group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// The path of GraphQL. It begins with `/`.
        public var path = "/graphql"
        /// The maximum size of a request's body, and of a message on a WebSocket, in bytes.
        public var bodyBytesMax = 1 << 20
        /// The maximum number of requests in a JSON array; 0 if arrays are not accepted.
        public var batchRequestsMax = 0
        /// The maximum number of open connections. Each further one gets status 503. ``GraphQLServer`` also keeps some of the
        /// process's file descriptors free.
        public var connectionsMax = 20_000
        /// The time to produce the response to a query or mutation, with all of its parts. After it, the task of the request is
        /// cancelled. Subscriptions have no limit. `TimeAmount.nanoseconds(.max)` sets no limit, here and for the other times.
        public var responseTimeout = TimeAmount.seconds(30)
        /// The time from a response to the client's next request on the connection. After it, the connection is closed. It includes
        /// the time in which the client reads the response, and a client that reads slowly must read 64 KiB within this time.
        public var keepAliveTimeout = TimeAmount.seconds(75)
        /// The time that running requests have to finish after a graceful shutdown of ``GraphQLServer`` has begun.
        public var shutdownTimeout = TimeAmount.seconds(10)
        /// The origins whose pages may open a WebSocket, such as `https://app.example.com`, in addition to the server's own.
        /// `*` allows all.
        ///
        /// HTTP requests are accepted from pages of all origins (`Access-Control-Allow-Origin: *`): browsers do not send cookies
        /// with them, so a page can only use the tokens that it has.
        public var allowedOrigins: [String] = []
        /// The proxies in front of the server. The client of a request that they forward is the last address in its header
        /// `X-Forwarded-For` that is not a trusted proxy, and all limits per client apply to that address. Without this option,
        /// the client is the proxy.
        public var trustedProxies = TrustedProxies()
        /// Whether requests may have the parameter `onError` (`ErrorBehavior`). It is ignored otherwise.
        public var acceptsOnError = false
        /// The codes of the engine's errors. The errors of the transports have fixed codes, such as `UNAUTHENTICATED` and
        /// `TOO_SLOW` in streams, and `BAD_REQUEST` in HTTP responses without a GraphQL result.
        public var errorCodes = ErrorCodes.apollo
        /// Responds to the requests for all other paths, of all methods. If it is nil or returns nil, they get status 404.
        ///
        /// ```swift
        /// options.otherRequests = { request in
        ///     switch (request.method, request.path) {
        ///     case (.GET, "/health"): OtherResponse(.ok, text: "ok")
        ///     case (.POST, "/echo"): OtherResponse(.ok, body: request.body)
        ///     default: nil
        ///     }
        /// }
        /// ```
        ///
        /// It is called on the event loop of the connection, so it must not block the thread. Its task is cancelled when the
        /// client disconnects, or after ``responseTimeout``. A body that is compressed or larger than ``bodyBytesMax`` is refused
        /// before the call.
        public var otherRequests: (@Sendable (OtherRequest) async -> OtherResponse?)?
        /// Receives a line when the server starts and stops. With `NoContext`, also one for each defect of a resolver.
        public var logger = Logger(label: "graphql")
        /// Called with the port when the server accepts connections.
        public var onListening: @Sendable (Int) -> Void = { _ in }
        /// The limit on the response to an array of requests.
        var responseBytesMax = RequestLimits().responseBytesMax
        var httpLimits: HTTPLimits {
            var limits = HTTPLimits()
            limits.connectionsMax = connectionsMax
            limits.responseTimeout = Self.bounded(responseTimeout)
            limits.keepAliveTimeout = Self.bounded(keepAliveTimeout)
            limits.stopTimeout = Self.bounded(shutdownTimeout)
            return limits
        }

        /// Deadlines far in the future and in the past would overflow.
        private static func bounded(_ time: TimeAmount) -> TimeAmount {
            min(max(time, .zero), .hours(24 * 365 * 100))
        }

        /// Creates the default options.
        public init() {}
    }
}
