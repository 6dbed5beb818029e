import EchoServer
import GraphQL
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

/// Responses with `@defer` or `@stream` over HTTP and WebSockets.
@Suite struct IncrementalDeliveryTests {
    @Test(
        arguments: [
            ("multipart/mixed", .draft, nil),
            ("application/json, multipart/mixed", .draft, nil),
            ("application/json;q=0.5, multipart/mixed;q=0.5", .draft, nil),
            ("multipart/mixed;q=0.1, text/html", .draft, nil),
            (
                "multipart/mixed;incrementalSpec=v0.2,application/json", .draft,
                "incrementalSpec=v0.2"
            ),
            (
                "multipart/mixed; incrementalDeliverySpec=3283f8a", .draft,
                "incrementalDeliverySpec=3283f8a"
            ),
            (
                "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9",
                .apollo2022, "deferSpec=20220824"
            ),
            (
                #"multipart/mixed;boundary="-";deferSpec="20220824""#, .apollo2022,
                "deferSpec=20220824"
            ),
        ] as [(String, IncrementalFormat, String?)])
    func formatIsNegotiated(accept: String, format: IncrementalFormat, parameter: String?) {
        let formats = Negotiation.streams(accept: accept)
        #expect(formats.incremental == .incrementalMultipart(format, parameter: parameter))
        #expect(formats.events == nil)
    }

    @Test(arguments: [
        nil, "*/*", "application/json", "multipart/*", "multipart/mixed;q=0",
        "multipart/mixed;deferSpec=20200101", "multipart/mixed;incrementalSpec=v9",
        "multipart/mixed;subscriptionSpec=1.0", "application/json, multipart/mixed;q=0.1",
        "multipart/mixed;q=0.999, application/graphql-response+json", "multipart/mixed;q=0.5, */*",
        "application/json, text/event-stream;q=0.9, multipart/mixed;q=0.8",
    ])
    func otherFormatsAreNotIncremental(accept: String?) {
        #expect(Negotiation.streams(accept: accept).incremental == nil)
    }

    @Test func eventStreamsCanHaveEventsAndParts() {
        let formats = Negotiation.streams(
            accept: "text/event-stream, multipart/mixed;subscriptionSpec=1.0")
        #expect(formats.events == .eventStream)
        #expect(formats.incremental == .eventStream)
    }

    private static func post(_ query: String, accept: String, id: String = "r") -> String {
        .post(
            #"{"query":"\#(query)"}"#,
            headers:
                "content-type: application/json\r\naccept: \(accept)\r\nx-request-id: \(id)\r\n")
    }

    /// Returns everything that the server sends until the end of the body.
    private static func receive(_ request: String, port: Int) throws -> String {
        let client = try RawClient(port: port)
        try client.send(request)
        var text = ""
        while !text.hasSuffix("0\r\n\r\n") {
            let bytes = try client.receive()
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    @Test func partsAreSentAsMultipart() async throws {
        try await TestServer.run { server in
            let text = try await onThread {
                try Self.receive(
                    Self.post(
                        "{deferred}", accept: "multipart/mixed;deferSpec=20220824,application/json"),
                    port: server.port)
            }
            #expect(
                text.lowercased().contains(
                    #"content-type: multipart/mixed;boundary="-";deferspec=20220824"#))
            let head = "\r\ncontent-type: application/json; charset=utf-8\r\n\r\n"
            #expect(text.contains("\r\n---"))
            #expect(text.contains(head + #"{"part":1}"# + "\r\n---"))
            #expect(
                text.contains(
                    head
                        + #"{"part":2,"format":"apollo2022","isReleased":true,"hasTimedOut":false}"#
                        + "\r\n---"))
            #expect(text.contains("--\r\n"))
            try await server.waitUntilIdle()
        }
    }

    @Test func partsAreSentAsEvents() async throws {
        try await TestServer.run { server in
            let text = try await onThread {
                try Self.receive(
                    Self.post("{deferred}", accept: "text/event-stream"), port: server.port)
            }
            #expect(text.contains("event: next\ndata: {\"part\":1}\n\n"))
            #expect(text.contains("event: next\ndata: {\"part\":2,\"format\":\"draft\""))
            #expect(text.contains("event: complete\ndata:\n\n"))
        }
    }

    @Test(arguments: ["application/json", "*/*", "multipart/mixed;subscriptionSpec=1.0, */*"])
    func clientsThatDoNotAcceptPartsGetSingleResponse(accept: String) async throws {
        try await TestServer.run { server in
            let response = try await server.send(Self.post("{deferred}", accept: accept))
            #expect(response.body == "query={deferred}")
        }
    }

    /// The first part arrives while the second one is not known.
    @Test func partsAreSentAtOnce() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    Self.post("{deferredHeld}", accept: "multipart/mixed", id: "held-part"))
                var text = ""
                while !text.contains(#"{"part":1}"#) {
                    text += String(decoding: try client.receive(), as: UTF8.self)
                }
                return client
            }
            try await EchoService.started("held-part")
            EchoService.release("held-part")
            try await onThread {
                var text = ""
                while !text.contains(#""isReleased":true"#) {
                    text += String(decoding: try client.receive(), as: UTF8.self)
                }
            }
        }
    }

    @Test func disconnectedClientCancelsRemainingParts() async throws {
        try await TestServer.run { server in
            // The connection is closed when the client is released.
            var client: RawClient? = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    Self.post("{deferredHeld}", accept: "multipart/mixed", id: "lost-part"))
                return client
            }
            try await EchoService.started("lost-part")
            withExtendedLifetime(client) {}
            client = nil
            try await waitUntil("the request is cancelled") {
                EchoService.isCancelled("lost-part")
            }
            try await server.waitUntilIdle()
        }
    }

    /// The remaining parts are sent with the errors of the cancelled task.
    @Test func partsThatTakeTooLongAreCancelled() async throws {
        var limits = HTTPLimits.quick
        limits.responseTimeout = .milliseconds(300)
        try await TestServer.run(limits: limits) { server in
            let text = try await onThread {
                try Self.receive(
                    Self.post("{deferredHeld}", accept: "multipart/mixed", id: "late-part"),
                    port: server.port)
            }
            #expect(text.contains(#""isReleased":false,"hasTimedOut":true}"#))
            #expect(text.contains("--\r\n"))
        }
    }

    @Test func partsOfSocketThatTakeTooLongAreCancelled() async throws {
        var limits = HTTPLimits.quick
        limits.responseTimeout = .milliseconds(300)
        try await WebSocketTests.run(limits: limits) { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            try client.send(
                #"{"id":"d","type":"subscribe","payload":{"query":"{deferredHeld}"}}"#)
            #expect(try client.message() == #"{"id":"d","type":"next","payload":{"part":1}}"#)
            #expect(
                try client.message().contains(#""isReleased":false,"hasTimedOut":true}"#))
            #expect(try client.message() == #"{"id":"d","type":"complete"}"#)
            try client.close(1000)
        }
    }

    @Test func socketDeliversFewResponsesInPartsAtOnce() async throws {
        var limits = HTTPLimits.quick
        limits.incrementalOperationsPerSocketMax = 1
        try await WebSocketTests.run(limits: limits) { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            for id in ["1", "2"] {
                try client.send(
                    #"{"id":"\#(id)","type":"subscribe","payload":{"query":"{deferredHeld}"}}"#)
            }
            #expect(try client.message() == #"{"id":"1","type":"next","payload":{"part":1}}"#)
            // The second one has a single part.
            #expect(
                try client.message()
                    .hasPrefix(#"{"id":"2","type":"next","payload":query={deferredHeld}"#))
            #expect(try client.message() == #"{"id":"2","type":"complete"}"#)
            // Cancelling the first one makes room.
            try client.send(#"{"id":"1","type":"complete"}"#)
            try client.send(
                #"{"id":"3","type":"subscribe","payload":{"query":"{deferred}"}}"#)
            #expect(try client.message() == #"{"id":"3","type":"next","payload":{"part":1}}"#)
            try client.close(1000)
        }
    }

    @Test func partsAreMessagesOfSocket() async throws {
        try await WebSocketTests.run { port in
            let client = try SocketClient(port: port)
            try client.initialize(token: "good")
            try client.send(
                #"{"id":"d","type":"subscribe","payload":{"query":"{deferred}"}}"#)
            #expect(try client.message() == #"{"id":"d","type":"next","payload":{"part":1}}"#)
            #expect(
                try client.message().hasPrefix(
                    #"{"id":"d","type":"next","payload":{"part":2,"format":"draft""#))
            #expect(try client.message() == #"{"id":"d","type":"complete"}"#)
            try client.close(1000)
        }
    }
}
