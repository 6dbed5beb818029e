import EventLoops
import Logging
import NIOCore
import Synchronization
import Telemetry

/// Serves HTTP/1.1 on the channels of accepted connections, and ends them when the server stops.
///
/// The connections of an event loop share a `LoopContext`. It is created when the loop gets its first connection, unless
/// `prepare` has created it before.
package final class HTTPChannels: Sendable {
    /// Creates the routes of one event loop, on that loop. Values shared between loops must be Sendable.
    package typealias MakeRoutes = @Sendable (EventLoopTaskExecutor) throws -> [Route]

    private struct State {
        var contexts: [ObjectIdentifier: NIOLoopBound<LoopContext>] = [:]
        var isShutDown = false
    }

    private let executors: [EventLoopTaskExecutor]
    let limits: HTTPLimits
    private let proxies: TrustedProxies
    private let keepsHeads: Bool
    let logger: Logger
    private let accessLogLevel: Logger.Level
    private let metrics: Metrics
    private let gauges: LiveGauges
    private let unread: UnreadBytes
    private let bodies: BodyBytes
    private let tracer: Tracer?
    private let makeRoutes: MakeRoutes
    private let connectionCount: ConnectionCount
    private let state = Mutex(State())

    /// - Parameters:
    ///   - executors: The executors that the caller has created for some loops. The other loops get a new one.
    ///   - keepsHeads: Whether requests have all headers; see `HTTPRequest.wholeHead`.
    ///   - accessLogLevel: The level at which requests are logged that did not fail.
    ///   - unread: Counts the responses that clients have not read. Must be the instance that the routes use.
    ///   - tracer: Records the requests; nil if traces are not exported.
    package init(
        executors: [EventLoopTaskExecutor] = [], limits: HTTPLimits = HTTPLimits(),
        proxies: TrustedProxies = TrustedProxies(), keepsHeads: Bool = false, logger: Logger,
        accessLogLevel: Logger.Level = .debug, metrics: Metrics = Metrics(),
        gauges: LiveGauges = LiveGauges(), unread: UnreadBytes = UnreadBytes(),
        tracer: Tracer? = nil, makeRoutes: @escaping MakeRoutes
    ) {
        self.executors = executors
        self.limits = limits
        self.proxies = proxies
        self.keepsHeads = keepsHeads
        self.logger = logger
        self.accessLogLevel = accessLogLevel
        self.metrics = metrics
        self.gauges = gauges
        self.unread = unread
        bodies = BodyBytes(limits)
        self.tracer = tracer
        self.makeRoutes = makeRoutes
        connectionCount = ConnectionCount(metrics)
    }

    /// Creates the routes of an event loop, so that an error is found before the first connection.
    ///
    /// - Throws: An error of `makeRoutes`, or `ShutDownError`.
    func prepare(_ loop: any EventLoop) async throws {
        try await loop.submit { _ = try self.context(of: loop) }.get()
    }

    /// Returns the context of this event loop.
    private func context(of loop: any EventLoop) throws -> LoopContext {
        let id = ObjectIdentifier(loop)
        let existing = try state.withLock { state in
            if state.isShutDown { throw ShutDownError() }
            return state.contexts[id]
        }
        if let existing { return existing.value }
        let executor = executors.first { $0.eventLoop === loop } ?? EventLoopTaskExecutor(loop)
        let context = LoopContext(
            executor, routes: RouteTable(try makeRoutes(executor)), limits: limits,
            proxies: proxies, keepsHeads: keepsHeads, logger: logger,
            accessLogLevel: accessLogLevel, metrics: metrics,
            gauges: gauges, unread: unread, bodies: bodies, tracer: tracer)
        let bound = NIOLoopBound(context, eventLoop: loop)
        try state.withLock { state in
            if state.isShutDown { throw ShutDownError() }
            state.contexts[id] = bound
        }
        return context
    }

    /// Adds the handler of HTTP to the channel of a new connection, on the channel's event loop.
    ///
    /// - Parameter connectionsMax: The maximum number of connections. A further one gets status 503.
    /// - Throws: An error of `makeRoutes`, or `ShutDownError`. The channel must then be closed.
    func addHandlers(to channel: any Channel, connectionsMax: Int) throws {
        let context = try context(of: channel.eventLoop)
        let count = connectionCount.open()
        channel.closeFuture.whenComplete { [connectionCount] _ in connectionCount.close() }
        context.opened(channel)
        if count <= connectionsMax {
            try channel.pipeline.syncOperations.addHandler(ConnectionHandler(context))
        } else {
            try channel.pipeline.syncOperations.addHandler(OverloadHandler())
        }
    }

    /// Returns a handler for a listening socket.
    func acceptLimit(connectionsMax: Int, refusedMax: Int) -> AcceptLimit {
        AcceptLimit(connectionsMax: connectionsMax, refusedMax: refusedMax, metrics, logger)
    }

    /// Makes the next response of each connection its last one.
    func endConnectionsAfterResponse() {
        for bound in contexts {
            bound.eventLoop.execute { bound.value.endConnectionsAfterResponse() }
        }
    }

    private var contexts: [NIOLoopBound<LoopContext>] {
        state.withLock { Array($0.contexts.values) }
    }

    /// Closes idle connections, WebSockets, and subscriptions at once, and the others after their response or at the time limit.
    /// Returns when every connection is closed. Further channels are refused.
    func shutDown(within timeout: TimeAmount) async {
        state.withLock { $0.isShutDown = true }
        let contexts = contexts
        let closed = contexts.map { bound in bound.eventLoop.flatSubmit { bound.value.drain() } }
        let timer = contexts.first?.eventLoop.scheduleTask(in: timeout) { [logger] in
            logger.warning("some requests did not finish in time and are cancelled")
            for bound in contexts { bound.eventLoop.execute { bound.value.closeAll() } }
        }
        for future in closed { try? await future.get() }
        timer?.cancel()
    }
}

/// The shutdown has begun, so new channels must be closed.
struct ShutDownError: Error, CustomStringConvertible {
    var description: String { "the server has been stopped: create another one to serve again" }
}

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
