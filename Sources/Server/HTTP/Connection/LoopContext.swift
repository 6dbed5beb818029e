import Logging
import NIOCore
import EventLoops
import Telemetry

/// What the connections of one event loop share; used on that loop only.
final class LoopContext {
    /// What a head with a small body needs.
    private static let headBytes = 8 << 10

    let executor: EventLoopTaskExecutor
    let routes: RouteTable
    let limits: HTTPLimits
    let proxies: TrustedProxies
    let logger: Logger
    var date = HTTPDate()
    var requestIDs = RequestID()
    let metrics: HTTPMetrics
    /// Where answers' heads are written, and small bodies behind them.
    var head = ByteBuffer()
    let gauges: LiveGauges
    let unread: UnreadBytes
    /// Whether the server stops: what would last is ended.
    private(set) var isDraining = false
    private var connections: [ObjectIdentifier: any TimedConnection] = [:]

    var loop: any EventLoop { executor.eventLoop }

    init(
        _ executor: EventLoopTaskExecutor, routes: RouteTable, limits: HTTPLimits,
        proxies: TrustedProxies, logger: Logger, metrics: Metrics, gauges: LiveGauges,
        unread: UnreadBytes = UnreadBytes()
    ) {
        self.executor = executor
        self.routes = routes
        self.limits = limits
        self.proxies = proxies
        self.logger = logger
        self.metrics = HTTPMetrics(metrics)
        self.gauges = gauges
        self.unread = unread
    }

    /// Empties the head; its memory stays, unless an answer needed much more than others.
    func clearHead() {
        if head.storageCapacity > Self.headBytes { head = ByteBuffer() }
        head.clear(minimumCapacity: Self.headBytes)
    }

    func add(_ connection: any TimedConnection) {
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: any TimedConnection) {
        connections[ObjectIdentifier(connection)] = nil
    }

    /// Ends what has passed its deadline.
    ///
    /// Checking every connection twice a second costs less than a timer for every request.
    func sweep(now: NIODeadline = .now()) {
        for connection in connections.values where connection.deadline <= now {
            connection.deadlinePassed()
        }
        closeSlowReaders(now)
    }

    /// While memory for unread responses is short, closes connections whose clients read too slowly: those with the most
    /// bytes first, until memory is not short any more.
    private func closeSlowReaders(_ now: NIODeadline) {
        guard unread.total > 0 else { return }
        var slow: [any TimedConnection] = []
        for connection in connections.values where connection.account.bytes > 0 {
            connection.measureUnread(now: now)
            if connection.account.isSlow(patience: limits.shortMemoryPatience, now: now) {
                slow.append(connection)
            }
        }
        slow.sort { $0.account.bytes > $1.account.bytes }
        for connection in slow where connection.account.isMemoryShort {
            logger.info(
                "closed a connection that reads slowly: memory for unread responses is short",
                metadata: ["bytes": "\(connection.account.bytes)"])
            unread.closedReader()
            connection.account.close()
            connection.close()
        }
    }

    /// Ends sockets and streams in order; requests go on.
    func drain() {
        isDraining = true
        for connection in connections.values { connection.drain() }
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}

/// A connection whose times the loop's sweep keeps.
protocol TimedConnection: AnyObject {
    /// When `deadlinePassed` is due.
    var deadline: NIODeadline { get }
    var account: UnreadAccount { get }
    /// Brings `account` up to date.
    func measureUnread(now: NIODeadline)
    func deadlinePassed()
    /// Ends what would last, because the server stops.
    func drain()
    func close()
}
