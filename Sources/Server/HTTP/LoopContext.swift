import Logging
import NIOCore
import EventLoops
import Telemetry

/// What the connections of one event loop share; used on that loop only.
final class LoopContext {
    let executor: EventLoopTaskExecutor
    let routes: RouteTable
    let limits: HTTPLimits
    let proxies: TrustedProxies
    let logger: Logger
    var date = HTTPDate()
    var requestIDs = RequestID()
    var metrics: HTTPMetrics
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]

    var loop: any EventLoop { executor.eventLoop }

    init(
        _ executor: EventLoopTaskExecutor, routes: RouteTable, limits: HTTPLimits,
        proxies: TrustedProxies, logger: Logger, metrics: Metrics
    ) {
        self.executor = executor
        self.routes = routes
        self.limits = limits
        self.proxies = proxies
        self.logger = logger
        self.metrics = HTTPMetrics(metrics)
    }

    func add(_ connection: ConnectionHandler) {
        connections[ObjectIdentifier(connection)] = connection
    }

    func remove(_ connection: ConnectionHandler) {
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

    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}
