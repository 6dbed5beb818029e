import Logging
import NIOCore
import NIOExtras
import NIOPosix
import EventLoops
import ServiceLifecycle
import Synchronization
import Telemetry

/// HTTP/1.1 on all event loops of a group, until it is told to stop.
package struct HTTPServer: Service {
    /// Makes the routes of one event loop, on that loop; what they share with another loop must be Sendable.
    package typealias MakeRoutes = @Sendable (EventLoopTaskExecutor) throws -> [Route]

    /// For the database, log and listening sockets, and for connections that are told there are too many.
    private static let descriptorsKept = 200

    /// The connections that there are descriptors for beside the files that each loop keeps open, and half of all
    /// descriptors where these would leave few.
    static func connectionsMax(descriptorsMax: Int, loopCount: Int) -> Int {
        max(
            descriptorsMax - descriptorsKept - loopCount * ServedFiles.countMax, descriptorsMax / 2)
    }

    private let group: any EventLoopGroup
    private let executors: [EventLoopTaskExecutor]
    private let host: String
    private let port: Int
    private let limits: HTTPLimits
    private let proxies: TrustedProxies
    private let logger: Logger
    private let metrics: Metrics
    private let gauges: LiveGauges
    private let unread: UnreadBytes
    private let makeRoutes: MakeRoutes
    private let onListening: @Sendable (SocketAddress) -> Void

    /// - Parameters:
    ///   - executors: Those that the caller has made for loops of the group; the other loops get one here.
    ///   - port: 0 lets the system choose one, which `onListening` is told.
    ///   - unread: Counts the responses that clients have not read; the same as the routes have.
    ///   - onListening: Called once connections are accepted.
    package init(
        group: any EventLoopGroup, executors: [EventLoopTaskExecutor] = [], host: String, port: Int,
        limits: HTTPLimits = HTTPLimits(), proxies: TrustedProxies = TrustedProxies(),
        logger: Logger, metrics: Metrics = Metrics(), gauges: LiveGauges = LiveGauges(),
        unread: UnreadBytes = UnreadBytes(),
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in },
        makeRoutes: @escaping MakeRoutes
    ) {
        self.group = group
        self.executors = executors
        self.host = host
        self.port = port
        self.limits = limits
        self.proxies = proxies
        self.logger = logger
        self.metrics = metrics
        self.gauges = gauges
        self.unread = unread
        self.onListening = onListening
        self.makeRoutes = makeRoutes
    }

    /// Serves until a graceful shutdown is asked for, and returns when the requests that run then are answered.
    ///
    /// - Throws: `ListenError` where the port cannot be listened on, or what making a route throws.
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
        logger.info("stopping: running requests are answered first")
        await stop(contexts, quiescing, on: channel.eventLoop)
        for sweep in sweeps { sweep.cancel() }
    }

    private func makeContexts() async throws -> LoopContexts {
        var contexts: LoopContexts = [:]
        for loop in group.makeIterator() {
            let executor = executors.first { $0.eventLoop === loop } ?? EventLoopTaskExecutor(loop)
            contexts[ObjectIdentifier(loop)] = try await loop.submit {
                [makeRoutes, limits, proxies, logger, metrics, gauges, unread] in
                let routes = RouteTable(try makeRoutes(executor))
                return NIOLoopBound(
                    LoopContext(
                        executor, routes: routes, limits: limits, proxies: proxies, logger: logger,
                        metrics: metrics, gauges: gauges, unread: unread),
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
                    // Every loop of the group has its context.
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

    /// Returns when every connection is closed: idle ones, sockets and streams at once, the others
    /// after their answer, or at the time limit.
    private func stop(
        _ contexts: LoopContexts, _ quiescing: ServerQuiescingHelper, on loop: any EventLoop
    ) async {
        let promise = loop.makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: promise)
        for bound in contexts.values {
            bound.eventLoop.execute { bound.value.drain() }
        }
        let timer = loop.scheduleTask(in: limits.stopTimeout) { [logger] in
            logger.warning("stopping: some requests took too long and are cut off")
            for bound in contexts.values {
                bound.eventLoop.execute { bound.value.closeAll() }
            }
        }
        try? await promise.futureResult.get()
        timer.cancel()
    }
}

private typealias LoopContexts = [ObjectIdentifier: NIOLoopBound<LoopContext>]

/// Open connections of all loops.
private final class ConnectionCount: Sendable {
    private let count = Atomic(0)
    private let gauge: Gauge

    init(_ metrics: Metrics) {
        gauge = metrics.gauge("bookplate_http_connections", "Connections that are open.")
    }

    /// The number of connections with the new one.
    func open() -> Int {
        gauge.add(1)
        return count.add(1, ordering: .relaxed).newValue
    }

    func close() {
        gauge.add(-1)
        count.subtract(1, ordering: .relaxed)
    }
}
