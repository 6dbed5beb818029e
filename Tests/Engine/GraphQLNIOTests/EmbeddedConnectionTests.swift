import EchoServer
import EventLoops
import Logging
import NIOCore
import NIOEmbedded
import Telemetry
import Testing

@testable import GraphQLNIO

/// Connections on an embedded channel, so that each test controls exactly what the channel does.
@Suite struct EmbeddedConnectionTests {
    /// Creates a connection that writes to `transport`.
    private func connect(
        _ transport: any ChannelHandler, _ routes: [Route], gauges: LiveGauges = LiveGauges()
    ) throws -> EmbeddedChannel {
        let loop = EmbeddedEventLoop()
        let context = LoopContext(
            EventLoopTaskExecutor(loop), routes: RouteTable(routes), limits: HTTPLimits(),
            proxies: TrustedProxies(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, metrics: Metrics(),
            gauges: gauges)
        let channel = EmbeddedChannel(loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandlers([transport, ConnectionHandler(context)])
        return channel
    }

    /// Pending responses take about as much memory as is counted for them, and not a page each.
    @Test func pendingResponsesUseLittleMoreMemoryThanIsCounted() throws {
        let transport = Transport()
        let channel = try connect(transport, [Route(.GET, "/a") { _ in HTTPResponse(.ok) }])
        let count = 5000
        try channel.writeInbound(
            ByteBuffer(
                string: String(repeating: "OPTIONS /a HTTP/1.1\r\nhost: a\r\n\r\n", count: count)))
        let responses = transport.written.filter { $0.readableBytes > 0 }
        #expect(responses.count == count)
        let bytes = responses.reduce(0) { $0 + $1.readableBytes }
        // Capacities are powers of two.
        #expect(responses.reduce(0) { $0 + $1.storageCapacity } < 2 * bytes)
    }

    /// A channel keeps a buffer until its last byte is sent, so a large response is written in several buffers.
    @Test func aLargeResponseIsReleasedWhileItIsRead() throws {
        let transport = Transport()
        let route = Route(
            .GET, "/large",
            respondSynchronously: { _ in
                HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: 1_000_000))
            }, respond: { _ in HTTPResponse(.ok) })
        let channel = try connect(transport, [route])
        try channel.writeInbound(ByteBuffer(string: "GET /large HTTP/1.1\r\nhost: a\r\n\r\n"))
        #expect(transport.written.allSatisfy { $0.storageCapacity <= 64 << 10 })
        let bytes = transport.written.reduce(0) { $0 + $1.readableBytes }
        #expect(bytes > 1_000_000)
    }

    @Test func noRequestRunsAfterTheConnectionIsLostInAResponse() throws {
        let transport = Transport { context, _ in context.close(promise: nil) }
        var count = 0
        let route = Route(
            .GET, "/a",
            respondSynchronously: { _ in
                count += 1
                return HTTPResponse(.ok)
            },
            respond: { _ in HTTPResponse(.ok) })
        let channel = try connect(transport, [route])
        try channel.writeInbound(
            ByteBuffer(string: String(repeating: "GET /a HTTP/1.1\r\nhost: a\r\n\r\n", count: 3)))
        #expect(count == 1)
    }

    /// Some clients, such as gql 4, compare the names of response headers by case.
    @Test(arguments: [
        "GET /a HTTP/1.1\r\nhost: a\r\norigin: https://b\r\nconnection: close\r\n\r\n",
        "PUT /a HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /graphql HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n",
    ])
    func headerNamesAreCapitalized(request: String) throws {
        let transport = Transport()
        let route = Route(
            .GET, "/a", respondSynchronously: { _ in HTTPResponse(.ok) },
            respond: { _ in HTTPResponse(.ok) })
        let channel = try connect(transport, socketRoutes + [route])
        try channel.writeInbound(ByteBuffer(string: request))
        let head = try #require(transport.written.first.map { String(buffer: $0) })
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let names = lines.dropFirst().prefix { !$0.isEmpty }.compactMap {
            $0.split(separator: ":").first
        }
        #expect(!names.isEmpty)
        for name in names {
            #expect(
                name.split(separator: "-").allSatisfy { $0.first?.isUppercase == true }, "\(name)")
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// The channel requests a read while the response to the handshake fills it. The read happens after the upgrade.
    @Test func aDeferredReadIsNotLostInAnUpgrade() throws {
        let transport = Transport { context, _ in
            guard let channel = context.channel as? EmbeddedChannel, channel.isWritable else {
                return
            }
            channel.isWritable = false
            context.fireChannelWritabilityChanged()
            channel.read()
        }
        let channel = try connect(transport, socketRoutes)
        try channel.writeInbound(handshake)
        #expect(
            transport.written.first.map { String(buffer: $0).hasPrefix("HTTP/1.1 101 ") } == true)
        #expect(transport.readCount == 1)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func noWebSocketStartsIfTheConnectionIsLostInTheHandshake() throws {
        let transport = Transport { context, _ in context.close(promise: nil) }
        let gauges = LiveGauges()
        let channel = try connect(transport, socketRoutes, gauges: gauges)
        try channel.writeInbound(handshake)
        #expect(transport.written.count == 1)
        #expect(gauges.sockets == 0)
    }

    /// A refused client may continue to send while it reads the error. Its input is dropped.
    @Test func inputAfterTheLastResponseIsDropped() throws {
        let transport = Transport()
        let channel = try connect(transport, [])
        try channel.writeInbound(ByteBuffer(string: "nonsense\r\n\r\n"))
        let handler = try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self)
        for _ in 1...100 {
            try channel.writeInbound(ByteBuffer(repeating: 0x20, count: 64 << 10))
            #expect(handler.input.storageCapacity == 0)
            channel.read()
        }
        #expect(transport.written.filter { $0.readableBytes > 0 }.count == 1)
        // Reading continues: unread input would reset the connection, and the client would lose the response.
        #expect(transport.readCount == 100)
    }

    /// The deadline is extended each time the client has read `bytesReadMin`. One byte less is not enough.
    @Test(arguments: ["", "connection: close\r\n"])
    func aResponseIsSentWhileTheClientReadsIt(headers: String) throws {
        let bytesReadMin = HTTPLimits().bytesReadMin
        let client = SlowClient()
        let channel = try connect(
            client,
            [
                Route(
                    .GET, "/large",
                    respondSynchronously: { _ in
                        HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: 1 << 20))
                    }, respond: { _ in HTTPResponse(.ok) })
            ])
        let handler = try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self)
        try channel.writeInbound(
            ByteBuffer(string: "GET /large HTTP/1.1\r\nhost: a\r\n\(headers)\r\n"))
        handler.deadlinePassed()
        for _ in 1...10 {
            client.read(bytesReadMin)
            handler.deadlinePassed()
            #expect(!client.isClosed)
        }
        client.read(bytesReadMin - 1)
        handler.deadlinePassed()
        #expect(client.isClosed)
    }

    /// A malformed request waits for its turn after a valid one, and is refused in whatever pieces it arrives.
    @Test(arguments: [
        ["GET / HTTP/1.1\r\nhost", " : a\r\n\r\n", "GET / HTTP/1.1\r\n", "host: a\r\n\r\n"],
        ["GET / HTTP/1.1\nhost: a", "\n", "\n"],
        [
            "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n", "5", " \r\n",
            "hello",
        ],
    ])
    func aMalformedRequestIsRefusedAfterTheOneBefore(pieces: [String]) throws {
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let transport = Transport()
        let route = Route(.GET, "/held") { _ in
            for await _ in releases {}
            return HTTPResponse(.ok)
        }
        let channel = try connect(
            transport, [route, Route(.POST, "/a") { _ in HTTPResponse(.ok) }])
        let loop = try #require(channel.eventLoop as? EmbeddedEventLoop)
        try channel.writeInbound(ByteBuffer(string: "GET /held HTTP/1.1\r\nhost: a\r\n\r\n"))
        for piece in pieces { try channel.writeInbound(ByteBuffer(string: piece)) }
        loop.run()
        #expect(transport.written.isEmpty)
        release.finish()
        loop.run()
        let responses = transport.written.map { String(buffer: $0) }.filter { !$0.isEmpty }
        try #require(responses.count == 2)
        #expect(responses[0].hasPrefix("HTTP/1.1 200 "))
        #expect(responses[1].hasPrefix("HTTP/1.1 400 "))
        #expect(responses[1].contains("\r\nConnection: close\r\n"))
        #expect(responses[1].contains(#""code":"BAD_REQUEST""#))
    }

    private var socketRoutes: [Route] {
        let loop = EmbeddedEventLoop()
        return GraphQLEndpoint(
            service: EchoService(on: loop), loop: loop, bodyBytesMax: 100, batchRequestsMax: 0,
            multipartBytesMax: 100, socketOrigins: AllowedOrigins([]), responseBytesMax: .max,
            unread: UnreadBytes()
        ).routes
    }

    private let handshake = ByteBuffer(
        string:
            "GET /graphql HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
            + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n")

    /// Replaces the socket at the end of the pipeline. It stores written bytes and sends nothing.
    private final class Transport: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        private(set) var written: [ByteBuffer] = []
        private(set) var readCount = 0
        private let onWrite: (ChannelHandlerContext, ByteBuffer) -> Void

        init(onWrite: @escaping (ChannelHandlerContext, ByteBuffer) -> Void = { _, _ in }) {
            self.onWrite = onWrite
        }

        func write(
            context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
        ) {
            guard case .byteBuffer(let bytes) = unwrapOutboundIn(data) else { return }
            written.append(bytes)
            promise?.succeed()
            onWrite(context, bytes)
        }

        func flush(context: ChannelHandlerContext) {}

        func read(context: ChannelHandlerContext) {
            readCount += 1
            context.read()
        }
    }

    /// Replaces the socket of a client that reads as many bytes as the test requests.
    private final class SlowClient: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        typealias OutboundOut = ByteBuffer

        private var unread = ByteBuffer()
        private var promises: [EventLoopPromise<Void>] = []
        private var context: ChannelHandlerContext?
        private(set) var isClosed = false

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        /// The channel counts bytes that were written and not flushed.
        func write(
            context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
        ) {
            guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else { return }
            context.write(wrapOutboundOut(bytes), promise: nil)
            unread.writeBuffer(&bytes)
            if let promise { promises.append(promise) }
        }

        func flush(context: ChannelHandlerContext) {}

        func read(_ count: Int) {
            unread.moveReaderIndex(forwardBy: count)
            context?.flush()
            context?.write(wrapOutboundOut(unread), promise: nil)
        }

        func close(
            context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
        ) {
            isClosed = true
            let promises = self.promises
            self.promises = []
            for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
            context.close(mode: mode, promise: promise)
        }
    }
}
