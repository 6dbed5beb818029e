import EventLoops
import Logging
import NIOCore
import NIOEmbedded
import Telemetry
import Testing

@testable import Server

/// A connection without a socket, where what the channel does can be chosen to the call.
@Suite struct EmbeddedConnectionTests {
    /// A connection that writes to `transport`.
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

    /// What waits for a client that does not read takes as much memory as it is counted for, and not a page for each.
    @Test func whatWaitsIsAsLargeAsItIsCounted() throws {
        let transport = Transport()
        let channel = try connect(transport, [Route(.GET, "/a") { _ in HTTPResponse(.ok) }])
        let count = 5000
        try channel.writeInbound(
            ByteBuffer(
                string: String(repeating: "OPTIONS /a HTTP/1.1\r\nhost: a\r\n\r\n", count: count)))
        let answers = transport.written.filter { $0.readableBytes > 0 }
        #expect(answers.count == count)
        let bytes = answers.reduce(0) { $0 + $1.readableBytes }
        // Memory comes in powers of two.
        #expect(answers.reduce(0) { $0 + $1.storageCapacity } < 2 * bytes)
    }

    /// A channel keeps a buffer until its last byte is sent, so a large response is written in several.
    @Test func aLargeResponseIsFreedWhileItIsRead() throws {
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

    @Test func answersNothingMoreOnceItBrokeInAnAnswer() throws {
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

    /// A socket reads on, though the channel asked to when the last answer filled it.
    @Test func aReadThatWasHeldIsNotLostInAnUpgrade() throws {
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

    @Test func noSocketBeginsWhereTheAnswerToItsHandshakeFindsNobody() throws {
        let transport = Transport { context, _ in context.close(promise: nil) }
        let gauges = LiveGauges()
        let channel = try connect(transport, socketRoutes, gauges: gauges)
        try channel.writeInbound(handshake)
        #expect(transport.written.count == 1)
        #expect(gauges.sockets == 0)
    }

    /// A refused client may send on for as long as it likes to read why: nothing of that is kept.
    @Test func keepsNothingThatComesBehindItsLastAnswer() throws {
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
        // It reads on: what is left unread would make the end of the connection a reset, and the answer be lost.
        #expect(transport.readCount == 100)
    }

    /// Each time that a good part of it was read, and not where it was a byte less.
    @Test func aLastAnswerIsSentForAsLongAsItIsRead() throws {
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
            ByteBuffer(string: "GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
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

    private var socketRoutes: [Route] {
        standardRoutes(
            loop: EmbeddedEventLoop(), service: EchoService(), bodyBytesMax: 100,
            batchRequestsMax: 0, explorer: nil, schemaText: nil, socketOrigins: AllowedOrigins([]),
            readiness: { .ready })
    }

    private let handshake = ByteBuffer(
        string:
            "GET /graphql HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
            + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n")

    /// The end of the pipeline where the socket would be: keeps what is written, sends nothing.
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

    /// In place of the socket of a client that reads as much as it is told.
    private final class SlowClient: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        typealias OutboundOut = ByteBuffer

        private var unread = ByteBuffer()
        private var promises: [EventLoopPromise<Void>] = []
        private var context: ChannelHandlerContext?
        private(set) var isClosed = false

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        /// The channel counts what was written to it and not flushed.
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
