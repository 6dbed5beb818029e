import EchoServer
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

/// Streams of responses in the formats `text/event-stream` and `multipart/mixed`, byte for byte.
@Suite struct StreamTests {
    private static let multipart = #"multipart/mixed;subscriptionSpec="1.0""#

    /// Sends a request, and returns the head and the body without its chunk framing, up to the end of the connection or
    /// of the body.
    private static func stream(
        _ port: Int, _ query: String, accept: String, token: String? = nil, get: Bool = false
    ) throws -> (head: String, body: String) {
        let client = try RawClient(port: port)
        var headers = "accept: \(accept)\r\n"
        if let token { headers += "authorization: Bearer \(token)\r\n" }
        if get {
            let query = query.replacing("{", with: "%7B").replacing("}", with: "%7D")
            try client.send("GET /graphql?query=\(query) HTTP/1.1\r\nhost: test\r\n\(headers)\r\n")
        } else {
            try client.send(
                .post(
                    #"{"query":"\#(query)"}"#,
                    headers: headers + "content-type: application/json\r\n"))
        }
        var text = ""
        while !text.hasSuffix("0\r\n\r\n") {
            let bytes = try client.receive()
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        guard let end = text.firstRange(of: "\r\n\r\n") else {
            throw RawClient.Failure(description: text)
        }
        return (text[..<end.lowerBound].lowercased(), dechunk(text[end.upperBound...]))
    }

    private static func dechunk(_ text: Substring) -> String {
        var rest = text.utf8[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 13),
            let count = Int(String(Substring(rest[..<end])), radix: 16), count > 0
        {
            let start = rest.index(end, offsetBy: 2)
            guard let stop = rest.index(start, offsetBy: count, limitedBy: rest.endIndex) else {
                break
            }
            body += rest[start..<stop]
            guard let next = rest.index(stop, offsetBy: 2, limitedBy: rest.endIndex) else { break }
            rest = rest[next...]
        }
        return String(decoding: body, as: UTF8.self)
    }

    private static func events(_ data: String...) -> String {
        ":\n\n" + data.map { "event: next\ndata: \($0)\n\n" }.joined()
            + "event: complete\ndata:\n\n"
    }

    private static func parts(_ payloads: String...) -> String {
        "\r\n--graphql"
            + (["{}"] + payloads).map {
                "\r\ncontent-type: application/json\r\n\r\n\($0)\r\n--graphql"
            }
            .joined() + "--\r\n"
    }

    @Test(arguments: [false, true])
    func subscriptionsAreSentAsEventStreams(get: Bool) async throws {
        try await TestServer.run { server in
            let (head, body) = try await onThread {
                try Self.stream(
                    server.port, "subscription{three}", accept: "text/event-stream", get: get)
            }
            #expect(head.contains("200 ok"))
            #expect(head.contains("content-type: text/event-stream"))
            #expect(head.contains("cache-control: no-store"))
            #expect(
                body
                    == Self.events(
                        #"{"data":{"n":1}}"#, #"{"data":{"n":2}}"#, #"{"data":{"n":3}}"#))
            try await server.waitUntilIdle()
        }
    }

    @Test(arguments: [false, true])
    func queriesAreSentAsEventStreamsIfNothingElseIsAccepted(get: Bool) async throws {
        try await TestServer.run { server in
            for (query, response) in [
                ("{a}", "query={a}"), ("{wrong}", #"{"errors":[{"message":"wrong"}]}"#),
            ] {
                let (head, body) = try await onThread {
                    try Self.stream(server.port, query, accept: "text/event-stream", get: get)
                }
                #expect(head.contains("200 ok"))
                #expect(body == Self.events(response))
            }
        }
    }

    @Test(arguments: [
        #"multipart/mixed;subscriptionSpec="1.0",application/json"#,
        "multipart/mixed;subscriptionSpec=1.0,application/graphql-response+json,application/json",
        "multipart/mixed;boundary=graphql;subscriptionSpec=1.0",
        "application/json, Multipart/Mixed; SubscriptionSpec=1.0",
    ])
    func subscriptionsAreSentAsMultipartForApollo(accept: String) async throws {
        try await TestServer.run { server in
            let (head, body) = try await onThread {
                try Self.stream(server.port, "subscription{three}", accept: accept)
            }
            #expect(
                head.contains(
                    #"content-type: multipart/mixed;boundary="graphql";subscriptionspec="1.0""#))
            #expect(
                body
                    == Self.parts(
                        #"{"payload":{"data":{"n":1}}}"#, #"{"payload":{"data":{"n":2}}}"#,
                        #"{"payload":{"data":{"n":3}}}"#))
            try await server.waitUntilIdle()
        }
    }

    @Test(arguments: [
        "multipart/mixed;subscriptionSpec=1.0,application/graphql-response+json,application/json",
        "application/json, text/event-stream",
        "application/graphql-response+json, application/json, text/event-stream, multipart/mixed",
    ])
    func queriesHaveASingleResponseIfItIsAccepted(accept: String) async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{a}"}"#,
                headers: "accept: \(accept)\r\ncontent-type: application/json\r\n")
            #expect(response.status == 200)
            #expect(response.body == "query={a}")
            #expect(response.headers["content-type"]?.contains("json") == true)
        }
    }

    /// A client that prefers an event stream gets one, also for a query or a mutation.
    @Test(arguments: ["{a}", "mutation{a}", "{wrong}"])
    func preferredEventStreamIsSent(query: String) async throws {
        try await TestServer.run { server in
            for accept in [
                "text/event-stream;q=1, application/json;q=0.1",
                "text/event-stream, application/json;q=0.5",
                "application/graphql-response+json;q=0.001, text/event-stream;q=0.002",
                "text/event-stream, */*;q=0.1", "text/event-stream, application/json;q=0",
            ] {
                let (head, body) = try await onThread {
                    try Self.stream(server.port, query, accept: accept)
                }
                #expect(head.contains("content-type: text/event-stream"), "\(accept)")
                #expect(body.contains("event: next\ndata: "))
            }
        }
    }

    /// With equal weights, and with `multipart/mixed`, weights do not turn a single response into a stream.
    @Test(arguments: ["{a}", "mutation{a}", "{wrong}"])
    func weightsDoNotTurnASingleResponseIntoAStream(query: String) async throws {
        try await TestServer.run { server in
            for accept in [
                "text/event-stream, application/json",
                "text/event-stream;q=0.5, application/graphql-response+json;q=0.5",
                "text/event-stream;q=0.5, application/json;q=0.4, */*;q=0.6, application/graphql-response+json",
                "multipart/mixed, application/json;q=0.5",
                "multipart/mixed;subscriptionSpec=1.0, */*;q=0.1",
            ] {
                let response = try await server.post(
                    #"{"query":"\#(query)"}"#,
                    headers: "accept: \(accept)\r\ncontent-type: application/json\r\n")
                #expect(response.headers["content-type"]?.hasPrefix("application/") == true)
                #expect(response.headers["transfer-encoding"] == nil)
            }
        }
    }

    @Test(arguments: [
        "application/json, text/event-stream;q=0.1",
        "application/json;q=0.2, text/event-stream;q=0.1, multipart/mixed;subscriptionSpec=1.0;q=0",
    ])
    func subscriptionsAreStreamsRegardlessOfWeights(accept: String) async throws {
        try await TestServer.run { server in
            let (head, _) = try await onThread {
                try Self.stream(server.port, "subscription{three}", accept: accept)
            }
            #expect(head.contains("content-type: text/event-stream"))
        }
    }

    @Test func otherMultipartsAreNotAcceptable() async throws {
        try await TestServer.run { server in
            let response = try await server.post(
                #"{"query":"{a}"}"#,
                headers:
                    "accept: multipart/mixed;deferSpec=20200101\r\ncontent-type: application/json\r\n"
            )
            #expect(response.status == 406)
        }
    }

    @Test func aMutationByGETIsRefusedWithoutAStream() async throws {
        try await TestServer.run { server in
            let response = try await server.get(
                "/graphql?query=mutation%7Ba%7D", headers: "accept: text/event-stream\r\n")
            #expect(response.status == 405)
            #expect(response.headers["allow"] == "POST")
        }
    }

    @Test func anErrorOfTheSourceIsSentAndCompletesTheStream() async throws {
        try await TestServer.run { server in
            let events = try await onThread {
                try Self.stream(server.port, "subscription{fails}", accept: "text/event-stream")
            }
            #expect(events.body == Self.events(#"{"errors":[{"message":"it broke"}]}"#))
            let parts = try await onThread {
                try Self.stream(server.port, "subscription{fails}", accept: Self.multipart)
            }
            #expect(
                parts.body == Self.parts(#"{"payload":null,"errors":[{"message":"it broke"}]}"#))
        }
    }

    @Test(arguments: [
        ("text/event-stream", ":\n\n"),
        (multipart, "\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql"),
    ])
    func heartbeatsAreSentOnAnIdleStream(accept: String, heartbeat: String) async throws {
        var limits = HTTPLimits.quick
        limits.heartbeatInterval = .milliseconds(40)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    .post(
                        #"{"query":"subscription{endless}"}"#,
                        headers: "accept: \(accept)\r\ncontent-type: application/json\r\n"))
                var text = ""
                // The stream starts with one heartbeat. Receiving fails if no others follow.
                while text.ranges(of: heartbeat).count < 3 {
                    let bytes = try client.receive()
                    try #require(!bytes.isEmpty)
                    text += String(decoding: bytes, as: UTF8.self)
                }
            }
            try await server.waitUntilIdle()
        }
    }

    @Test(arguments: ["good-200", "ending", "bad"])
    func theEndOfTheSessionEndsTheStream(token: String) async throws {
        try await TestServer.run { server in
            for (accept, end) in [
                ("text/event-stream", "event: complete\ndata:\n\n"),
                (Self.multipart, "--graphql--\r\n"),
            ] {
                let (_, body) = try await onThread {
                    try Self.stream(
                        server.port, "subscription{endless}", accept: accept, token: token)
                }
                #expect(body.contains(#""code":"UNAUTHENTICATED""#))
                #expect(body.hasSuffix(end))
            }
            try await server.waitUntilIdle()
        }
    }

    @Test func streamsOfDisconnectedAndSlowClientsAreReleased() async throws {
        var limits = HTTPLimits.quick
        limits.slowReaderTimeout = .milliseconds(200)
        limits.lingeringCloseTimeout = .milliseconds(100)
        limits.keepAliveTimeout = .milliseconds(200)
        try await TestServer.run(limits: limits) { server in
            for query in ["subscription{endless}", "subscription{flood}"] {
                let client = try await onThread {
                    let client = try RawClient(port: server.port)
                    try client.send(
                        .post(
                            #"{"query":"\#(query)"}"#,
                            headers:
                                "accept: text/event-stream\r\ncontent-type: application/json\r\n"))
                    _ = try client.receive(16)
                    if query == "subscription{endless}" { client.finishSending() }
                    return client
                }
                try await server.waitUntilIdle()
                _ = client
            }
        }
    }

    @Test func shutdownEndsStreamsWithoutCompletingThem() async throws {
        try await TestServer.run { server in
            let stream = Task {
                try await onThread {
                    try Self.stream(
                        server.port, "subscription{endless}", accept: "text/event-stream")
                }
            }
            try await waitUntil("the stream is open") { server.gauges.streams > 0 }
            await server.group.triggerGracefulShutdown()
            let body = try await stream.value.body
            #expect(body == ":\n\n")
        }
    }

    /// HTTP/1.0 has no chunks, so the body ends with the connection.
    @Test func theConnectionClosesAfterAStreamOverHTTP10() async throws {
        try await TestServer.run { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                let body = #"{"query":"subscription{three}"}"#
                try client.send(
                    "POST /graphql HTTP/1.0\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n"
                        + "content-length: \(body.utf8.count)\r\n\r\n\(body)")
                var text = ""
                while case let bytes = try client.receive(), !bytes.isEmpty {
                    text += String(decoding: bytes, as: UTF8.self)
                }
                #expect(!text.contains("transfer-encoding"))
                #expect(
                    text.hasSuffix(
                        "\r\n\r\n"
                            + Self.events(
                                #"{"data":{"n":1}}"#, #"{"data":{"n":2}}"#, #"{"data":{"n":3}}"#)))
            }
        }
    }
}
