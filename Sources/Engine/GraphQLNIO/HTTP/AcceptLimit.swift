import Glibc
import Logging
import NIOCore
import Telemetry

/// Limits the connections that a listening socket accepts. Further ones wait in the queue of the kernel.
///
/// Connections above the limit of the server are accepted to be refused with status 503, but only a few at a time, because each of them
/// has a descriptor until its client has read the response (see `DescriptorShares`).
///
/// It also pauses after the system has refused a connection, usually because the process has no descriptor left. The connection is
/// still there, so the listening socket stays readable, and accepting it at once would fail again and again. NIO's
/// `AcceptBackoffHandler` delays only the next read, but a failed one is still pending, and is repeated at once.
final class AcceptLimit: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    /// The number of connections that a listening socket accepts before it notices a pause.
    static let acceptedTogetherMax: UInt = 4
    private static let pause = TimeAmount.milliseconds(100)
    private static let logInterval = TimeAmount.seconds(60)

    private let acceptedMax: Int
    private let failures: Counter
    private let logger: Logger
    private var nextLog = NIODeadline.now()
    private var acceptedCount = 0
    private var hasFailed = false
    private var isPaused = false

    /// - Parameters:
    ///   - connectionsMax: The maximum number of connections that are served.
    ///   - refusedMax: The maximum number of connections that are refused at a time.
    init(connectionsMax: Int, refusedMax: Int, _ metrics: Metrics, _ logger: Logger) {
        acceptedMax = connectionsMax + refusedMax
        metrics.gauge(
            "bookplate_http_connections_max",
            "The maximum number of open connections, which the file descriptors can limit."
        ).set(connectionsMax)
        failures = metrics.counter(
            "bookplate_http_accept_failures_total",
            "Failed attempts to accept connections, such as those without a free file descriptor.")
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        acceptedCount += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (handler, context) = bound.value
            handler.acceptedCount -= 1
            handler.update(context.channel)
        }
        update(context.channel)
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        // The client may have closed its connection before it was accepted.
        guard let failure = error as? IOError, failure.errnoCode != ECONNABORTED else { return }
        failures.increment()
        if nextLog <= .now() {
            nextLog = .now() + Self.logInterval
            logger.warning(
                "connections cannot be accepted at the moment", metadata: ["error": "\(error)"])
        }
        hasFailed = true
        update(context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.hasFailed = false
            handler.update(context.channel)
        }
    }

    /// Pauses or continues accepting.
    private func update(_ channel: any Channel) {
        let isPaused = hasFailed || acceptedCount >= acceptedMax
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        _ = channel.setOption(.autoRead, value: !isPaused)
    }
}
