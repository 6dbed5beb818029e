import EventLoops
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Telemetry

/// An HTTP/1.1 server on all event loops of a group. It runs until a graceful shutdown.
package struct HTTPServer: Service {
    private let group: any EventLoopGroup
    private let host: String
    private let port: Int
    private let channels: HTTPChannels
    private let shutdown: ShutdownState
    private let onListening: @Sendable (SocketAddress) -> Void
    private let onStopping: @Sendable () -> Void

    private var limits: HTTPLimits { channels.limits }
    private var logger: Logger { channels.logger }

    /// - Parameters:
    ///   - port: The port to listen on. 0 lets the system choose one; `onListening` receives it.
    ///   - channels: Serves the connections.
    ///   - shutdown: Must be the instance that the routes use.
    ///   - onListening: Called when the server accepts connections.
    ///   - onStopping: Called when the graceful shutdown begins. The server accepts connections until
    ///     `limits.stopDelay` has passed.
    package init(
        group: any EventLoopGroup, host: String, port: Int, channels: HTTPChannels,
        shutdown: ShutdownState = ShutdownState(),
        onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in },
        onStopping: @escaping @Sendable () -> Void = {}
    ) {
        self.group = group
        self.host = host
        self.port = port
        self.channels = channels
        self.shutdown = shutdown
        self.onListening = onListening
        self.onStopping = onStopping
    }

    /// Serves requests until a graceful shutdown, and returns when the running requests have finished.
    ///
    /// - Throws: `ListenError` if the server cannot listen on the port, or an error of the routes.
    package func run() async throws {
        var loopCount = 0
        for loop in group.makeIterator() {
            try await channels.prepare(loop)
            loopCount += 1
        }
        let shares = DescriptorShares(
            loopCount: loopCount, filesPerLoopMax: limits.filesPerLoopMax)
        let connectionsMax = min(limits.connectionsMax, shares.connectionsMax)
        let channel = try await listen(
            connectionsMax: connectionsMax,
            // 16 of the reserved descriptors, or more if descriptors are left.
            refusedMax: max(16, min(1024, shares.connectionsMax - connectionsMax)))
        if let address = channel.localAddress { onListening(address) }

        try? await gracefulShutdown()
        onStopping()
        await announceStop(channel)
        logger.info("shutting down after the running requests have finished")
        // The client of an idle connection reconnects at once, and must not reach this server again.
        try? await channel.close()
        await channels.shutDown(within: limits.stopTimeout)
    }

    private func listen(connectionsMax: Int, refusedMax: Int) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.maxMessagesPerRead, value: AcceptLimit.acceptedTogetherMax)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { [channels] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        channels.acceptLimit(
                            connectionsMax: connectionsMax, refusedMax: refusedMax))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [channels] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channels.addHandlers(to: channel, connectionsMax: connectionsMax)
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
    private func announceStop(_ channel: any Channel) async {
        shutdown.begin()
        guard limits.stopDelay > .zero else { return }
        channels.endConnectionsAfterResponse()
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
}
