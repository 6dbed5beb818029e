import Glibc
import Logging
import NIOCore
import Telemetry

/// Pauses accepting connections after the system has refused one, usually because the process has no descriptor left.
///
/// The connection is still there, so the listening socket stays readable, and accepting it at once would fail again and again.
/// NIO's `AcceptBackoffHandler` delays only the next read, but a failed one is still pending, and is repeated at once.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)
    private static let logInterval = TimeAmount.seconds(60)

    private let failures: Counter
    private let logger: Logger
    private var nextLog = NIODeadline.now()

    init(_ metrics: Metrics, _ logger: Logger) {
        failures = metrics.counter(
            "bookplate_http_accept_failures_total",
            "Failed attempts to accept connections, such as those without a free file descriptor.")
        self.logger = logger
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
        let channel = context.channel
        _ = channel.setOption(.autoRead, value: false)
        context.eventLoop.scheduleTask(in: Self.pause) {
            _ = channel.setOption(.autoRead, value: true)
        }
    }
}
