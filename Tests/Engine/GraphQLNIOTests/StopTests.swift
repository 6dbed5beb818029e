import EchoServer
import Logging
import NIOCore
import NIOPosix
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct StopTests {
    @Test func runningRequestsFinishBeforeTheServerStops() async throws {
        let response = try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.held("stop-1"))
                return client
            }
            try await EchoService.started("stop-1")
            try await server.beginShutdown()
            EchoService.release("stop-1")
            return try await onThread {
                let response = try client.response()
                #expect(client.isClosed())
                return response
            }
        }
        #expect(response.body == EchoService.heldResponse)
        #expect(response.headers["connection"] == "close")
    }

    /// The client sends more than the connection reads ahead. Closing it with unread input would reset it, and the
    /// client would lose the response.
    @Test func theLastResponseArrivesAlthoughMoreRequestsWait() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .held("stop-3")
                        + String(repeating: .post(#"{"query":"{a}"}"#), count: 3000))
                return client
            }
            try await EchoService.started("stop-3")
            try await server.beginShutdown()
            EchoService.release("stop-3")
            try await onThread {
                let response = try client.response()
                #expect(response.body == EchoService.heldResponse)
                #expect(response.headers["connection"] == "close")
                #expect(try client.receive().isEmpty)
            }
        }
    }

    @Test func aRequestWhoseBodyIsStillArrivingFinishes() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "content-length: 15\r\nexpect: 100-continue\r\n\r\n")
                #expect(try client.response().status == 100)
                return client
            }
            try await server.beginShutdown()
            try await onThread {
                try client.send(#"{"query":"{a}"}"#)
                #expect(try client.response().body == "query={a}")
            }
        }
    }

    @Test func idleConnectionsAreClosedAndNewOnesRefused() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                _ = try client.response()
                return client
            }
            await server.group.triggerGracefulShutdown()
            try await onThread {
                #expect(client.isClosed())
                #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
            }
        }
    }

    @Test func aRequestThatExceedsTheStopTimeoutIsCancelled() async throws {
        var limits = HTTPLimits.quick
        limits.stopTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.held("stop-2"))
                return client
            }
            try await EchoService.started("stop-2")
            await server.group.triggerGracefulShutdown()
            let isClosed = try await onThread { client.isClosed() }
            #expect(isClosed)
        }
        try await waitUntil("the request is cancelled") { EchoService.isCancelled("stop-2") }
    }

    /// The client waits for the acknowledgement of its `connection_init` when the shutdown begins.
    @Test func aSocketWhoseTokenIsBeingCheckedIsClosed() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try SocketClient(port: server.port)
                try client.send(
                    #"{"type":"connection_init","payload":{"Authorization":"Bearer held"}}"#)
                return client
            }
            try await EchoService.started("held")
            await server.group.triggerGracefulShutdown()
            try await onThread {
                #expect(
                    try client.receive()
                        == .close(
                            code: 1001,
                            reason: "The server is shutting down. Reconnect and resume."))
                try client.close(1001)
                #expect(try client.receive() == .end)
            }
        }
        try await waitUntil("the check is cancelled") { EchoService.isCancelled("held") }
    }

    @Test func aListenErrorContainsTheAddress() async throws {
        try await TestServer.run { server in
            let second = HTTPServer(
                group: MultiThreadedEventLoopGroup.singleton, host: "127.0.0.1",
                port: server.port,
                channels: HTTPChannels(logger: Logger(label: "test")) { _ in [] })
            let error = await #expect(throws: ListenError.self) { try await second.run() }
            #expect(
                error?.description
                    == "cannot listen on 127.0.0.1 port \(server.port): Address already in use")
        }
    }
}
