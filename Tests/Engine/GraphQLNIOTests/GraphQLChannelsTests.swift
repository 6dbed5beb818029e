import GraphQL
import GraphQLServing
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SocketClient
import Synchronization
import Testing

@testable import GraphQLNIO

/// A server of another program, whose channels get GraphQL from `GraphQLChannels`.
@Suite struct GraphQLChannelsTests {
    @Test func oneConnectionServesGraphQLAndOtherRequests() async throws {
        try await ExistingServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                for _ in 1...2 {
                    try client.send(.post(#"{"query":"{ name }"}"#))
                    #expect(try client.response().body == #"{"data":{"name":"Ada"}}"#)
                    try client.send(
                        "GET /hello?to=Ada%20L HTTP/1.1\r\nhost: test\r\nX-Mood: ok\r\n\r\n")
                    let hello = try client.response()
                    #expect(hello.status == 200)
                    #expect(hello.headers["content-type"] == "text/plain; charset=utf-8")
                    #expect(hello.body == "GET /hello to=Ada%20L ok")
                    try client.send(
                        "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 4\r\n\r\nbody")
                    #expect(try client.response().body == "body")
                    try client.send(
                        "PATCH /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n"
                            + "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
                    #expect(try client.response().body == "abc")
                    try client.send("HEAD /hello?to=Ada HTTP/1.1\r\nhost: test\r\n\r\n")
                    #expect(
                        try client.response(toHEAD: true).headers["content-length"] == "22")
                    try client.send("GET /nothing HTTP/1.1\r\nhost: test\r\n\r\n")
                    let nothing = try client.response()
                    #expect(nothing.status == 404)
                    #expect(nothing.body.contains(#""code":"NOT_FOUND""#))
                    try client.send("PUT /graphql HTTP/1.1\r\nhost: test\r\n\r\n")
                    #expect(try client.response().status == 405)
                }
            }
        }
    }

    @Test func streamsEvents() async throws {
        try await ExistingServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .post(
                        #"{"query":"subscription { count(to: 2) }"}"#,
                        headers: "content-type: application/json\r\naccept: text/event-stream\r\n"
                            + "connection: close\r\n"))
                let text = try client.textUntilEnd()
                #expect(text.contains("event: next\ndata: {\"data\":{\"count\":1}}\n\n"))
                #expect(text.contains("event: next\ndata: {\"data\":{\"count\":2}}\n\n"))
                #expect(text.contains("event: complete\ndata:\n\n"))
            }
        }
    }

    @Test func subscribesOverWebSocket() async throws {
        try await ExistingServer.run { server in
            try await onThread {
                let client = try SocketClient(port: server.port)
                try client.initialize()
                try client.send(
                    #"{"id":"1","type":"subscribe","payload":{"query":"subscription { count(to: 1) }"}}"#
                )
                #expect(
                    try client.message()
                        == #"{"id":"1","type":"next","payload":{"data":{"count":1}}}"#)
                #expect(try client.message() == #"{"id":"1","type":"complete"}"#)
            }
        }
    }

    @Test func servesTLS() async throws {
        let (server, client) = (
            try TestCertificate.serverContext(), try TestCertificate.clientContext()
        )
        try await ExistingServer.run(tls: server) { server in
            let connection = try await ClientBootstrap(
                group: MultiThreadedEventLoopGroup.singleton
            ).connect(host: "127.0.0.1", port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: client, serverHostname: nil))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel)
                }
            }
            let text = try await connection.executeThenClose { input, output in
                try await output.write(
                    ByteBuffer(
                        string: "POST /echo HTTP/1.1\r\nhost: test\r\nconnection: close\r\n"
                            + "content-length: 4\r\n\r\nbody"))
                var bytes = ByteBuffer()
                for try await part in input { bytes.writeImmutableBuffer(part) }
                return String(buffer: bytes)
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text.hasSuffix("\r\n\r\nbody"))
        }
    }

    /// The server has the connection, but not yet the first byte of the client.
    @Test func shutdownClosesAConnectionWithoutATLSHandshake() async throws {
        try await ExistingServer.run(tls: try TestCertificate.serverContext()) { server in
            let client = try await onThread { try RawClient(port: server.port) }
            await server.children.first()
            async let shutDown: Void = server.graphql.shutDown(within: .hours(1))
            let isClosed = try await onThread { client.isClosed() }
            #expect(isClosed)
            await shutDown
        }
    }

    @Test(arguments: [
        (
            "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 101\r\n\r\n", 413,
            "PAYLOAD_TOO_LARGE"
        ),
        (
            "POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n65\r\n"
                + String(repeating: "a", count: 101) + "\r\n0\r\n\r\n", 413, "PAYLOAD_TOO_LARGE"
        ),
        (
            "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nbody",
            415, "UNSUPPORTED_MEDIA_TYPE"
        ),
    ])
    func refusesBodies(request: String, status: Int, code: String) async throws {
        try await ExistingServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(request)
                let response = try client.response()
                #expect(response.status == status)
                #expect(response.body.contains(#""code":"\#(code)""#))
            }
        }
    }

    /// A handler cannot add a header by a line break, or change the end of the body.
    @Test func invalidResponsesAreCorrected() async throws {
        try await ExistingServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /headers HTTP/1.1\r\nhost: test\r\n\r\n")
                let response = try client.response()
                #expect(response.body == "four")
                #expect(response.headers["content-length"] == "4")
                #expect(response.headers["location"] == "/a  b")
                #expect(
                    response.headers.keys.sorted() == [
                        "content-length", "date", "location", "x-content-type-options",
                        "x-request-id",
                    ])
                try client.send("GET /phrase HTTP/1.1\r\nhost: test\r\n\r\n")
                let phrase = try client.response()
                #expect(phrase.status == 299)
                #expect(phrase.headers["a"] == nil)
                #expect(phrase.headers["content-length"] == "0")
                try client.send("GET /informational HTTP/1.1\r\nhost: test\r\n\r\n")
                #expect(try client.response().status == 500)
            }
        }
    }

    @Test func otherRequestsHaveTheClientsAddress() async throws {
        try await ExistingServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "GET /client HTTP/1.1\r\nhost: test\r\nx-request-id: id-7\r\n\r\n")
                #expect(try client.response().body == "\(0xFFFF_7F00_0001) id-7")
            }
        }
    }

    @Test func otherRequestsHaveTheClientOfATrustedProxy() async throws {
        try await ExistingServer.run(trustedProxies: try TrustedProxies(["127.0.0.0/8"])) {
            server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "GET /client HTTP/1.1\r\nhost: test\r\nx-request-id: id-7\r\n"
                        + "x-forwarded-for: 192.0.2.1\r\n\r\n")
                #expect(try client.response().body == "\(0xFFFF_C000_0201) id-7")
            }
        }
    }

    // MARK: Shutdown

    /// The response of these requests becomes a stream after the shutdown has begun.
    @Test(arguments: [
        (
            "{ held ... @defer { name } }", "multipart/mixed",
            [#"{"data":{"held":"released"}"#, #""data":{"name":"Ada"}"#, "\r\n--\r\n"]
        ),
        (
            "mutation { hold }", "text/event-stream",
            ["event: next\ndata: {\"data\":{\"hold\":\"released\"}}\n\n", "event: complete\n"]
        ),
        (
            "{ held }", #"multipart/mixed;subscriptionSpec="1.0""#,
            [#"{"data":{"held":"released"}}"#, "\r\n--\r\n"]
        ),
    ])
    func shutdownFinishesAStreamedResponse(
        query: String, accept: String, parts: [String]
    ) async throws {
        try await ExistingServer.run { server in
            let (idle, client) = try await onThread {
                let idle = try RawClient(port: server.port)
                let client = try RawClient(port: server.port)
                try client.send(.post(query, accept: accept))
                return (idle, client)
            }
            await server.held.started()
            try await server.channel.close()
            async let shutDown: Void = server.graphql.shutDown(within: .hours(1))
            let isIdleClosed = try await onThread { idle.isClosed() }
            #expect(isIdleClosed)
            server.held.release()
            try await onThread {
                let text = try client.textUntilEnd()
                for part in parts { #expect(text.contains(part), "\(text)") }
                #expect(text.contains("Connection: close\r\n"))
                #expect(text.hasSuffix("\r\n0\r\n\r\n"))
            }
            await shutDown
        }
    }

    @Test(arguments: [true, false])
    func aSubscriptionThatIsBeingOpenedEnds(isQuiesced: Bool) async throws {
        try await ExistingServer.run { server in
            let (idle, client) = try await onThread {
                let idle = try RawClient(port: server.port)
                let client = try RawClient(port: server.port)
                try client.send(
                    .post("subscription { heldCount }", accept: "text/event-stream"))
                return (idle, client)
            }
            await server.held.started()
            async let shutDown: Void = {
                if isQuiesced {
                    server.quiesce()
                } else {
                    await server.graphql.shutDown(within: .hours(1))
                }
            }()
            let isIdleClosed = try await onThread { idle.isClosed() }
            #expect(isIdleClosed)
            server.held.release()
            let text = try await onThread { try client.textUntilEnd() }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(!text.contains("event: complete"))
            await shutDown
        }
    }

    @Test func shutdownFinishesTheRunningRequest() async throws {
        try await ExistingServer.run { server in
            let (running, idle, socket) = try await onThread {
                let idle = try RawClient(port: server.port)
                try idle.send("GET /hello HTTP/1.1\r\nhost: test\r\n\r\n")
                _ = try idle.response()
                let socket = try SocketClient(port: server.port)
                try socket.initialize()
                let running = try RawClient(port: server.port)
                try running.send(.post(#"{"query":"{ held }"}"#))
                return (running, idle, socket)
            }
            await server.held.started()
            try await server.channel.close()
            async let shutDown: Void = server.graphql.shutDown()
            try await onThread {
                #expect(idle.isClosed())
                let code = try socket.closeCode()
                #expect(code == 1001)
                socket.abort()
            }
            server.held.release()
            try await onThread {
                let response = try running.response()
                #expect(response.body == #"{"data":{"held":"released"}}"#)
                #expect(response.headers["connection"] == "close")
                #expect(running.isClosed())
            }
            await shutDown
        }
    }

    @Test func shutdownClosesAllConnectionsAtTheTimeLimit() async throws {
        try await ExistingServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(#"{"query":"{ held }"}"#))
                return client
            }
            await server.held.started()
            await server.graphql.shutDown(within: .milliseconds(20))
            let isClosed = try await onThread { client.isClosed() }
            #expect(isClosed)
        }
    }

    @Test func channelsAfterTheShutdownAreClosed() async throws {
        try await ExistingServer.run { server in
            await server.graphql.shutDown()
            let isClosed = try await onThread { try RawClient(port: server.port).isClosed() }
            #expect(isClosed)
        }
    }

    /// The event that `ServerQuiescingHelper` sends.
    @Test func connectionsEndWhenTheirServerQuiesces() async throws {
        try await ExistingServer.run { server in
            let (client, socket) = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /hello HTTP/1.1\r\nhost: test\r\n\r\n")
                _ = try client.response()
                let socket = try SocketClient(port: server.port)
                try socket.initialize()
                return (client, socket)
            }
            server.quiesce()
            try await onThread {
                #expect(client.isClosed())
                let code = try socket.closeCode()
                #expect(code == 1001)
            }
        }
    }
}

extension RawClient {
    /// Returns everything that the server sends until it closes the connection.
    fileprivate func textUntilEnd() throws -> String {
        var text = ""
        while true {
            let bytes = try receive()
            if bytes.isEmpty { return text }
            text += String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension String {
    fileprivate static func post(_ query: String, accept: String) -> String {
        .post(
            #"{"query":"\#(query)"}"#,
            headers: "content-type: application/json\r\naccept: \(accept)\r\n")
    }
}
