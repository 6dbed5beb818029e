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
    /// Whether the server stops: what would last is ended.
    private(set) var isDraining = false
    private var connections: [ObjectIdentifier: any TimedConnection] = [:]

    var loop: any EventLoop { executor.eventLoop }

    init(
        _ executor: EventLoopTaskExecutor, routes: RouteTable, limits: HTTPLimits,
        proxies: TrustedProxies, logger: Logger, metrics: Metrics, gauges: LiveGauges
    ) {
        self.executor = executor
        self.routes = routes
        self.limits = limits
        self.proxies = proxies
        self.logger = logger
        self.metrics = HTTPMetrics(metrics)
        self.gauges = gauges
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
    /// One look at every connection twice a second costs less than a timer for every request.
    func sweep() {
        let now = NIODeadline.now()
        for connection in connections.values where connection.deadline <= now {
            connection.deadlinePassed()
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
    func deadlinePassed()
    /// Ends what would last, because the server stops.
    func drain()
    func close()
}
