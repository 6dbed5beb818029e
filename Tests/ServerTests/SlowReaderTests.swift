import NIOCore
import SocketClient
import Telemetry
import TestSupport
import Testing

@testable import Server

/// Clients that do not read what a connection has to say at its end: none of them keeps it, or the server, for longer than
/// it may. Where one did, these tests would run into their time limit.
@Suite(.timeLimit(.minutes(1))) struct SlowReaderTests {
    /// More than the system takes in place of a client.
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

    /// Limits that never pass within a test.
    private static var patient: HTTPLimits {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .hours(1)
        limits.lingeringCloseTimeout = .hours(1)
        limits.slowReaderTimeout = .hours(1)
        limits.stopTimeout = .hours(1)
        return limits
    }

    /// Also one that has sent more than it will be answered.
    @Test(arguments: ["", get()])
    func aConnectionEndsThoughItsLastAnswerIsNotRead(rest: String) async throws {
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

    @Test func aServerStopsThoughAnAnswerIsNotRead() async throws {
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

    /// What lasts is ended before the time for requests that run is over.
    @Test func aServerStopsThoughStreamsAndSocketsAreNotRead() async throws {
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
            // Each response is more than the system takes, so both producers wait for their clients.
            try await waitUntil("both have written a response") {
                EchoService.deluges.load(ordering: .relaxed) == 2
            }
            await server.group.triggerGracefulShutdown()
            try await server.isQuiet()
            // Nothing was executed for clients that had not read the first response.
            #expect(EchoService.deluges.load(ordering: .relaxed) == 2)
            withExtendedLifetime(clients) {}
        }
    }
}

extension RawClient {
    /// - Returns: how many bytes there were, up to the end or to where the connection broke.
    fileprivate func readToEnd() -> Int {
        var count = 0
        while let bytes = try? receive(1 << 20), !bytes.isEmpty { count += bytes.count }
        return count
    }
}
