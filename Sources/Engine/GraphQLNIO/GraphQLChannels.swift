import GraphQL
import GraphQLServing
import NIOCore

/// GraphQL over HTTP, server-sent events, and WebSockets, on the channels of an existing SwiftNIO server.
///
/// ```swift
/// let graphql = GraphQLChannels(schema)
/// let server = try await ServerBootstrap(group: group)
///     .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
///     .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
///     .childChannelInitializer { channel in
///         channel.eventLoop.makeCompletedFuture { try graphql.addHandlers(to: channel) }
///     }
///     .bind(host: "127.0.0.1", port: 8080).get()
///
/// // When the program stops:
/// try await server.close()
/// await graphql.shutDown()
/// ```
///
/// The handlers read HTTP/1.1 from the channel, so the channel must not have NIO's own HTTP handlers
/// (`configureHTTPServerPipeline`). ``GraphQLServer/Options/otherRequests`` serves the other paths of the server.
///
/// The handler of [swift-nio-ssl](https://github.com/apple/swift-nio-ssl) comes before them, if the connection uses TLS:
///
/// ```swift
/// .childChannelInitializer { channel in
///     channel.eventLoop.makeCompletedFuture {
///         try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
///         try graphql.addHandlers(to: channel)
///     }
/// }
/// ```
///
/// ``GraphQLServer`` is a complete server, which listens by itself.
public struct GraphQLChannels: Sendable {
    let channels: HTTPChannels

    /// Creates the handlers of a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema with its resolvers.
    ///   - limits: The limits of requests.
    ///   - options: The options of the transports. `group`, `shutdownTimeout`, and `onListening` are not used.
    ///   - makeContext: Creates the context of a request. See `SchemaService`.
    public init<Context: ExecutionContext & Sendable>(
        _ schema: ExecutableSchema<Context>, limits: RequestLimits = RequestLimits(),
        options: GraphQLServer.Options = GraphQLServer.Options(),
        makeContext: @escaping @Sendable (GraphQLRequest) async throws(RequestErrors) -> Context
    ) {
        var options = options
        options.responseBytesMax = limits.responseBytesMax
        self.init(options: options) {
            [acceptsOnError = options.acceptsOnError, errorCodes = options.errorCodes] in
            SchemaService(
                schema, limits: limits, acceptsOnError: acceptsOnError,
                errorCodes: errorCodes, makeContext: makeContext)
        }
    }

    /// Creates the handlers of a schema whose requests share no state. Defects of resolvers are logged.
    public init(
        _ schema: ExecutableSchema<NoContext>, limits: RequestLimits = RequestLimits(),
        options: GraphQLServer.Options = GraphQLServer.Options()
    ) {
        self.init(schema, limits: limits, options: options) { request in
            NoContext { [logger = options.logger] defect in
                logger.error("\(defect)", metadata: ["request_id": "\(request.requestID)"])
            }
        }
    }

    /// Creates the handlers of a service of your own.
    ///
    /// - Parameters:
    ///   - options: The options of the transports. `group`, `shutdownTimeout`, and `onListening` are not used.
    ///   - makeService: Creates the service of an event loop. Called once on each loop, before its first request.
    public init(
        options: GraphQLServer.Options = GraphQLServer.Options(),
        makeService: @escaping @Sendable () -> any GraphQLService
    ) {
        var unreadLimits = UnreadBytes.Limits()
        unreadLimits.fit(responseBytesMax: options.responseBytesMax)
        let unread = UnreadBytes(unreadLimits)
        channels = HTTPChannels(
            limits: options.httpLimits, proxies: options.trustedProxies, keepsHeads: true,
            logger: options.logger,
            unread: unread
        ) { executor in
            var routes = GraphQLEndpoint(
                path: options.path, service: makeService(), loop: executor.eventLoop,
                bodyBytesMax: options.bodyBytesMax, batchRequestsMax: options.batchRequestsMax,
                multipartBytesMax: options.bodyBytesMax,
                socketOrigins: AllowedOrigins(options.allowedOrigins),
                responseBytesMax: options.responseBytesMax, unread: unread
            ).routes
            if let otherRequests = options.otherRequests {
                routes.append(
                    otherRequestsRoute(bodyBytesMax: options.bodyBytesMax, otherRequests))
            }
            return routes
        }
    }

    /// Adds the handlers to the channel of an accepted connection. Call it on the channel's event loop, as in a
    /// `childChannelInitializer`, before the channel has read anything.
    ///
    /// A client has 15 seconds to send the head of its first request, including the TLS handshake. If
    /// ``GraphQLServer/Options/connectionsMax`` connections are open, each further one gets status 503.
    ///
    /// - Throws: An error if the channel is closed, or if it was accepted after ``shutDown(within:)``. NIO closes a channel
    ///   whose initializer fails.
    public func addHandlers(to channel: any Channel) throws {
        try channels.addHandlers(to: channel, connectionsMax: channels.limits.connectionsMax)
    }

    /// Ends all connections, and returns when they are closed. Close the server's channel first.
    ///
    /// Idle connections, subscriptions, and WebSockets end at once, so that clients connect to another server. Queries and mutations
    /// that are running get their responses, also those in several parts; on a WebSocket they are cancelled.
    ///
    /// `ServerQuiescingHelper` of swift-nio-extras ends the connections in the same way, but has no time limit.
    ///
    /// - Parameter timeout: The time that running requests have to finish. After it, their tasks are cancelled and their
    ///   connections are closed. A resolver that ignores the cancellation continues to run, even after this method returns. A TLS
    ///   handler can delay the close of a connection by up to 5 seconds, while it waits for the client's `close_notify`.
    public func shutDown(within timeout: TimeAmount = .seconds(10)) async {
        await channels.shutDown(within: timeout)
    }
}
