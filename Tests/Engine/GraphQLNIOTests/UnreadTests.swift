import EchoServer
import EventLoops
import GraphQLServing
import Logging
import NIOCore
import NIOEmbedded
import SocketClient
import Telemetry
import TestBasics
import Testing

@testable import GraphQLNIO

/// Responses that clients do not read. Their bytes are counted and limited, and slow readers are disconnected when
/// memory is short.
@Suite(.timeLimit(.minutes(1))) struct UnreadTests {
    /// More bytes than the system buffers for a client.
    private static let largeBytes = 32 << 20

    private static let routes: @Sendable (any EventLoop) -> [Route] = { _ in
        [
            Route(.GET, "/large") { _ in
                HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: largeBytes))
            }
        ]
    }

    private static let getLarge = "GET /large HTTP/1.1\r\nhost: test\r\n\r\n"
    private static let loopback = ClientAddress("127.0.0.1")

    private static func unread(
        addressMax: Int, processMax: Int = 1 << 30, responseMax: Int = 1
    ) -> UnreadBytes {
        var limits = UnreadBytes.Limits()
        limits.addressMax = addressMax
        limits.processMax = processMax
        limits.responseMax = responseMax
        return UnreadBytes(limits)
    }

    /// Returns a client that has requested a large response and has read one byte of it.
    private static func nonReader(_ port: Int) async throws -> RawClient {
        try await onThread {
            let client = try RawClient(port: port)
            try client.send(getLarge)
            _ = try client.receive(1)
            return client
        }
    }

    // MARK: Counting

    @Test func bytesAreCountedByAddressAndInTotal() throws {
        let unread = Self.unread(addressMax: 100, processMax: 150)
        let addresses = [
            ClientAddress("192.0.2.1"), ClientAddress("192.0.2.2"), ClientAddress("2001:db8::1"),
            ClientAddress("2001:db8::ffff"),
        ]
        #expect(unread.reserve(60, for: addresses[0]) == nil)
        #expect(unread.reserve(41, for: addresses[0])?.limit == .address)
        #expect(unread.reserve(40, for: addresses[0]) == nil)
        #expect(unread.refusal(for: addresses[0])?.limit == .address)
        #expect(unread.refusal(for: addresses[1]) == nil)
        #expect(unread.reserve(50, for: addresses[1]) == nil)
        #expect(unread.refusal(for: nil)?.limit == .process)
        #expect(unread.total == 150)
        unread.add(-100, for: addresses[0])
        // A 64-bit IPv6 network counts as one client.
        #expect(unread.reserve(60, for: addresses[2]) == nil)
        #expect(unread.reserve(41, for: addresses[3])?.limit == .process)
        unread.add(-50, for: addresses[1])
        #expect(unread.reserve(41, for: addresses[3])?.limit == .address)
        unread.add(-60, for: addresses[3])
        #expect(unread.total == 0)
        #expect((unread.addressRefusalCount, unread.processRefusalCount) == (3, 2))
    }

    /// The server does not execute a request whose response it could not send.
    @Test func requestsRunOnlyIfTheLargestResponseWouldFit() throws {
        let unread = Self.unread(addressMax: 100, processMax: 200, responseMax: 30)
        let (first, second) = (ClientAddress("192.0.2.1"), ClientAddress("192.0.2.2"))
        #expect(unread.refusal(for: first) == nil)
        unread.add(70, for: first)
        #expect(unread.refusal(for: first) == nil)
        unread.add(1, for: first)
        #expect(unread.refusal(for: first)?.limit == .address)
        #expect(unread.reserve(29, for: first) == nil)
        unread.add(71, for: nil)
        #expect(unread.refusal(for: second)?.limit == .process)
    }

    @Test func aConnectionCountsUnreadBytes() throws {
        let unread = Self.unread(addressMax: 10 << 20)
        let connection = try Connection(unread)
        try connection.get()
        let total = unread.total
        #expect(total > 1 << 20 && total < (1 << 20) + 1000)
        connection.client.read(500_000)
        connection.context.sweep(now: .now())
        #expect(unread.total == total - 500_000)
        // The rest is less than the write watermark of the channel, which is therefore writable.
        connection.client.read(total - 500_000 - 10_000)
        #expect(unread.total == 0)
    }

    @Test func aClosedConnectionCountsNoBytes() throws {
        let unread = Self.unread(addressMax: 10 << 20)
        let connection = try Connection(unread)
        try connection.get()
        #expect(unread.total > 1 << 20)
        _ = try? connection.channel.finish(acceptAlreadyClosed: true)
        #expect(unread.total == 0)
    }

    // MARK: Limits

    @Test func aLargeResponseIsRefusedWhileEarlierOnesAreUnread() async throws {
        let unread = Self.unread(addressMax: 40 << 20)
        try await TestServer.run(unread: unread, routes: Self.routes) { server in
            let slow = try await Self.nonReader(server.port)
            try await waitUntil("its response is counted") { unread.total > 8 << 20 }
            let refused = try await server.send(Self.getLarge)
            #expect(refused.status == 429)
            #expect(refused.headers["retry-after"] == "5")
            #expect(
                refused.body.contains(#""code":"RATE_LIMITED","limit":"unreadBytesPerAddressMax""#))
            // Small responses are not counted.
            #expect(try await server.post(#"{"query":"{a}"}"#).status == 200)
            let count = try await onThread { try slow.readBody() }
            #expect(count == Self.largeBytes)
            try await waitUntil("nothing is counted") { unread.total == 0 }
            #expect(try await server.send(Self.getLarge).body.utf8.count == Self.largeBytes)
        }
    }

    @Test func unreadBytesOfManyClientsStayWithinTheLimitOfTheProcess() async throws {
        let unread = Self.unread(addressMax: 1 << 30, processMax: 80 << 20)
        try await TestServer.run(unread: unread, routes: Self.routes) { server in
            var statuses: [Int] = []
            var clients: [RawClient] = []
            for _ in 0..<8 {
                let client = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(Self.getLarge)
                    return client
                }
                clients.append(client)
                statuses.append(try await onThread { try client.status() })
                #expect(unread.total <= 80 << 20)
            }
            // After a refusal the system may buffer more of the earlier responses, so that another one fits.
            #expect(statuses.first == 200)
            #expect(Set(statuses) == [200, 503])
            #expect(unread.processRefusalCount > 0)
        }
    }

    /// The test covers every kind of HTTP request.
    @Test(arguments: [true, false])
    func requestsAreRefusedWhileALimitIsReached(isOfAddress: Bool) async throws {
        let unread = Self.unread(addressMax: 1000, processMax: isOfAddress ? 1 << 30 : 1000)
        let status = isOfAddress ? 429 : 503
        let code = isOfAddress ? #""code":"RATE_LIMITED""# : #""code":"SERVICE_UNAVAILABLE""#
        try await TestServer.run(batchRequestsMax: 2, unread: unread) { server in
            let requests = [
                String.post(#"{"query":"{a}"}"#), .post(#"[{"query":"{a}"}]"#),
                .post(
                    #"{"query":"subscription{three}"}"#,
                    headers: "content-type: application/json\r\naccept: text/event-stream\r\n"),
                "GET /graphql?query=%7Ba%7D HTTP/1.1\r\nhost: test\r\n\r\n",
            ]
            let client = isOfAddress ? Self.loopback : nil
            unread.add(1000, for: client)
            for request in requests {
                let response = try await server.send(request)
                #expect(response.status == status)
                #expect(response.headers["retry-after"] == "5")
                #expect(response.body.contains(code))
            }
            // Health checks still work.
            #expect(try await server.get("/text").status == 200)
            unread.add(-1000, for: client)
            for request in [requests[0], requests[1], requests[3]] {
                #expect(try await server.send(request).status == 200)
            }
        }
    }

    @Test func operationsOnASocketAreRefusedWhileALimitIsReached() async throws {
        let unread = Self.unread(addressMax: 1000)
        try await TestServer.run(unread: unread) { server in
            let client = try await onThread {
                let client = try SocketClient(port: server.port)
                try client.initialize()
                return client
            }
            unread.add(1000, for: Self.loopback)
            try await onThread {
                try client.send(
                    #"{"id":"a","type":"subscribe","payload":{"query":"{a}"}}"#)
                let message = try client.message()
                #expect(message.hasPrefix(#"{"id":"a","type":"error","payload":[{"#))
                #expect(message.contains(#""code":"RATE_LIMITED""#))
                #expect(message.contains(#""retryAfter":5"#))
            }
            unread.add(-1000, for: Self.loopback)
            try await onThread {
                try client.send(
                    #"{"id":"a","type":"subscribe","payload":{"query":"{a}"}}"#)
                #expect(try client.message().hasPrefix(#"{"id":"a","type":"next""#))
            }
        }
    }

    /// Several operations on one socket complete together. The pending responses stay within the limit, and the other
    /// operations end with an error.
    @Test func pendingResponsesOfASocketAreCounted() async throws {
        let unread = Self.unread(addressMax: 18 << 20)
        try await TestServer.run(unread: unread) { server in
            let count = EchoService.togetherCount
            let client = try await onThread {
                let client = try SocketClient(port: server.port, receiveBufferBytes: 4096)
                try client.initialize()
                for id in 0..<count {
                    try client.send(
                        #"{"id":"\#(id)","type":"subscribe","payload":{"query":"{together}"}}"#)
                }
                return client
            }
            try await waitUntil("responses are refused") { unread.addressRefusalCount > 0 }
            #expect(unread.total <= 18 << 20)
            let (sent, refused) = try await onThread {
                var (sent, refused) = (0, 0)
                while sent + refused < count {
                    let message = try client.message()
                    if message.hasSuffix(#""type":"complete"}"#) { sent += 1 }
                    if message.contains("RATE_LIMITED") { refused += 1 }
                }
                return (sent, refused)
            }
            #expect(sent >= 3 && refused >= 1)
            try await waitUntil("nothing is counted") { unread.total == 0 }
        }
    }

    @Test(arguments: ["text/event-stream", #"multipart/mixed;subscriptionSpec="1.0""#])
    func aStreamEndsIfItsNextPartExceedsTheLimit(accept: String) async throws {
        let unread = Self.unread(addressMax: 1 << 20)
        try await TestServer.run(unread: unread) { server in
            let text = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .post(
                        #"{"query":"subscription{torrent}"}"#,
                        headers: "content-type: application/json\r\naccept: \(accept)\r\n"))
                var text = ""
                while !text.hasSuffix("0\r\n\r\n") {
                    let bytes = try client.receive()
                    if bytes.isEmpty { break }
                    text += String(decoding: bytes, as: UTF8.self)
                }
                return text
            }
            #expect(text.contains(#""code":"RATE_LIMITED""#))
            #expect(text.hasSuffix("0\r\n\r\n"))
            try await server.waitUntilIdle()
        }
    }

    @Test func anArrayOfRequestsHasOneLimitForItsResponse() async throws {
        try await TestServer.run(batchRequestsMax: 4, responseBytesMax: 5 << 20) { server in
            let response = try await server.post(
                #"[{"query":"{huge}"},{"query":"{huge}"},{"query":"{a}"}]"#)
            #expect(response.status == 200)
            #expect(response.body.utf8.count < 5 << 20)
            #expect(response.body.contains(#""code":"RESPONSE_TOO_LARGE""#))
            #expect(response.body.hasSuffix(",query={a}]"))
        }
    }

    /// The responses to earlier requests of an array are counted while later requests run.
    @Test func anArrayOfRequestsIsRefusedIfItsResponsesExceedTheLimit() async throws {
        let unread = Self.unread(addressMax: 6 << 20)
        try await TestServer.run(batchRequestsMax: 4, unread: unread) { server in
            let response = try await server.post(#"[{"query":"{huge}"},{"query":"{huge}"}]"#)
            #expect(response.status == 429)
            #expect(unread.total == 0)
        }
    }

    // MARK: Short memory

    /// 1 MiB of 1.5 MiB is used. A third is free, so a client has a third of the time.
    @Test func clientsHaveLessTimeWhileMemoryIsShort() throws {
        let unread = Self.unread(addressMax: 3 << 19)
        let connection = try Connection(unread)
        let patience = connection.context.limits.shortMemoryPatience
        let start = NIODeadline.now()
        func after(_ thousandths: Int64) -> NIODeadline {
            start + .nanoseconds(patience.nanoseconds * thousandths / 1000)
        }
        try connection.get()
        connection.context.sweep(now: after(0))
        connection.context.sweep(now: after(300))
        #expect(!connection.client.isClosed)
        connection.client.read(connection.context.limits.bytesReadMin)
        connection.context.sweep(now: after(320))
        // One byte less does not count as progress.
        connection.client.read(connection.context.limits.bytesReadMin - 1)
        connection.context.sweep(now: after(600))
        #expect(!connection.client.isClosed)
        connection.context.sweep(now: after(800))
        #expect(connection.client.isClosed)
        #expect(unread.total == 0)
        #expect(unread.closedReaderCount == 1)
    }

    @Test func slowReadersStayConnectedWhileMemoryIsNotShort() throws {
        let unread = Self.unread(addressMax: 3 << 20)
        let connection = try Connection(unread)
        try connection.get()
        for seconds in stride(from: Int64(0), through: 60, by: 10) {
            connection.context.sweep(now: .now() + .seconds(seconds))
        }
        #expect(!connection.client.isClosed)
    }

    /// Slow readers are disconnected in the order of their unread bytes, and only until memory is not short.
    @Test func slowReadersWithTheMostUnreadBytesAreClosedFirst() throws {
        let unread = Self.unread(addressMax: 1 << 30, processMax: 9 << 19)
        let context = Connection.makeContext(unread)
        let connections = try (0..<3).map { _ in try Connection(unread, context) }
        for connection in connections { try connection.get() }
        connections[1].client.read(300_000)
        connections[2].client.read(100_000)
        context.sweep(now: .now())
        context.sweep(now: .now() + .seconds(60))
        #expect(connections.map(\.client.isClosed) == [true, false, false])
        context.sweep(now: .now() + .seconds(61))
        #expect(connections.map(\.client.isClosed) == [true, false, false])
    }

    /// The test covers HTTP responses, streams, and sockets. An idle client stays connected.
    @Test(arguments: ["http", "text/event-stream", "socket"])
    func slowReadersOfEveryKindAreClosedWhenMemoryIsShort(kind: String) async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .hours(1)
        limits.slowReaderTimeout = .hours(1)
        limits.shortMemoryPatience = .milliseconds(1)
        let unread = Self.unread(addressMax: 33 << 20)
        try await TestServer.run(limits: limits, unread: unread, routes: Self.routes) { server in
            let idle = try await onThread { try RawClient(port: server.port) }
            let slow: [any Sendable] = try await onThread {
                switch kind {
                case "http":
                    let client = try RawClient(port: server.port)
                    try client.send(Self.getLarge)
                    _ = try client.receive(1)
                    return [client]
                case "socket":
                    return try (0..<3).map { _ in
                        let client = try SocketClient(port: server.port, receiveBufferBytes: 4096)
                        try client.initialize()
                        try client.send(
                            #"{"id":"a","type":"subscribe","payload":{"query":"subscription{torrent}"}}"#
                        )
                        return client
                    }
                default:
                    return try (0..<3).map { _ in
                        let client = try RawClient(port: server.port)
                        try client.send(
                            .post(
                                #"{"query":"subscription{torrent}"}"#,
                                headers: "accept: \(kind)\r\ncontent-type: application/json\r\n"))
                        _ = try client.receive(16)
                        return client
                    }
                }
            }
            try await waitUntil("memory is not short") {
                unread.closedReaderCount > 0 && unread.total <= 33 << 19
            }
            withExtendedLifetime(slow) {}
            let status = try await onThread {
                try idle.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                return try idle.response().status
            }
            #expect(status == 200)
        }
    }

    // MARK: Embedded connections

    /// A connection on an embedded channel, whose client reads as many bytes as the test requests.
    private final class Connection {
        let context: LoopContext
        let channel: EmbeddedChannel
        let client = Client()

        static func makeContext(_ unread: UnreadBytes) -> LoopContext {
            let loop = EmbeddedEventLoop()
            return LoopContext(
                EventLoopTaskExecutor(loop),
                routes: RouteTable([
                    Route(
                        .GET, "/large",
                        respondSynchronously: { _ in
                            HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: 1 << 20))
                        }, respond: { _ in HTTPResponse(.ok) })
                ]), limits: HTTPLimits(), proxies: TrustedProxies(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                metrics: Metrics(), gauges: LiveGauges(), unread: unread)
        }

        init(_ unread: UnreadBytes, _ given: LoopContext? = nil) throws {
            context = given ?? Self.makeContext(unread)
            guard let loop = context.loop as? EmbeddedEventLoop else {
                throw RawClient.Failure(description: "no embedded loop")
            }
            channel = EmbeddedChannel(loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try channel.pipeline.syncOperations.addHandlers([client, ConnectionHandler(context)])
        }

        func get() throws { try channel.writeInbound(ByteBuffer(string: getLarge)) }
    }

    /// Replaces the socket. The simulated kernel accepts only the bytes that the client reads.
    private final class Client: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        typealias OutboundOut = ByteBuffer

        private var unread = ByteBuffer()
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
            promise?.succeed()
            setWritable()
        }

        func flush(context: ChannelHandlerContext) {}

        func read(_ count: Int) {
            unread.moveReaderIndex(forwardBy: count)
            context?.flush()
            context?.write(wrapOutboundOut(unread), promise: nil)
            setWritable()
        }

        private func setWritable() {
            guard let channel = context?.channel as? EmbeddedChannel else { return }
            let isWritable = unread.readableBytes < (channel.isWritable ? 64 << 10 : 32 << 10)
            if isWritable == channel.isWritable { return }
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
        }

        func close(
            context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
        ) {
            isClosed = true
            context.close(mode: mode, promise: promise)
        }
    }
}

extension RawClient {
    /// Reads a response whose first byte was read before, and returns the length of its body.
    fileprivate func readBody() throws -> Int {
        while try receive(1) != [13] || receive(3) != [10, 13, 10] {}
        var count = 0
        while count < 32 << 20 {
            let bytes = try receive(1 << 20)
            if bytes.isEmpty { break }
            count += bytes.count
        }
        return count
    }

    /// Reads the status of the next response, and nothing after it.
    fileprivate func status() throws -> Int {
        let line = String(decoding: try receive(12), as: UTF8.self)
        return Int(line.suffix(3)) ?? 0
    }
}
