import EchoServer
import NIOCore
import SocketClient
import Testing

@testable import GraphQLNIO

/// The `graphql-transport-ws` protocol over real connections.
@Suite struct WebSocketTests {
    /// Runs a blocking client with a server, then waits until all of its sockets and operations are released.
    static func run(
        limits: HTTPLimits = .quick, bodyBytesMax: Int = 4096,
        _ test: @escaping @Sendable (Int) throws -> Void
    ) async throws {
        try await TestServer.run(limits: limits, bodyBytesMax: bodyBytesMax) { server in
            try await onThread { try test(server.port) }
            try await server.waitUntilIdle()
        }
    }

    private static func subscribe(_ id: String, _ query: String) -> String {
        #"{"id":"\#(id)","type":"subscribe","payload":{"query":"\#(query)"}}"#
    }

    @Test func queriesAndSubscriptionsShareASocket() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port, headers: ["x-request-id": "shared"])
            #expect(client.status == 101)
            #expect(client.head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
            #expect(client.head.contains("sec-websocket-protocol: graphql-transport-ws"))
            try client.initialize(token: "good")
            try client.send(Self.subscribe("s", "subscription{held}"))
            try client.send(Self.subscribe("q", "{hello}"))
            #expect(
                try client.message()
                    == #"{"id":"q","type":"next","payload":query={hello} token=good}"#)
            #expect(try client.message() == #"{"id":"q","type":"complete"}"#)
            // The subscription is the first operation on the socket.
            EchoService.release("shared-1")
            for number in 1...3 {
                #expect(
                    try client.message()
                        == #"{"id":"s","type":"next","payload":{"data":\#(number)}}"#)
            }
            #expect(try client.message() == #"{"id":"s","type":"complete"}"#)
            try client.close(1000)
            #expect(try client.closeCode() == 1000)
            #expect(try client.receive() == .end)
        }
    }

    /// Large messages are parsed on another thread. Later messages wait until it has been handled.
    @Test func largeMessagesAreHandledInOrder() async throws {
        let text = String(repeating: "x", count: 100_000)
        try await Self.run(bodyBytesMax: 1 << 20) { port in
            let client = try SocketClient(port: port, headers: ["x-request-id": "large"])
            try client.initialize()
            let large = [
                #"{"id":"a","type":"subscribe","payload":{"query":"{bytes}","extensions":{"x":"\#(text)"}}}"#,
                #"{"id":"b","type":"subscribe","payload":{"query":"subscription{held}","extensions":{"x":"\#(text)"}}}"#,
            ]
            let messages = large + [Self.subscribe("c", "{bytes}")]
            try client.send(messages.flatMap { client.frame(0x1, Array($0.utf8)) })
            for (id, message) in [("a", large[0]), ("c", messages[2])] {
                #expect(
                    try client.message()
                        == #"{"id":"\#(id)","type":"next","payload":bytes=\#(message.utf8.count)}"#)
                #expect(try client.message() == #"{"id":"\#(id)","type":"complete"}"#)
            }
            // The subscription is the second operation on the socket.
            EchoService.release("large-2")
            #expect(try client.message() == #"{"id":"b","type":"next","payload":{"data":1}}"#)
        }
    }

    /// The handshake and the first message arrive while another request runs, and the second message after it.
    @Test func aHandshakeWaitsForTheRequestBefore() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                let handshake =
                    "GET /graphql HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                    + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
                    + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n"
                let initialisation = Array(#"{"type":"connection_init"}"#.utf8)
                try client.send(
                    Array((.held("handshake") + handshake).utf8)
                        + SocketClient.frame(0x1, initialisation))
                return client
            }
            try await EchoService.started("handshake")
            EchoService.release("handshake")
            try await onThread {
                #expect(try client.response().body == EchoService.heldResponse)
                #expect(try client.response().status == 101)
                let acknowledgement = try client.receive(64).dropFirst(2)
                #expect(
                    String(decoding: acknowledgement, as: UTF8.self)
                        == #"{"type":"connection_ack"}"#)
                try client.send(SocketClient.frame(0x1, Array(#"{"type":"ping"}"#.utf8)))
                let pong = try client.receive(64).dropFirst(2)
                #expect(String(decoding: pong, as: UTF8.self) == #"{"type":"pong"}"#)
            }
        }
    }

    @Test func theTokenMayBeAHeaderOfTheHandshake() async throws {
        try await Self.run { port in
            let client = try SocketClient(
                port: port, headers: ["authorization": "Bearer fromHeader"])
            try client.initialize()
            try client.send(Self.subscribe("q", "{a}"))
            #expect(try client.message().contains("token=fromHeader"))
            let other = try SocketClient(port: port, headers: ["authorization": "Bearer bad"])
            try other.send(#"{"type":"connection_init"}"#)
            #expect(try other.closeCode() == 4403)
        }
    }

    @Test func appsNameThemselvesInTheHandshakeOrInAMessage() async throws {
        try await Self.run { port in
            for (payload, app) in [
                ("", "ios/1.2"),
                (#","payload":{"headers":{"GraphQL-Client-Name":"web"}}"#, "web/"),
                (
                    #","payload":{"apollographql-client-name":"web","apollographql-client-version":"3"}"#,
                    "web/3"
                ),
            ] {
                let client = try SocketClient(
                    port: port,
                    headers: [
                        "apollographql-client-name": "ios", "apollographql-client-version": "1.2",
                    ])
                try client.send(#"{"type":"connection_init"\#(payload)}"#)
                _ = try client.message()
                try client.send(Self.subscribe("q", "{a}"))
                let message = try client.message()
                #expect(message.contains("app=\(app)"), "\(message)")
            }
        }
    }

    @Test func requestErrorsAreErrorMessagesAndKeepTheSocketOpen() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize()
            try client.send(Self.subscribe("__proto__", "{wrong}"))
            #expect(
                try client.message()
                    == #"{"id":"__proto__","type":"error","payload":[{"message":"wrong"}]}"#)
            try client.send(Self.subscribe("b", "subscription{fails}"))
            #expect(
                try client.message()
                    == #"{"id":"b","type":"error","payload":[{"message":"it broke"}]}"#)
            try client.send(#"{"type":"ping","payload":{"x":[1]}}"#)
            #expect(try client.message() == #"{"type":"pong","payload":{"x":[1]}}"#)
        }
    }

    @Test(arguments: [
        (["{"], 4400), ([#"{"type":"connection_init"}"#, "[]"], 4400),
        ([subscribe("a", "{q}")], 4401),
        ([#"{"type":"connection_init","payload":{"Authorization":"bad"}}"#], 4403),
        ([#"{"type":"connection_init","payload":{"Authorization":"down"}}"#], 1013),
        ([#"{"type":"connection_init"}"#, #"{"type":"connection_init"}"#], 4429),
    ])
    func protocolErrorsCloseTheSocket(messages: [String], code: Int) async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            for message in messages { try client.send(message) }
            #expect(try client.closeCode() == code)
        }
    }

    @Test func aRateLimitedTokenClosesTheSocketWithTheTimeToWait() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.send(
                #"{"type":"connection_init","payload":{"Authorization":"Bearer eager"}}"#)
            #expect(
                try client.receive()
                    == .close(code: 1013, reason: "Too many requests. Try again in 7 s."))
        }
    }

    /// The socket keeps its earlier token, and accepts another one later.
    @Test func aRateLimitedNewTokenKeepsTheSocketOpen() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            for (token, response) in [
                (
                    "eager",
                    #"{"type":"pong","payload":{"code":"RATE_LIMITED","retryAfter":7}}"#
                ),
                ("good", #"{"type":"pong"}"#),
            ] {
                try client.send(
                    #"{"type":"ping","payload":{"Authorization":"Bearer \#(token)"}}"#)
                #expect(try client.message() == response)
            }
        }
    }

    @Test func anIdInUseClosesTheSocket() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize()
            try client.send(Self.subscribe("a", "subscription{endless}"))
            try client.send(Self.subscribe("a", "{q}"))
            #expect(
                try client.receive()
                    == .close(code: 4409, reason: "Subscriber for a already exists"))
        }
    }

    @Test(arguments: [nil, "graphql-ws", "chat, superchat"])
    func unsupportedSubprotocolsCloseWith4406(subprotocol: String?) async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port, subprotocol: subprotocol)
            #expect(!client.head.contains("sec-websocket-protocol"))
            #expect(try client.closeCode() == 4406)
        }
    }

    @Test func theSupportedSubprotocolIsChosen() async throws {
        try await Self.run { port in
            let client = try SocketClient(
                port: port, subprotocol: "graphql-ws, graphql-transport-ws")
            #expect(client.head.contains("sec-websocket-protocol: graphql-transport-ws"))
            try client.initialize()
        }
    }

    @Test func aMissingInitialisationClosesWith4408() async throws {
        var limits = HTTPLimits.quick
        limits.initialisationTimeout = .milliseconds(50)
        try await Self.run(limits: limits) { port in
            let client = try SocketClient(port: port)
            #expect(try client.closeCode() == 4408)
        }
    }

    @Test(arguments: [nil, "http://localhost:3000", "https://app.example.com"])
    func pagesOfAllowedOriginsConnect(origin: String?) async throws {
        try await Self.run { port in
            let client = try SocketClient(
                port: port, headers: origin.map { ["origin": $0] } ?? [:])
            try client.initialize()
        }
    }

    /// A browser shows a page only the close frame, so that frame says why the page is refused.
    @Test(arguments: [
        "https://evil.example.com", "null", "http://localhost.evil.example",
        "https://" + String(repeating: "long.", count: 50) + "example",
    ])
    func pagesOfOtherOriginsAreRefused(origin: String) async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port, headers: ["origin": origin])
            #expect(client.status == 101)
            let (code, reason) = try client.closing()
            #expect(code == 4403)
            #expect(reason.utf8.count <= 123)
            #expect("The list of allowed origins does not contain \(origin)".hasPrefix(reason))
            #expect(
                reason.hasPrefix(
                    "The list of allowed origins does not contain \(origin.prefix(40))"))
        }
    }

    /// Some clients compare the names of headers with upper and lower case.
    @Test(arguments: ["13", "8"])
    func headersHaveTheirCanonicalNames(version: String) async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port, version: version)
            #expect(client.headerNames.contains("Upgrade"))
            for name in client.headerNames {
                #expect(name.split(separator: "-").allSatisfy { $0.first?.isUppercase == true })
            }
        }
    }

    @Test func malformedHandshakesAreRefused() async throws {
        try await Self.run { port in
            let old = try SocketClient(port: port, version: "8")
            #expect(old.status == 426)
            #expect(old.head.contains("\r\nsec-websocket-version: 13\r\n"))
            #expect(old.head.contains("\r\nupgrade: websocket\r\n"))
            #expect(old.head.contains("\r\nconnection: upgrade\r\n"))
            let keyless = try SocketClient(port: port, headers: ["sec-websocket-key": "x"])
            #expect(keyless.status == 400)
            let lost = try SocketClient(port: port, path: "/nowhere")
            #expect(lost.status == 404)
        }
    }

    @Test func messagesSentWithTheHandshakeAreRead() async throws {
        try await Self.run { port in
            let early = SocketClient.frame(0x1, Array(#"{"type":"connection_init"}"#.utf8))
            let client = try SocketClient(port: port, sentWithHandshake: early)
            #expect(try client.message() == #"{"type":"connection_ack"}"#)
        }
    }

    @Test func invalidFramesCloseTheSocket() async throws {
        try await Self.run { port in
            let hello = Array(#"{"type":"connection_init"}"#.utf8)
            let cases: [([UInt8], Int)] = [
                (SocketClient.frame(0x1, hello, isMasked: false), 1002),
                (SocketClient.frame(0x0, hello), 1002),
                (SocketClient.frame(0x9, hello, isFinal: false), 1002),
                (SocketClient.frame(0x2, hello), 4400),
                (SocketClient.frame(0x1, [0xFF]), 1007),
                (SocketClient.frame(0x1, Array(repeating: 0x20, count: 5000)), 1009),
            ]
            for (bytes, code) in cases {
                let client = try SocketClient(port: port)
                try client.send(bytes)
                #expect(try client.closeCode() == code)
            }
        }
    }

    @Test func fragmentsFormOneMessageWithinTheLimit() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            let text = Array(#"{"type":"connection_init"}"#.utf8)
            try client.send(client.frame(0x1, Array(text[..<5]), isFinal: false))
            try client.send(client.frame(0x9, Array("hi".utf8)))
            #expect(try client.receive() == .pong("hi"))
            try client.send(client.frame(0x0, Array(text[5...])))
            #expect(try client.message() == #"{"type":"connection_ack"}"#)
            try client.send(client.frame(0x1, Array(repeating: 0x20, count: 3000), isFinal: false))
            try client.send(client.frame(0x0, Array(repeating: 0x20, count: 3000)))
            #expect(try client.closeCode() == 1009)
        }
    }

    /// `SocketTimersTests` checks that a message from the client extends the deadline.
    @Test func aSilentClientIsPingedAndThenDisconnected() async throws {
        var limits = HTTPLimits.quick
        limits.pingInterval = .milliseconds(100)
        try await Self.run(limits: limits) { port in
            let client = try SocketClient(port: port)
            try client.initialize()
            #expect(try client.receive() == .ping)
            #expect(try client.receive() == .end)
        }
    }

    // MARK: Tokens

    private static let expired = SocketClient.Frame.close(
        code: 4403, reason: "The access token has expired. Send a new one earlier.")

    @Test func anExpiredTokenClosesTheSocket() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good-300")
            try client.send(Self.subscribe("a", "subscription{endless}"))
            #expect(try client.receive() == Self.expired)
        }
    }

    @Test func aNewTokenReplacesTheEarlierOne() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            try client.send(#"{"type":"ping","payload":{"Authorization":"Bearer good-50000"}}"#)
            #expect(try client.message() == #"{"type":"pong"}"#)
            try client.send(Self.subscribe("q", "{a}"))
            #expect(try client.message().contains("token=good-50000"))
        }
    }

    /// The new token expires before the earlier one. `SocketTimersTests` covers the other order.
    @Test func theExpiryOfANewTokenApplies() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good-60000")
            try client.send(#"{"type":"ping","payload":{"Authorization":"Bearer good-100"}}"#)
            #expect(try client.message() == #"{"type":"pong"}"#)
            #expect(try client.receive() == Self.expired)
        }
    }

    @Test(arguments: ["bad", "another"])
    func aNewTokenMustBeValidAndOfTheSameSession(token: String) async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            try client.send(#"{"type":"ping","payload":{"Authorization":"Bearer \#(token)"}}"#)
            #expect(try client.closeCode() == 4403)
        }
    }

    @Test func anAnonymousSocketMayAuthenticateLater() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize()
            try client.send(#"{"type":"ping","payload":{"Authorization":"Bearer good"}}"#)
            #expect(try client.message() == #"{"type":"pong"}"#)
            try client.send(Self.subscribe("q", "{a}"))
            #expect(try client.message().contains("token=good"))
        }
    }

    @Test func theEndOfASessionClosesItsSocket() async throws {
        try await Self.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "ending")
            #expect(
                try client.receive()
                    == .close(code: 4403, reason: "The session has ended. Sign in again."))
        }
    }

    // MARK: Ends

    @Test func operationsOfDisconnectedClientsAreReleased() async throws {
        try await Self.run { port in
            for leave in 0..<3 {
                let client = try SocketClient(port: port)
                try client.initialize(token: "good")
                for id in 0..<10 {
                    try client.send(Self.subscribe("\(id)", "subscription{endless}"))
                }
                if leave == 0 { try client.close(1000) }
                if leave == 1 { client.abort() }
                if leave == 2 {
                    for id in 0..<10 { try client.send(#"{"id":"\#(id)","type":"complete"}"#) }
                }
            }
        }
    }

    @Test func aSlowReaderIsDisconnectedWithTryAgainLater() async throws {
        var limits = HTTPLimits.quick
        limits.slowReaderTimeout = .milliseconds(200)
        limits.lingeringCloseTimeout = .milliseconds(200)
        try await TestServer.run(limits: limits) { server in
            let client = try await onThread {
                let client = try SocketClient(port: server.port, receiveBufferBytes: 4096)
                try client.initialize()
                try client.send(Self.subscribe("a", "subscription{flood}"))
                return client
            }
            try await server.waitUntilIdle()
            // The client can still read what the system has buffered. The close frame may be missing.
            let code = try await onThread { (try? client.closeCode()) ?? 0 }
            #expect([0, 1013].contains(code))
        }
    }

    @Test func shutdownClosesSocketsWith1001() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try SocketClient(port: server.port)
                try client.initialize(token: "good")
                try client.send(Self.subscribe("a", "subscription{endless}"))
                return client
            }
            await server.group.triggerGracefulShutdown()
            #expect(try await onThread { try client.closeCode() } == 1001)
            try await onThread { try client.close(1001) }
            try await server.waitUntilIdle()
        }
    }
}
