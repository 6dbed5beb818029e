import EchoServer
import Glibc
import NIOCore
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct ConnectionTests {
    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        try await TestServer.run { server in
            let bodies = try await onThread {
                let client = try RawClient(port: server.port)
                return try (1...3).map { number in
                    try client.send(.post(#"{"query":"{a\#(number)}"}"#))
                    return try client.response().body
                }
            }
            #expect(bodies == ["query={a1}", "query={a2}", "query={a3}"])
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .held("connection-1") + .post(#"{"query":"{second}"}"#)
                        + "GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                return client
            }
            try await EchoService.started("connection-1")
            EchoService.release("connection-1")
            let bodies = try await onThread {
                try (1...3).map { _ in try client.response().body }
            }
            #expect(
                bodies == [EchoService.heldResponse, "query={second}", "text"])
        }
    }

    /// The later requests arrive before the first one has a response, and are then answered in one pass.
    @Test func thousandsOfPipelinedRequestsAreAnswered() async throws {
        try await TestServer.run { server in
            let count = 2000
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                let others = String(repeating: "GET /x HTTP/1.1\r\nhost: a\r\n\r\n", count: count)
                try client.send(.held("connection-2") + others)
                return client
            }
            try await EchoService.started("connection-2")
            EchoService.release("connection-2")
            let statuses = try await onThread {
                try (0...count).map { _ in try client.response().status }
            }
            #expect(statuses == [200] + Array(repeating: 404, count: count))
        }
    }

    @Test func aChunkedBodyMayArriveByteByByte() async throws {
        try await TestServer.run { server in
            let response = try await onThread {
                let client = try RawClient(port: server.port)
                let request =
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                    + "transfer-encoding: chunked\r\n\r\n"
                    + "4\r\n{\"qu\r\n8\r\nery\":\"{a\r\n3\r\n}\"}\r\n0\r\n\r\n"
                for byte in request.utf8 { try client.send([byte]) }
                return try client.response()
            }
            #expect(response.status == 200)
            #expect(response.body == "query={a}")
        }
    }

    @Test func aConnectionClosesAtTheClientsRequest() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "GET /text HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
                #expect(try client.response().headers["connection"] == "close")
                #expect(client.isClosed())
            }
        }
    }

    @Test func aConnectionClosesAfterAnHTTP10Request() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /text HTTP/1.0\r\n\r\n")
                #expect(try client.response().status == 200)
                #expect(client.isClosed())
            }
        }
    }

    @Test func anUnsupportedUpgradeIsIgnored() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "GET /text HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\n"
                        + "upgrade: h2c\r\n\r\n")
                let response = try client.response()
                #expect(response.status == 200)
                #expect(response.headers["connection"] == "close")
                #expect(client.isClosed())
            }
        }
    }

    @Test func expectationsAreAnsweredWith100Continue() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                let body = #"{"query":"{a}"}"#
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "content-length: \(body.utf8.count)\r\nexpect: 100-Continue\r\n\r\n")
                #expect(try client.response().status == 100)
                try client.send(body)
                #expect(try client.response().body == "query={a}")
            }
        }
    }

    @Test func responsesToHEADHaveNoBody() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("HEAD /text HTTP/1.1\r\nhost: test\r\n\r\n")
                let head = try client.response(toHEAD: true)
                #expect(head.status == 200)
                #expect(head.headers["content-length"] == "4")
                try client.send("GET /text HTTP/1.1\r\nhost: test\r\n\r\n")
                #expect(try client.response().body == "text")
            }
        }
    }

    @Test(arguments: [
        ("abc-DEF_1.2", true), ("", false), ("a b", false), ("a\"b", false),
        (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false),
    ])
    func validRequestIDsAreReturned(id: String, isKept: Bool) async throws {
        try await TestServer.run { server in
            let response = try await server.get("/text", headers: "x-request-id: \(id)\r\n")
            let returned = try #require(response.headers["x-request-id"])
            #expect((returned == id) == isKept)
            #expect(!returned.isEmpty)
        }
    }

    @Test func theTaskOfADisconnectedClientIsCancelled() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.held("connection-3"))
                return client
            }
            try await EchoService.started("connection-3")
            client.finishSending()
            try await waitUntil("the task is cancelled") { EchoService.isCancelled("connection-3") }
        }
    }

    @Test func absoluteURLsAreServed() async throws {
        try await TestServer.run { server in
            let response = try await server.get("http://test/graphql?query=%7Ba%7D")
            #expect(response.body == "query={a}")
        }
    }

    /// Protects proxies that parse less strictly against request smuggling.
    @Test func nothingIsReadAfterARefusedRequest() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n"
                        + "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
                        + "GET /text HTTP/1.1\r\nhost: a\r\n\r\n")
                #expect(try client.response().status == 400)
                #expect(client.isClosed())
            }
        }
    }

    @Test(arguments: ["Close", "keep-alive, CLOSE", "x,close ,y"])
    func theConnectionHeaderIsAList(connection: String) async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "GET /text HTTP/1.1\r\nhost: a\r\nconnection: \(connection)\r\n\r\n")
                #expect(try client.response().headers["connection"] == "close")
                #expect(client.isClosed())
            }
        }
    }

    /// The mixture contains requests with and without a task, and small and large responses.
    @Test func aMixtureOfPipelinedRequestsIsAnswered() async throws {
        try await TestServer.run { server in
            let bodies = try await onThread {
                let client = try RawClient(port: server.port)
                let requests = (1...50).map { number in
                    switch number % 4 {
                    case 0: "GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n"
                    case 1: String.post(#"{"query":"{huge}"}"#)
                    case 2: "OPTIONS /graphql HTTP/1.1\r\nhost: a\r\n\r\n"
                    default: String.post(#"{"query":"{a\#(number)}"}"#)
                    }
                }
                try client.send(requests.joined())
                return try (1...50).map { _ in try client.response().body }
            }
            for (index, body) in bodies.enumerated() {
                switch (index + 1) % 4 {
                case 0: #expect(body.contains("NOT_FOUND"))
                case 1: #expect(body.utf8.count == 4 << 20)
                case 2: #expect(body.isEmpty)
                default: #expect(body == "query={a\(index + 1)}")
                }
            }
        }
    }
}
