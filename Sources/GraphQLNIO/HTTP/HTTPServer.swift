import EventLoops
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle
import Synchronization
import Telemetry

/// An HTTP/1.1 server on all event loops of a group. It runs until a graceful shutdown.
package struct HTTPServer: Service {
    /// Creates the routes of one event loop, on that loop. Values shared between loops must be Sendable.
    package typealias MakeRoutes = @Sendable (EventLoopTaskExecutor) throws -> [Route]

    /// The number of descriptors reserved for the database, the log, the listening sockets, and connections that get
    /// status 503.
    private static let reservedDescriptorCount = 200

    /// Returns the number of connections that `descriptorsMax` allows: the descriptors that remain after the reserved ones
    /// and the cached files of each loop, but at least half of all descriptors.
    static func connectionsMax(descriptorsMax: Int, loopCount: Int) -> Int {
        max(
            descriptorsMax - reservedDescriptorCount - loopCount * ServedFileCache.countMax,
            descriptorsMax / 2)
    }

    private let group: any EventLoopGroup
    private let executors: [EventLoopTaskExecutor]
    private let host: String
    private let port: Int
    private let limits: HTTPLimits
    private let proxies: TrustedProxies
    private let logger: Logger
    private let accessLogLevel: Logger.Level
    private let metrics: Metrics
    private let gauges: LiveGauges
    private let unread: UnreadBytes
    private let bodies: BodyBytes
    private let tracer: Tracer?
    private let makeRoutes: MakeRoutes
    private let shutdown: ShutdownState
    private let onListening: @Sendable (SocketAddress) -> Void
    private let onStopping: @Sendable () -> Void

    /// - Parameters:
    ///   - executors: The executors that the caller has created for loops of the group. The other loops get a new one.
    ///   - port: The port to listen on. 0 lets the system choose one; `onListening` receives it.
    ///   - accessLogLevel: The level at which requests are logged that did not fail.
    ///   - unread: Counts the responses that clients have not read. Must be the instance that the routes use.
    ///   - tracer: Records the requests; nil if traces are not exported.
    ///   - shutdown: Must be the instance that the routes use.
    ///   - onListening: Called when the server accepts connections.
    ///   - onStopping: Called when the graceful shutdown begins. The server accepts connections until
    ///     `limits.stopDelay` has passed.
    package init(
        group: any EventLoopGroup, executors: [EventLoopTaskExecutor] = [], host: String, port: Int,
        limits: HTTPLimits = HTTPLimits(), proxies: TrustedProxies = TrustedProxies(),
        logger: Logger, accessLogLevel: Logger.Level = .debug, metrics: Metrics = Metrics(),
        gauges: LiveGauges = LiveGauges(),
        unread: UnreadBytes = UnreadBytes(), tracer: Tracer? = nil,
        shutdown: ShutdownState = ShutdownState(),
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in },
        onStopping: @escaping @Sendable () -> Void = {},
        makeRoutes: @escaping MakeRoutes
    ) {
        self.group = group
        self.executors = executors
        self.host = host
        self.port = port
        self.limits = limits
        self.proxies = proxies
        self.logger = logger
        self.accessLogLevel = accessLogLevel
        self.metrics = metrics
        self.gauges = gauges
        self.unread = unread
        bodies = BodyBytes(limits)
        self.tracer = tracer
        self.shutdown = shutdown
        self.onListening = onListening
        self.onStopping = onStopping
        self.makeRoutes = makeRoutes
    }

    /// Serves requests until a graceful shutdown, and returns when the running requests have finished.
    ///
    /// - Throws: `ListenError` if the server cannot listen on the port, or an error of `makeRoutes`.
    package func run() async throws {
        let descriptorsMax = raiseDescriptorLimit()
        let contexts = try await makeContexts()
        let quiescing = ServerQuiescingHelper(group: group)
        let channel = try await listen(
            contexts, quiescing,
            connectionsMax: min(
                limits.connectionsMax,
                Self.connectionsMax(descriptorsMax: descriptorsMax, loopCount: contexts.count)))
        let sweeps = contexts.values.map { bound in
            bound.eventLoop.scheduleRepeatedTask(
                initialDelay: limits.sweepInterval, delay: limits.sweepInterval
            ) { _ in bound.value.sweep() }
        }
        if let address = channel.localAddress { onListening(address) }

        try? await gracefulShutdown()
        onStopping()
        await announceStop(to: contexts, channel)
        logger.info("shutting down after the running requests have finished")
        await stop(contexts, quiescing, on: channel.eventLoop)
        for sweep in sweeps { sweep.cancel() }
    }

    private func makeContexts() async throws -> LoopContexts {
        var contexts: LoopContexts = [:]
        for loop in group.makeIterator() {
            let executor = executors.first { $0.eventLoop === loop } ?? EventLoopTaskExecutor(loop)
            contexts[ObjectIdentifier(loop)] = try await loop.submit {
                [
                    makeRoutes, limits, proxies, logger, accessLogLevel, metrics, gauges, unread,
                    bodies, tracer,
                ] in
                let routes = RouteTable(try makeRoutes(executor))
                return NIOLoopBound(
                    LoopContext(
                        executor, routes: routes, limits: limits, proxies: proxies, logger: logger,
                        accessLogLevel: accessLogLevel, metrics: metrics, gauges: gauges,
                        unread: unread, bodies: bodies, tracer: tracer),
                    eventLoop: loop)
            }.get()
        }
        return contexts
    }

    private func listen(
        _ contexts: LoopContexts, _ quiescing: ServerQuiescingHelper, connectionsMax: Int
    ) async throws -> any Channel {
        let connectionCount = ConnectionCount(metrics)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Every loop of the group has a context.
                    guard let context = contexts[ObjectIdentifier(channel.eventLoop)]?.value else {
                        throw ChannelError.operationUnsupported
                    }
                    let count = connectionCount.open()
                    channel.closeFuture.whenComplete { _ in connectionCount.close() }
                    guard count <= connectionsMax else {
                        try channel.pipeline.syncOperations.addHandler(OverloadHandler())
                        return
                    }
                    try channel.pipeline.syncOperations.addHandler(ConnectionHandler(context))
                }
            }
        do {
            return try await bootstrap.bind(host: host, port: port).get()
        } catch {
            throw ListenError(host: host, port: port, error)
        }
    }

    /// Lets load balancers notice that the server stops: `/health/ready` returns 503, and each response ends its connection,
    /// but new connections are still accepted. Returns after `limits.stopDelay`, when no new connection waits to be
    /// accepted.
    private func announceStop(to contexts: LoopContexts, _ channel: any Channel) async {
        shutdown.begin()
        guard limits.stopDelay > .zero else { return }
        for bound in contexts.values {
            bound.eventLoop.execute { bound.value.endConnectionsAfterResponse() }
        }
        logger.info(
            "not ready anymore; accepting connections for a while, so that load balancers notice",
            metadata: ["seconds": .stringConvertible(limits.stopDelay.components.seconds)])
        try? await Task.sleep(for: limits.stopDelay)
        do {
            try await ignoreNewConnections(on: channel)
            // Enough for the handshakes that have begun.
            try? await Task.sleep(for: .milliseconds(200))
        } catch {
            logger.warning(
                "connections that are not yet accepted will be reset",
                metadata: ["error": "\(error)"])
        }
    }

    /// Closes idle connections, WebSockets, and streams at once, and the others after their response or at the time
    /// limit. Returns when every connection is closed.
    private func stop(
        _ contexts: LoopContexts, _ quiescing: ServerQuiescingHelper, on loop: any EventLoop
    ) async {
        let promise = loop.makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: promise)
        for bound in contexts.values {
            bound.eventLoop.execute { bound.value.drain() }
        }
        let timer = loop.scheduleTask(in: limits.stopTimeout) { [logger] in
            logger.warning("some requests did not finish in time and are cancelled")
            for bound in contexts.values {
                bound.eventLoop.execute { bound.value.closeAll() }
            }
        }
        try? await promise.futureResult.get()
        timer.cancel()
    }
}

private typealias LoopContexts = [ObjectIdentifier: NIOLoopBound<LoopContext>]

/// Counts the open connections of all loops.
private final class ConnectionCount: Sendable {
    private let count = Atomic(0)
    private let gauge: Gauge

    init(_ metrics: Metrics) {
        gauge = metrics.gauge("bookplate_http_connections", "Connections that are open.")
    }

    /// Counts a new connection and returns the number of open connections.
    func open() -> Int {
        gauge.add(1)
        return count.add(1, ordering: .relaxed).newValue
    }

    func close() {
        gauge.add(-1)
        count.subtract(1, ordering: .relaxed)
    }
}
