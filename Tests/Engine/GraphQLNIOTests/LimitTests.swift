import EchoServer
import Glibc
import Logging
import NIOCore
import NIOEmbedded
import SocketClient
import Synchronization
import Telemetry
import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct LimitTests {
    @Test func aBodyWithATooLargeLengthIsRefused() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(String(repeating: " ", count: 101)))
                let response = try client.response()
                #expect(response.status == 413)
                #expect(response.body.contains(#""code":"PAYLOAD_TOO_LARGE""#))
                #expect(response.headers["connection"] == "close")
                #expect(client.isClosed())
            }
        }
    }

    @Test func aTooLargeChunkedBodyIsRefused() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "transfer-encoding: chunked\r\n\r\n")
                for _ in 1...11 { try client.send("a\r\n0123456789\r\n") }
                #expect(try client.response().status == 413)
            }
        }
    }

    @Test func aBodyOfExactlyTheLimitIsAccepted() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let query = #"{"query":"{a}"}"#
            let response = try await server.post(
                query + String(repeating: " ", count: 100 - query.utf8.count))
            #expect(response.status == 200)
        }
    }

    @Test func aRefusedClientReceivesTheErrorWhileItIsStillSending() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let status = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(String(repeating: " ", count: 200_000)))
                return try client.response().status
            }
            #expect(status == 413)
        }
    }

    @Test func aTooLargeBodyIsRefusedBefore100Continue() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let response = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 99999999999999999999\r\n"
                    + "expect: 100-continue\r\n\r\n")
            #expect(response.status == 413)
        }
    }

    @Test func aTooLargeChunkedBodyIsRefusedAfter100Continue() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n")
                #expect(try client.response().status == 100)
                for _ in 1...11 { try client.send("a\r\n0123456789\r\n") }
                #expect(try client.response().status == 413)
                #expect(try client.receive().isEmpty)
            }
        }
    }

    @Test func unknownExpectationsAreRefused() async throws {
        try await TestServer.run { server in
            let response = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\nexpect: tea\r\n\r\n")
            #expect(response.status == 417)
        }
    }

    @Test(arguments: [
        "x: \(String(repeating: "a", count: 40_000))\r\n",
        (1...101).map { "x-\($0): a\r\n" }.joined(),
        (1...3).map { "x-\($0): \(String(repeating: "a", count: 30_000))\r\n" }.joined(),
    ])
    func tooLargeHeadersAreRefused(headers: String) async throws {
        try await TestServer.run { server in
            let response = try await server.get("/text", headers: headers)
            #expect(response.status == 431)
            #expect(response.body.contains("HEADERS_TOO_LARGE"))
        }
    }

    @Test func aTooLongURLIsRefused() async throws {
        try await TestServer.run { server in
            let response = try await server.get("/\(String(repeating: "a", count: 40_000))")
            #expect(response.status == 414)
            #expect(response.body.contains("URI_TOO_LONG"))
            #expect(response.headers["connection"] == "close")
        }
    }

    /// The last one is the connection preface of HTTP/2.
    @Test(arguments: [
        "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.2\r\nhost: a\r\n\r\n",
        "GET / HTTP/0.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func unsupportedVersionsOfHTTPAreRefused(request: String) async throws {
        try await TestServer.run { server in
            let response = try await server.send(request)
            #expect(response.status == 505)
            #expect(response.body.contains("HTTP_VERSION_NOT_SUPPORTED"))
        }
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET / http/9.9\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        "GET /graphql HTTP/1.1\r\nhost : a\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
        "GET /text HTTP/1.1\r\n\r\n",
        "GET /text HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /graphql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n",
    ])
    func malformedRequestsAreRefused(request: String) async throws {
        try await TestServer.run { server in
            let response = try await server.send(request)
            #expect(response.status == 400)
        }
    }

    @Test func aConnectionWithoutARequestIsClosed() async throws {
        var limits = HTTPLimits.quick
        limits.firstHeadTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET / HT")
                #expect(client.isClosed())
            }
        }
    }

    @Test func anIdleConnectionIsClosed() async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                #expect(try client.response().status == 200)
                #expect(client.isClosed())
            }
        }
    }

    @Test func aSlowBodyIsRefused() async throws {
        var limits = HTTPLimits.quick
        limits.bodyTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\n{")
                #expect(try client.response().status == 408)
                #expect(client.isClosed())
            }
        }
    }

    @Test func aRequestThatTakesTooLongIsCancelled() async throws {
        var limits = HTTPLimits.quick
        limits.responseTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            let response = try await server.send(.held("limit-1"))
            #expect(response.status == 200)
            // Other requests are cancelled because their client disconnected. This client is still connected.
            #expect(response.body == #"{"data":{"hasTimedOut":true}}"#)
        }
    }

    /// Each request records the number of unread bytes when it runs. If a request ran before the client has read the
    /// earlier responses, this number would not be 0.
    @Test func noRequestRunsWhileEarlierResponsesAreUnread() async throws {
        let unread = UnreadBytes()
        let unreadAtStart = Mutex<[Int]>([])
        try await TestServer.run(
            unread: unread,
            routes: { _ in
                [
                    Route(.GET, "/large") { _ in
                        unreadAtStart.withLock { $0.append(unread.total) }
                        return HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: 4 << 20))
                    }
                ]
            }
        ) { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    String(repeating: "GET /large HTTP/1.1\r\nhost: test\r\n\r\n", count: 20))
                return client
            }
            // The responses are larger together than the buffers of the system.
            try await waitUntil("a response waits for the client") { unread.total > 0 }
            let count = try await onThread {
                var count = 0
                for _ in 1...20 { count += try client.response().body.utf8.count }
                return count
            }
            #expect(count == 20 * (4 << 20))
        }
        #expect(unreadAtStart.withLock { $0 } == Array(repeating: 0, count: 20))
    }

    @Test func aConnectionThatDoesNotReadItsResponseIsClosed() async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(100)
        let metrics = Metrics()
        try await TestServer.run(limits: limits, metrics: metrics) { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(String(repeating: .post(#"{"query":"{huge}"}"#), count: 20))
                _ = try client.receive(1)
                return client
            }
            try await waitUntil("the connection is closed") {
                await metrics.text().contains("\nbookplate_http_connections 0\n")
            }
            let count = try await onThread {
                var count = 0
                while let bytes = try? client.receive(1 << 20), !bytes.isEmpty {
                    count += bytes.count
                }
                return count
            }
            #expect(count < 20 * (4 << 20))
        }
    }

    /// Together, connections, the files of their responses, and the files that are kept open leave descriptors for the rest.
    @Test(arguments: [
        (descriptors: 1 << 20, loops: 2, files: 512, connections: 523_676),
        (4096, 2, 487, 1461), (1024, 2, 103, 309), (256, 2, 16, 48), (4096, 64, 15, 1468),
    ])
    func descriptorsAreShared(
        descriptors: Int, loops: Int, files: Int, connections: Int
    ) {
        let shares = DescriptorShares(
            descriptorsMax: descriptors, loopCount: loops, filesPerLoopMax: 512)
        #expect(shares.filesPerLoopMax == files)
        #expect(shares.connectionsMax == connections)
        #expect(2 * connections + loops * files <= descriptors - min(200, descriptors / 2))
        let withoutFiles = DescriptorShares(
            descriptorsMax: descriptors, loopCount: loops, filesPerLoopMax: 0)
        #expect(withoutFiles.connectionsMax == descriptors - min(200, descriptors / 2))
    }

    /// The value of `autoRead`, which an embedded channel stores without applying it.
    private func isAccepting(_ channel: EmbeddedChannel) -> Bool {
        let set = channel.options.first { $0.option is ChannelOptions.Types.AutoReadOption }
        return set?.value as? Bool ?? true
    }

    @Test func acceptingPausesAfterAFailure() throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            AcceptLimit(connectionsMax: 10, refusedMax: 16, Metrics(), Logger(label: "test")))
        #expect(isAccepting(channel))
        channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
        #expect(isAccepting(channel))
        channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
        #expect(!isAccepting(channel))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(isAccepting(channel))
    }

    @Test func acceptingPausesWhileManyConnectionsAreRefused() throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            AcceptLimit(connectionsMax: 10, refusedMax: 16, Metrics(), Logger(label: "test")))
        let accepted = (0..<26).map { _ in EmbeddedChannel(loop: channel.embeddedEventLoop) }
        for (number, child) in accepted.enumerated() {
            #expect(isAccepting(channel), "after \(number)")
            channel.pipeline.fireChannelRead(child as any Channel)
        }
        #expect(!isAccepting(channel))
        _ = try accepted[3].finish(acceptAlreadyClosed: true)
        channel.embeddedEventLoop.run()
        #expect(isAccepting(channel))
    }

    @Test func connectionsAboveTheLimitAreRefused() async throws {
        var limits = HTTPLimits.quick
        limits.connectionsMax = 2
        let metrics = Metrics()
        try await TestServer.run(limits: limits, metrics: metrics) { server in
            try await onThread {
                let clients = try (1...2).map { _ in try RawClient(port: server.port) }
                for client in clients {
                    try client.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                    #expect(try client.response().status == 200)
                }
                let third = try RawClient(port: server.port)
                try third.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                let response = try third.response()
                #expect(response.status == 503)
                #expect(
                    response.body.contains(#""code":"SERVICE_UNAVAILABLE","retryAfter":1"#))
                #expect(response.headers["retry-after"] == "1")
                #expect(third.isClosed())
                withExtendedLifetime(clients) {}
            }
            #expect(await metrics.text().contains("\nbookplate_http_connections_max 2\n"))
        }
    }
}
