import EchoServer
import NIOCore
import SocketClient
import Telemetry
import TestBasics
import Testing

@testable import GraphQLNIO

/// Clients that do not read the last response of a connection. They cannot keep the connection or the server open
/// beyond its time limits. If they could, these tests would exceed their own time limit.
@Suite(.timeLimit(.minutes(1))) struct SlowReaderTests {
    /// More bytes than the system buffers for a client.
    private static let largeBytes = 32 << 20
    private static let routes: @Sendable (any EventLoop) -> [Route] = { _ in
        [
            Route(.GET, "/large") { _ in
                HTTPResponse(.ok, body: ByteBuffer(repeating: 0x20, count: largeBytes))
            }
        ]
    }

    private static func get(_ headers: String = "") -> String {
        "GET /large HTTP/1.1\r\nhost: test\r\n\(headers)\r\n"
    }

    /// Limits that no test reaches.
    private static var patient: HTTPLimits {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .hours(1)
        limits.lingeringCloseTimeout = .hours(1)
        limits.slowReaderTimeout = .hours(1)
        limits.stopTimeout = .hours(1)
        return limits
    }

    /// The second client has sent a request that will not be answered.
    @Test(arguments: ["", get()])
    func aConnectionIsClosedAlthoughItsLastResponseIsNotRead(rest: String) async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(100)
        limits.lingeringCloseTimeout = .milliseconds(100)
        let metrics = Metrics()
        try await TestServer.run(limits: limits, metrics: metrics, routes: Self.routes) { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(Self.get("connection: close\r\n") + rest)
                _ = try client.receive(1)
                return client
            }
            try await waitUntil("the connection is closed") {
                await metrics.text().contains("\nbookplate_http_connections 0\n")
            }
            let count = try await onThread { client.readToEnd() }
            #expect(count < Self.largeBytes)
        }
    }

    @Test func theServerStopsAlthoughAResponseIsNotRead() async throws {
        var limits = Self.patient
        limits.stopTimeout = .milliseconds(100)
        let client = try await TestServer.run(limits: limits, routes: Self.routes) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(Self.get())
                _ = try client.receive(1)
                return client
            }
        }
        let count = try await onThread { client.readToEnd() }
        #expect(count < Self.largeBytes)
    }

    /// Streams and sockets end before the time limit for running requests.
    @Test func theServerStopsAlthoughStreamsAndSocketsAreNotRead() async throws {
        var limits = Self.patient
        limits.lingeringCloseTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            let clients = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .post(
                        #"{"query":"subscription{deluge}"}"#,
                        headers: "accept: text/event-stream\r\ncontent-type: application/json\r\n"))
                _ = try client.receive(16)
                let socket = try SocketClient(port: server.port, receiveBufferBytes: 4096)
                try socket.initialize()
                try socket.send(
                    #"{"id":"a","type":"subscribe","payload":{"query":"subscription{deluge}"}}"#)
                return (client, socket)
            }
            // Each response is larger than the buffers of the system, so both producers wait for their clients.
            try await waitUntil("both have written a response") {
                EchoService.delugeEventCount.load(ordering: .relaxed) == 2
            }
            await server.group.triggerGracefulShutdown()
            try await server.waitUntilIdle()
            // No further event was computed for clients that had not read the first one.
            #expect(EchoService.delugeEventCount.load(ordering: .relaxed) == 2)
            withExtendedLifetime(clients) {}
        }
    }
}

extension RawClient {
    /// Reads until the connection ends or fails, and returns the number of bytes.
    fileprivate func readToEnd() -> Int {
        var count = 0
        while let bytes = try? receive(1 << 20), !bytes.isEmpty { count += bytes.count }
        return count
    }
}
