import GraphQL
import GraphQLNIO
import GraphQLServing
import Logging
import NIOCore
import NIOPosix
import SocketClient
import Testing

/// The server that programs outside of this package use.
@Suite struct GraphQLServerTests {
    @Test(
        arguments: [
            (
                String.post(#"{"query":"{ name }"}"#), 200, #"{"data":{"name":"nobody"}}"#
            ),
            (
                .post(
                    #"{"query":"query($a: Int!) { double(of: $a) }","variables":{"a":21}}"#), 200,
                #"{"data":{"double":42}}"#
            ),
            (
                .post(
                    #"{"query":"{ name }"}"#,
                    headers: "content-type: application/json\r\nauthorization: Bearer ada\r\n"),
                200, #"{"data":{"name":"ada"}}"#
            ),
            (
                .post(
                    #"{"query":"{ name }"}"#,
                    headers: "content-type: application/json\r\nauthorization: Bearer bad\r\n"),
                200, #"{"errors":[{"message":"The token is invalid."}]}"#
            ),
            (
                "GET /graphql?query=mutation%7Badd%7D HTTP/1.1\r\nhost: test\r\n\r\n", 405,
                #"{"errors":[{"message":"GET requests can only execute queries. Send mutations with POST.","#
                    + #""extensions":{"code":"BAD_USER_INPUT"}}]}"#
            ),
            (
                .post(#"{"query":"subscription { count(to: 1) }"}"#), 200,
                #"{"errors":[{"message":"A subscription returns several responses. Accept text/event-stream or "#
                    + #"multipart/mixed;subscriptionSpec=\"1.0\", or use a WebSocket.","#
                    + #""extensions":{"code":"BAD_USER_INPUT"}}]}"#
            ),
            (
                .post(#"{"documentId":"x"}"#), 200,
                #"{"errors":[{"message":"The request has no query.","extensions":{"code":"BAD_USER_INPUT"}}]}"#
            ),
        ] as [(String, Int, String)])
    func respondsOverHTTP(request: String, status: Int, body: String) async throws {
        try await Self.run { port in
            let client = try RawClient(port: port)
            try client.send(request)
            let response = try client.response()
            #expect(response.status == status)
            #expect(String(decoding: response.bytes, as: UTF8.self) == body)
        }
    }

    @Test func streamsEvents() async throws {
        try await Self.run { port in
            let client = try RawClient(port: port)
            try client.send(
                .post(
                    #"{"query":"subscription { count(to: 2) }"}"#,
                    headers:
                        "content-type: application/json\r\naccept: text/event-stream\r\nconnection: close\r\n"
                ))
            var text = ""
            while true {
                let bytes = try client.receive()
                if bytes.isEmpty { break }
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.contains("event: next\ndata: {\"data\":{\"count\":1}}\n\n"))
            #expect(text.contains("event: next\ndata: {\"data\":{\"count\":2}}\n\n"))
            #expect(text.contains("event: complete\ndata:\n\n"))
        }
    }

    @Test func subscribesOverWebSocket() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "ada")
            try client.send(
                #"{"id":"1","type":"subscribe","payload":{"query":"subscription { count(to: 1) }"}}"#
            )
            #expect(
                try client.message()
                    == #"{"id":"1","type":"next","payload":{"data":{"count":1}}}"#)
            #expect(try client.message() == #"{"id":"1","type":"complete"}"#)
        }
    }

    @Test func contextsHaveTheHeadersOfTheRequest() async throws {
        try await Self.run { port in
            let client = try RawClient(port: port)
            try client.send(
                .post(
                    #"{"query":"{ language }"}"#,
                    headers:
                        "content-type: application/json\r\nX-Language: de\r\nx-language: en\r\n"))
            #expect(try client.response().body == #"{"data":{"language":"de, en"}}"#)
            try client.send(.post(#"{"query":"{ language }"}"#))
            #expect(try client.response().body == #"{"data":{"language":null}}"#)
            let socket = try SocketClient(port: port, headers: ["x-language": "fr"])
            try socket.initialize()
            try socket.send(#"{"id":"1","type":"subscribe","payload":{"query":"{ language }"}}"#)
            #expect(
                try socket.message()
                    == #"{"id":"1","type":"next","payload":{"data":{"language":"fr"}}}"#)
        }
    }

    @Test func servesOtherPaths() async throws {
        var options = GraphQLServer.Options()
        options.path = "/api"
        options.otherRequests = { request in
            request.path == "/health" ? OtherResponse(.ok, text: "ok") : nil
        }
        try await Self.run(options) { port in
            let client = try RawClient(port: port)
            try client.send("GET /api?query=%7Bname%7D HTTP/1.1\r\nhost: test\r\n\r\n")
            #expect(try client.response().body == #"{"data":{"name":"nobody"}}"#)
            try client.send("GET /health HTTP/1.1\r\nhost: test\r\n\r\n")
            #expect(try client.response().body == "ok")
            try client.send(.post(#"{"query":"{ name }"}"#))
            #expect(try client.response().status == 404)
        }
    }

    @Test func connectionsOverTheLimitAreRefused() async throws {
        var options = GraphQLServer.Options()
        options.connectionsMax = 1
        try await Self.run(options) { port in
            let client = try RawClient(port: port)
            try client.send(.post(#"{"query":"{ name }"}"#))
            #expect(try client.response().status == 200)
            let other = try RawClient(port: port)
            try other.send(.post(#"{"query":"{ name }"}"#))
            #expect(try other.response().status == 503)
            withExtendedLifetime(client) {}
        }
    }

    @Test func idleConnectionsAreClosed() async throws {
        var options = GraphQLServer.Options()
        options.keepAliveTimeout = .milliseconds(100)
        try await Self.run(options) { port in
            let client = try RawClient(port: port)
            try client.send(.post(#"{"query":"{ name }"}"#))
            #expect(try client.response().status == 200)
            #expect(client.isClosed())
        }
    }

    @Test(arguments: [.milliseconds(100), .zero, .nanoseconds(.min)] as [TimeAmount])
    func requestsThatTakeTooLongAreCancelled(responseTimeout: TimeAmount) async throws {
        var options = GraphQLServer.Options()
        options.responseTimeout = responseTimeout
        try await Self.run(options) { port in
            let client = try RawClient(port: port)
            try client.send(.post(#"{"query":"{ untilCancelled }"}"#))
            #expect(try client.response().body == #"{"data":{"untilCancelled":true}}"#)
        }
    }

    @Test func timesCanBeUnlimited() async throws {
        var options = GraphQLServer.Options()
        options.responseTimeout = .nanoseconds(.max)
        options.keepAliveTimeout = .nanoseconds(.max)
        options.shutdownTimeout = .nanoseconds(.max)
        try await Self.run(options) { port in
            let client = try RawClient(port: port)
            for _ in 1...2 {
                try client.send(.post(#"{"query":"{ name }"}"#))
                #expect(try client.response().body == #"{"data":{"name":"nobody"}}"#)
            }
        }
    }

    /// A handshake is complete when its body has ended. The server stops before the client ends the body.
    @Test(.timeLimit(.minutes(1)))
    func aWebSocketThatIsOpenedDuringTheShutdownIsClosed() async throws {
        var options = GraphQLServer.Options()
        // All connections have the same event loop, so when one has ended because of the shutdown, the others know of it.
        options.group = MultiThreadedEventLoopGroup.singleton.next()
        // The connection must end before the time limit.
        options.shutdownTimeout = .hours(1)
        try await Self.serve(options) { port, stop in
            let idle = try RawClient(port: port)
            let client = try RawClient(port: port)
            try client.send(
                "GET /graphql HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\n"
                    + "connection: upgrade\r\nsec-websocket-version: 13\r\n"
                    + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    + "sec-websocket-protocol: graphql-transport-ws\r\n"
                    + "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n")
            #expect(try client.response().status == 100)
            stop()
            #expect(idle.isClosed())
            let message = SocketClient.frame(0x1, Array(#"{"type":"connection_init"}"#.utf8))
            try client.send(Array("0\r\n\r\n".utf8) + message)
            #expect(try client.response().status == 101)
            // Code 1001. The message is not acknowledged.
            let reason = "The server is shutting down. Reconnect and resume."
            let close = SocketClient.frame(
                0x8, [0x03, 0xE9] + Array(reason.utf8), isMasked: false)
            var received: [UInt8] = []
            while received.count < close.count {
                let bytes = try client.receive(close.count - received.count)
                if bytes.isEmpty { break }
                received += bytes
            }
            #expect(received == close, "\(String(decoding: received, as: UTF8.self))")
            try client.send(SocketClient.frame(0x8, [0x03, 0xE9]))
            #expect(client.isClosed())
        }
    }

    private final class Caller: ExecutionContext, Sendable {
        let name: String
        let language: String?
        init(name: String, language: String?) {
            self.name = name
            self.language = language
        }
    }

    /// Runs a test with a server, then stops the server by cancelling its task.
    private static func run(
        _ options: GraphQLServer.Options = GraphQLServer.Options(),
        _ test: @escaping @Sendable (Int) throws -> Void
    ) async throws {
        try await serve(options) { port, _ in try test(port) }
    }

    /// Runs a test with a server, and returns when the server has stopped.
    ///
    /// - Parameter test: Gets the port, and a function that cancels the server's task. It is also cancelled after the test.
    private static func serve(
        _ options: GraphQLServer.Options,
        _ test: @escaping @Sendable (_ port: Int, _ stop: @Sendable () -> Void) throws -> Void
    ) async throws {
        let schema = try ExecutableSchema(
            """
            type Query { name: String!  language: String  double(of: Int!): Int!  untilCancelled: Boolean! }
            type Mutation { add: Int }
            type Subscription { count(to: Int!): Int! }
            """, context: Caller.self
        ) { resolvers in
            resolvers.query.field("name") { $0.context.name }
            resolvers.query.field("language") { $0.context.language }
            resolvers.query.field("double") { 2 * ($0.arguments["of"]?.int ?? 0) }
            resolvers.query.field("untilCancelled") { _ in
                try? await Task.sleep(for: .seconds(3600))
                return Task.isCancelled
            }
            resolvers.mutation.field("add") { _ in 1 }
            resolvers.subscription.stream("count") { request in
                AsyncStream { events in
                    for number in 1...(request.arguments["to"]?.int ?? 1) { events.yield(number) }
                    events.finish()
                }
            }
        }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var options = options
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        options.onListening = { listening.yield($0) }
        let server = GraphQLServer(schema, port: 0, options: options) {
            request throws(RequestErrors) in
            guard request.bearerToken != "bad" else {
                throw RequestErrors([GraphQLError("The token is invalid.")])
            }
            return Caller(
                name: request.bearerToken ?? "nobody", language: request.header("X-LANGUAGE"))
        }
        let running = Task { try await server.run() }
        let result: Result<Void, any Error>
        do {
            let port = try #require(await ports.first { _ in true })
            try await onThread { try test(port) { running.cancel() } }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try result.get()
    }
}
