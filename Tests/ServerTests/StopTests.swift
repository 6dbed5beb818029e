import Logging
import NIOCore
import NIOPosix
import Testing

@testable import Server

@Suite struct StopTests {
    @Test func answersTheRunningRequestsAndThenEnds() async throws {
        let response = try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(#"{"query":"{slow}"}"#, headers: headers(id: "stop-1")))
                return client
            }
            await EchoService.started("stop-1")
            await server.group.triggerGracefulShutdown()
            return try await onThread {
                let response = try client.response()
                #expect(client.isClosed())
                return response
            }
        }
        #expect(response.body == #"{"data":{"slow":true}}"#)
        #expect(response.headers["connection"] == "close")
    }

    /// More than the connection reads ahead: closed over what is unread, it would be reset, and the answer lost.
    @Test func endsInOrderThoughMoreRequestsWait() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .post(#"{"query":"{slow}"}"#, headers: headers(id: "stop-3"))
                        + String(repeating: .post(#"{"query":"{a}"}"#), count: 3000))
                return client
            }
            await EchoService.started("stop-3")
            await server.group.triggerGracefulShutdown()
            try await onThread {
                let response = try client.response()
                #expect(response.body == #"{"data":{"slow":true}}"#)
                #expect(response.headers["connection"] == "close")
                #expect(try client.receive().isEmpty)
            }
        }
    }

    @Test func readsARequestWhoseBodyIsStillArriving() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "content-length: 15\r\nexpect: 100-continue\r\n\r\n")
                #expect(try client.response().status == 100)
                return client
            }
            await server.group.triggerGracefulShutdown()
            try await Task.sleep(for: .milliseconds(50))
            try await onThread {
                try client.send(#"{"query":"{a}"}"#)
                #expect(try client.response().body == "query={a}")
            }
        }
    }

    @Test func closesIdleConnectionsAndTakesNoNewOnes() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n")
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

    @Test func cutsOffWhatTakesTooLong() async throws {
        var limits = HTTPLimits.quick
        limits.stopTimeout = .milliseconds(100)
        let clock = ContinuousClock()
        let duration = try await clock.measure {
            try await TestServer.run(limits: limits) { server in
                let client = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(
                        .post(#"{"query":"{verySlow}"}"#, headers: headers(id: "stop-2")))
                    return client
                }
                await EchoService.started("stop-2")
                await server.group.triggerGracefulShutdown()
                let isClosed = try await onThread { client.isClosed() }
                #expect(isClosed)
            }
        }
        // The request itself would take a minute.
        #expect(duration < .seconds(40))
    }

    @Test func saysWhereItCannotListen() async throws {
        try await TestServer.run { server in
            let second = HTTPServer(
                group: MultiThreadedEventLoopGroup.singleton, host: "127.0.0.1",
                port: server.port, logger: Logger(label: "test")
            ) { _ in [] }
            let error = await #expect(throws: ListenError.self) { try await second.run() }
            #expect(
                error?.description
                    == "cannot listen on 127.0.0.1 port \(server.port): Address already in use")
        }
    }

    private func headers(id: String) -> String {
        "content-type: application/json\r\nx-request-id: \(id)\r\n"
    }
}
