import Glibc
import NIOCore
import Testing

@testable import Server

@Suite struct LimitTests {
    @Test func refusesABodyThatSaysItIsTooLarge() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(String(repeating: " ", count: 101)))
                let response = try client.response()
                #expect(response.status == 413)
                #expect(response.body.contains(#""code":"PAYLOAD_TOO_LARGE""#))
                #expect(response.headers["connection"] == "close")
                #expect(client.isClosed())
            }
        }
    }

    @Test func countsABodyThatDoesNotSayHowLargeItIs() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "transfer-encoding: chunked\r\n\r\n")
                for _ in 1...11 { try client.send("a\r\n0123456789\r\n") }
                #expect(try client.response().status == 413)
            }
        }
    }

    @Test func takesABodyOfExactlyTheLimit() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let query = #"{"query":"{a}"}"#
            let response = try await server.post(
                query + String(repeating: " ", count: 100 - query.utf8.count))
            #expect(response.status == 200)
        }
    }

    @Test func letsARefusedClientReadWhyThoughItIsStillSending() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let status = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(.post(String(repeating: " ", count: 200_000)))
                return try client.response().status
            }
            #expect(status == 413)
        }
    }

    @Test func refusesAnExpectedBodyBeforeItIsSent() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            let response = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 99999999999999999999\r\n"
                    + "expect: 100-continue\r\n\r\n")
            #expect(response.status == 413)
        }
    }

    @Test func countsAnExpectedBodyThatDoesNotSayHowLargeItIs() async throws {
        try await TestServer.run(bodyBytesMax: 100) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
                        + "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n")
                #expect(try client.response().status == 100)
                for _ in 1...11 { try client.send("a\r\n0123456789\r\n") }
                #expect(try client.response().status == 413)
                #expect(try client.receive().isEmpty)
            }
        }
    }

    @Test func refusesAnUnknownExpectation() async throws {
        try await TestServer.run { server in
            let response = try await server.send(
                "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\nexpect: tea\r\n\r\n")
            #expect(response.status == 417)
        }
    }

    @Test(arguments: [
        "x: \(String(repeating: "a", count: 40_000))\r\n",
        (1...101).map { "x-\($0): a\r\n" }.joined(),
        (1...3).map { "x-\($0): \(String(repeating: "a", count: 30_000))\r\n" }.joined(),
    ])
    func refusesHeadersThatAreTooLarge(headers: String) async throws {
        try await TestServer.run { server in
            let response = try await server.get("/health/live", headers: headers)
            #expect(response.status == 431)
            #expect(response.body.contains("HEADERS_TOO_LARGE"))
        }
    }

    @Test func refusesAnAddressThatIsTooLong() async throws {
        try await TestServer.run { server in
            let response = try await server.get("/\(String(repeating: "a", count: 40_000))")
            #expect(response.status == 414)
            #expect(response.body.contains("URI_TOO_LONG"))
            #expect(response.headers["connection"] == "close")
        }
    }

    /// The connection preface of HTTP/2 is one of them.
    @Test(arguments: [
        "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.2\r\nhost: a\r\n\r\n",
        "GET / HTTP/0.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func refusesOtherVersionsOfHTTP(request: String) async throws {
        try await TestServer.run { server in
            let response = try await server.send(request)
            #expect(response.status == 505)
            #expect(response.body.contains("HTTP_VERSION_NOT_SUPPORTED"))
        }
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET / http/9.9\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        "GET /graphql HTTP/1.1\r\nhost : a\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
        "GET /health/live HTTP/1.1\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /graphql HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n",
    ])
    func refusesWhatIsNotHTTP(request: String) async throws {
        try await TestServer.run { server in
            let response = try await server.send(request)
            #expect(response.status == 400)
        }
    }

    @Test func endsAConnectionThatSaysNothing() async throws {
        var limits = HTTPLimits.quick
        limits.firstHeadTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET / HT")
                #expect(client.isClosed())
            }
        }
    }

    @Test func endsAnIdleConnection() async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n")
                #expect(try client.response().status == 200)
                #expect(client.isClosed())
            }
        }
    }

    @Test func tellsAClientWhoseBodyIsTooSlow() async throws {
        var limits = HTTPLimits.quick
        limits.bodyTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\n{")
                #expect(try client.response().status == 408)
                #expect(client.isClosed())
            }
        }
    }

    @Test func cancelsAnAnswerThatTakesTooLong() async throws {
        var limits = HTTPLimits.quick
        limits.responseTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            let clock = ContinuousClock()
            let start = clock.now
            let response = try await server.post(#"{"query":"{verySlow}"}"#)
            #expect(response.status == 200)
            // Its client is still there, unlike that of any other cancelled request.
            #expect(response.body == #"{"data":{"hasTimedOut":true}}"#)
            // The answer itself would take a minute.
            #expect(clock.now - start < .seconds(40))
        }
    }

    @Test func runsNothingForAClientThatDoesNotRead() async throws {
        try await TestServer.run { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(String(repeating: .post(#"{"query":"{large}"}"#), count: 20))
                return client
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(EchoService.largeAnswers.load(ordering: .relaxed) < 10)
            let count = try await onThread {
                var count = 0
                for _ in 1...20 { count += try client.response().body.utf8.count }
                return count
            }
            #expect(count == 20 * (4 << 20))
        }
    }

    @Test func endsAConnectionThatDoesNotReadItsAnswer() async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(100)
        try await TestServer.run(limits: limits) { server in
            let client = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(String(repeating: .post(#"{"query":"{huge}"}"#), count: 20))
                return client
            }
            try await Task.sleep(for: .milliseconds(500))
            let count = try await onThread {
                var count = 0
                while let bytes = try? client.receive(1 << 20), !bytes.isEmpty {
                    count += bytes.count
                }
                return count
            }
            #expect(count < 20 * (4 << 20))
        }
    }

    @Test func waitsForAClientThatReadsSlowly() async throws {
        var limits = HTTPLimits.quick
        limits.keepAliveTimeout = .milliseconds(400)
        try await TestServer.run(limits: limits) { server in
            let count = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send(String(repeating: .post(#"{"query":"{huge}"}"#), count: 2))
                var count = 0
                // At least 32 pieces of 50 ms: four times what an idle client would be given.
                while count < 8 << 20 {
                    let bytes = try client.receive(256 << 10)
                    if bytes.isEmpty { break }
                    count += bytes.count
                    usleep(50_000)
                }
                return count
            }
            #expect(count >= 8 << 20)
        }
    }

    @Test(arguments: [(1 << 20, 2, 1_047_352), (4096, 2, 2872), (1024, 2, 512), (4096, 64, 2048)])
    func keepsDescriptorsForOpenFiles(descriptorsMax: Int, loopCount: Int, connectionsMax: Int) {
        #expect(
            HTTPServer.connectionsMax(descriptorsMax: descriptorsMax, loopCount: loopCount)
                == connectionsMax)
    }

    @Test func refusesConnectionsAboveTheLimit() async throws {
        var limits = HTTPLimits.quick
        limits.connectionsMax = 2
        try await TestServer.run(limits: limits) { server in
            try await onThread {
                let clients = try (1...2).map { _ in try RawClient(port: server.port) }
                for client in clients {
                    try client.send("GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n")
                    #expect(try client.response().status == 200)
                }
                let third = try RawClient(port: server.port)
                try third.send("GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n")
                let response = try third.response()
                #expect(response.status == 503)
                #expect(response.headers["retry-after"] == "1")
                #expect(third.isClosed())
                withExtendedLifetime(clients) {}
            }
        }
    }
}
