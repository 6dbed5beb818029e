import EventLoops
import Logging
import NIOCore
import Telemetry

/// The state that the connections of one event loop share. Used on that loop only.
final class LoopContext {
    /// The capacity for a head with a small body.
    private static let headBytes = 8 << 10

    let executor: EventLoopTaskExecutor
    let routes: RouteTable
    let limits: HTTPLimits
    let proxies: TrustedProxies
    let logger: Logger
    /// Whether requests have all headers; see `HTTPRequest.wholeHead`.
    let keepsHeads: Bool
    /// The level at which requests are logged that did not fail.
    private let accessLogLevel: Logger.Level
    var date = HTTPDate()
    var requestIDs = RequestID()
    let metrics: HTTPMetrics
    /// The buffer for the head of a response and a small body.
    var head = ByteBuffer()
    let gauges: LiveGauges
    let unread: UnreadBytes
    let bodies: BodyBytes
    /// nil if traces are not exported.
    let tracer: Tracer?
    /// Whether each connection is closed after its next response.
    private(set) var endsConnections = false
    private var connections: [ObjectIdentifier: any TimedConnection] = [:]
    /// Whether `sweep` runs in each `limits.sweepInterval`: while there are connections.
    private var isSweeping = false
    /// The number of channels that are not closed.
    private var channelCount = 0
    /// Succeeds when all channels are closed; nil until the shutdown begins.
    private var allClosed: EventLoopPromise<Void>?

    var loop: any EventLoop { executor.eventLoop }

    init(
        _ executor: EventLoopTaskExecutor, routes: RouteTable, limits: HTTPLimits,
        proxies: TrustedProxies, keepsHeads: Bool = false, logger: Logger,
        accessLogLevel: Logger.Level = .debug,
        metrics: Metrics, gauges: LiveGauges, unread: UnreadBytes = UnreadBytes(),
        bodies: BodyBytes? = nil, tracer: Tracer? = nil
    ) {
        self.executor = executor
        self.routes = routes
        self.limits = limits
        self.proxies = proxies
        self.keepsHeads = keepsHeads
        self.logger = logger
        self.accessLogLevel = accessLogLevel
        self.metrics = HTTPMetrics(metrics)
        self.gauges = gauges
        self.unread = unread
        self.bodies = bodies ?? BodyBytes(limits)
        self.tracer = tracer
    }

    func log(_ response: HTTPResponse, _ exchange: Exchange) {
        exchange.log(response, to: logger, level: accessLogLevel)
    }

    /// Clears the head. Its memory is reused, unless one response needed much more than others.
    func clearHead() {
        if head.storageCapacity > Self.headBytes { head = ByteBuffer() }
        head.clear(minimumCapacity: Self.headBytes)
    }

    /// Counts a channel until it is closed.
    func opened(_ channel: any Channel) {
        channelCount += 1
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
            channelCount -= 1
            if channelCount == 0 { allClosed?.succeed() }
        }
    }

    func add(_ connection: any TimedConnection) {
        connections[ObjectIdentifier(connection)] = connection
        if !isSweeping { beginSweeps() }
    }

    func remove(_ connection: any TimedConnection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Sweeps until no connection is left.
    private func beginSweeps() {
        isSweeping = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleRepeatedTask(
            initialDelay: limits.sweepInterval, delay: limits.sweepInterval
        ) { task in
            let context = bound.value
            context.sweep()
            guard context.connections.isEmpty else { return }
            context.isSweeping = false
            task.cancel()
        }
    }

    /// Calls every connection whose deadline has passed.
    ///
    /// Checking every connection twice per second costs less than a timer for every request.
    func sweep(now: NIODeadline = .now()) {
        for connection in connections.values where connection.deadline <= now {
            connection.deadlinePassed()
        }
        closeSlowReaders(now)
    }

    /// Closes connections whose clients read too slowly while memory for unread responses is short. The connections
    /// with the most bytes are closed first, until memory is no longer short.
    private func closeSlowReaders(_ now: NIODeadline) {
        guard unread.total > 0 else { return }
        var slow: [any TimedConnection] = []
        for connection in connections.values where connection.unreadCounter.bytes > 0 {
            connection.measureUnread(now: now)
            if connection.unreadCounter.isSlow(patience: limits.shortMemoryPatience, now: now) {
                slow.append(connection)
            }
        }
        slow.sort { $0.unreadCounter.bytes > $1.unreadCounter.bytes }
        for connection in slow where connection.unreadCounter.isMemoryShort {
            logger.info(
                "closed a slow reader because memory for unread responses is short",
                metadata: ["bytes": .stringConvertible(connection.unreadCounter.bytes)])
            unread.closedReader()
            connection.unreadCounter.close()
            connection.close()
        }
    }

    /// Makes the next response of each connection its last one.
    func endConnectionsAfterResponse() {
        endsConnections = true
    }

    /// Ends WebSockets, subscriptions, and idle connections. Running requests continue.
    ///
    /// - Returns: A future that succeeds when all channels are closed.
    func drain() -> EventLoopFuture<Void> {
        endsConnections = true
        for connection in connections.values { connection.drain() }
        let allClosed = allClosed ?? loop.makePromise()
        self.allClosed = allClosed
        if channelCount == 0 { allClosed.succeed() }
        return allClosed.futureResult
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}

/// A connection whose deadline the loop checks.
protocol TimedConnection: AnyObject {
    /// When to call `deadlinePassed`.
    var deadline: NIODeadline { get }
    var unreadCounter: UnreadCounter { get }
    /// Updates `unreadCounter`.
    func measureUnread(now: NIODeadline)
    func deadlinePassed()
    /// Ends the connection because the server is shutting down. A request that is in progress gets its response first.
    func drain()
    func close()
}
