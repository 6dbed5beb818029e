import Glibc
import LoopbackHTTP
import Synchronization
import Telemetry
import Testing

@testable import HTTPFetch

private func fetcher(allow: String = "127.0.0.1", transfersMax: Int = 256) throws -> Fetcher {
    Fetcher(
        policy: FetchPolicy(
            userAgent: "bookplate-test (ops@example.com)",
            allowed: try FetchAllowList(parsing: allow), transfersMax: transfersMax))
}

private func error(
    _ fetcher: Fetcher, _ request: FetchRequest
) async -> FetchError? {
    do throws(FetchError) {
        _ = try await fetcher.fetch(request)
        return nil
    } catch { return error }
}

@Suite struct FetcherTests {
    @Test func getsStatusHeadersAndBody() async throws {
        let server = try LoopbackServer { _ in
            [
                .response(
                    404, headers: ["X-Thing:  a b ", "Cache-Control: public, max-age=90"],
                    "<p>no</p>")
            ]
        }
        let response = try await fetcher().fetch(
            FetchRequest(url: server.url("/a?b=c#d"), headers: [("Accept", "text/html")]))
        #expect(response.status == 404)
        #expect(response.header("x-thing") == "a b")
        #expect(response.maxAgeSeconds == 90)
        #expect(response.body == Array("<p>no</p>".utf8))
        #expect(response.url == server.url("/a?b=c"))
        let request = try #require(server.requests.first)
        #expect(request.method == "GET")
        #expect(request.target == "/a?b=c")
        #expect(request.headers["user-agent"] == "bookplate-test (ops@example.com)")
        #expect(request.headers["accept"] == "text/html")
        #expect(request.headers["accept-encoding"] == "identity")
    }

    /// https://www.w3.org/TR/trace-context/
    @Test func sendsTheTraceOfTheCurrentRequest() async throws {
        let server = try LoopbackServer { _ in [.response(204)] }
        let trace = try #require(
            TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        let fetcher = try fetcher()
        _ = try await fetcher.fetch(FetchRequest(url: server.url()))
        _ = try await TraceParent.$current.withValue(trace) {
            try await fetcher.fetch(FetchRequest(url: server.url()))
        }
        #expect(server.requests.map { $0.headers["traceparent"] } == [nil, trace.header])
    }

    @Test func postsFormsAndJSON() async throws {
        let server = try LoopbackServer { _ in [.response(204)] }
        let fetcher = try fetcher()
        _ = try await fetcher.fetch(
            FetchRequest(
                url: server.url(), method: .form([("a b", "ü&=+~"), ("c", ""), ("d", "1-2_3.4*")])))
        _ = try await fetcher.fetch(
            FetchRequest(url: server.url(), method: .json(Array("{\"a\":1}".utf8))))
        _ = try await fetcher.fetch(
            FetchRequest(url: server.url(), method: .post(body: [], contentType: "text/plain")))
        let requests = server.requests
        #expect(requests.map(\.body) == ["a+b=%C3%BC%26%3D%2B%7E&c=&d=1-2_3.4*", "{\"a\":1}", ""])
        #expect(
            requests.map { $0.headers["content-type"] } == [
                "application/x-www-form-urlencoded", "application/json", "text/plain",
            ])
        #expect(requests.allSatisfy { $0.method == "POST" })
    }

    @Test(arguments: [
        "", "/relative", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/",
        "http://user:secret@127.0.0.1/", "http://user@127.0.0.1/", "http://",
        "http://[fe80::1%25lo]/", "http://a\u{0}b/", "http://a b/", "http://exämple.com/",
        "http://127.0.0.1:99999/", "javascript:alert(1)", "http://a\r\nHost: b/",
        "http://127.0.0.1/" + String(repeating: "a", count: 8192),
    ])
    func rejectsInvalidURLs(url: String) async throws {
        #expect(await error(try fetcher(), FetchRequest(url: url)) == .invalidURL)
    }

    @Test(arguments: [
        ("X-A", "b\r\nX-C: d"), ("X-A\r\nX-B", "c"), ("X A", "b"), ("", "b"), ("X-A:", "b"),
        ("X-A", "b\u{0}"),
    ])
    func rejectsInvalidHeaders(name: String, value: String) async throws {
        let request = FetchRequest(url: "http://127.0.0.1/", headers: [(name, value)])
        #expect(await error(try fetcher(), request) == .invalidRequest)
    }

    @Test(arguments: [
        "http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://0x7f.1:PORT/",
        "http://2130706433:PORT/", "http://0177.0.0.1:PORT/", "http://0.0.0.0:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/", "http://[::]:PORT/", "http://127.1:PORT/",
    ])
    func rejectsPrivateAddressesInAnyNotation(url: String) async throws {
        let server = try LoopbackServer { _ in [.response()] }
        let url = url.replacing("PORT", with: "\(server.port)")
        #expect(await error(try fetcher(allow: ""), FetchRequest(url: url)) == .addressRefused)
        #expect(server.requests.isEmpty)
    }

    @Test func permitsAHostByItsName() async throws {
        let server = try LoopbackServer { _ in [.response()] }
        let fetcher = try fetcher(allow: "localhost")
        let response = try await fetcher.fetch(
            FetchRequest(url: "http://localhost:\(server.port)/"))
        #expect(response.status == 200)
        // The same address is not permitted under another name.
        #expect(await error(fetcher, FetchRequest(url: server.url())) == .addressRefused)
        #expect(server.requests.count == 1)
    }

    @Test func ignoresProxiesInTheEnvironment() async throws {
        let server = try LoopbackServer { _ in [.response(200, "direct")] }
        let proxy = try LoopbackServer { _ in [.response(200, "proxy")] }
        setenv("http_proxy", proxy.url(), 1)
        defer { unsetenv("http_proxy") }
        let response = try await fetcher().fetch(FetchRequest(url: server.url()))
        #expect(response.body == Array("direct".utf8))
        #expect(proxy.requests.isEmpty)
    }

    @Test func reportsARefusedConnection() async throws {
        let unused = try ReservedPort()
        let request = FetchRequest(url: "http://127.0.0.1:\(unused.port)/")
        #expect(await error(try fetcher(), request) == .connectionFailed)
        withExtendedLifetime(unused) {}
    }

    @Test func reportsUnknownHost() async throws {
        let request = FetchRequest(url: "http://nowhere.invalid/")
        #expect(await error(try fetcher(), request) == .hostNotFound)
    }
}

@Suite(.timeLimit(.minutes(2))) struct FetcherLimitTests {
    @Test func rejectsABodyByItsAnnouncedLength() async throws {
        let server = try LoopbackServer { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"),
                .pause(milliseconds: 60_000),
            ]
        }
        let request = FetchRequest(url: server.url(), bodyBytesMax: 1000)
        #expect(await error(try fetcher(), request) == .tooLarge)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n",
    ])
    func rejectsABodyOfUnknownLengthAboveTheLimit(head: String) async throws {
        let server = try LoopbackServer { _ in
            [.send(head), .flood(String(repeating: "x", count: 4096), bytes: 1 << 30)]
        }
        let request = FetchRequest(url: server.url(), bodyBytesMax: 100_000)
        #expect(await error(try fetcher(), request) == .tooLarge)
    }

    @Test func acceptsABodyOfExactlyTheLimit() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1000))]
        }
        let response = try await fetcher().fetch(
            FetchRequest(url: server.url(), bodyBytesMax: 1000))
        #expect(response.body.count == 1000)
    }

    @Test(arguments: [
        "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 201 Created\r\nContent-Length: 1073741824\r\n\r\n",
    ])
    func truncatesALongBodyIfRequested(head: String) async throws {
        let server = try LoopbackServer { _ in
            [.send(head), .flood(String(repeating: "x", count: 4096), bytes: 1 << 30)]
        }
        let response = try await fetcher().fetch(
            FetchRequest(url: server.url(), bodyBytesMax: 100, truncatesBody: true))
        #expect(response.status == 201)
        #expect(response.body == Array(repeating: UInt8(ascii: "x"), count: 100))
    }

    @Test(
        arguments: [
            ("120", 120.0), ("0", 0), ("-1", nil), ("soon", nil), ("99999999999", 86_400),
            ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Thu, 01 Jan 2099 00:00:00 GMT", 86_400),
        ] as [(String, Double?)])
    func parsesRetryAfterAsSecondsOrADate(text: String, expected: Double?) {
        #expect(FetchResponse.retryAfter(text).map { $0 / .seconds(1) } == expected)
    }

    @Test func rejectsEndlessHeaders() async throws {
        let server = try LoopbackServer { _ in
            [
                .send("HTTP/1.1 200 OK\r\n"),
                .flood("X-A: aaaaaaaaaaaaaaaaaaaaaaa\r\n", bytes: 1 << 20),
            ]
        }
        #expect(await error(try fetcher(), FetchRequest(url: server.url())) == .tooLarge)
    }

    /// Without the deadline, the response would be complete after a minute.
    @Test func enforcesTheDeadlineWhileBytesArrive() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")]
                + Array(repeating: [.send("x"), .pause(milliseconds: 100)], count: 600).joined()
        }
        let request = FetchRequest(url: server.url(), deadline: .milliseconds(400))
        #expect(await error(try fetcher(), request) == .timedOut)
    }

    @Test func oneDeadlineCoversAllRedirects() async throws {
        let server = try LoopbackServer { request in
            [.pause(milliseconds: 250), .response(302, headers: ["Location: \(request.target)a"])]
        }
        let request = FetchRequest(
            url: server.url(), deadline: .milliseconds(600), redirectsMax: 20)
        #expect(await error(try fetcher(), request) == .timedOut)
        #expect(server.requests.count <= 3)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ])
    func reportsTruncatedResponses(bytes: String) async throws {
        let server = try LoopbackServer { _ in [.send(bytes)] }
        #expect(await error(try fetcher(), FetchRequest(url: server.url())) == .interrupted)
    }

    @Test func rejectsResponsesThatAreNotHTTP() async throws {
        let server = try LoopbackServer { _ in [.send("SSH-2.0-OpenSSH_9.2\r\n")] }
        let found = await error(try fetcher(), FetchRequest(url: server.url()))
        #expect(found == .notHTTP)
    }

    @Test func limitsTheTransfersInFlight() async throws {
        let isOpen = Mutex(false)
        let server = try LoopbackServer { _ in
            while !isOpen.withLock({ $0 }) { usleep(1000) }
            return [.response()]
        }
        let fetcher = try fetcher(transfersMax: 2)
        async let first = error(fetcher, FetchRequest(url: server.url(), deadline: .seconds(60)))
        async let second = error(fetcher, FetchRequest(url: server.url(), deadline: .seconds(60)))
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await error(fetcher, FetchRequest(url: server.url())) == .overloaded)
        isOpen.withLock { $0 = true }
        #expect(await first == nil)
        #expect(await second == nil)
        // A finished transfer frees capacity.
        #expect(await error(fetcher, FetchRequest(url: server.url())) == nil)
    }
}

@Suite(.timeLimit(.minutes(2))) struct FetcherCancellationTests {
    @Test func cancellingTheTaskEndsTheTransfer() async throws {
        let server = try LoopbackServer { _ in [.pause(milliseconds: 60_000), .response()] }
        let fetcher = try fetcher()
        let task = Task {
            await error(fetcher, FetchRequest(url: server.url(), deadline: .seconds(50)))
        }
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func taskCancelledBeforeTheCallSendsNothing() async throws {
        let server = try LoopbackServer { _ in [.response()] }
        let fetcher = try fetcher()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error(fetcher, FetchRequest(url: server.url()))
        }
        #expect(await task.value == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test func transferCancelledBeforeItsStartFails() async throws {
        let server = try LoopbackServer { _ in [.response()] }
        let loop = FetchLoop(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        defer { loop.stop() }
        let id = loop.nextID()
        loop.cancel(id)
        let result = await withCheckedContinuation { (continuation: FetchLoop.Continuation) in
            loop.start(
                Hop(
                    url: server.url(), host: "127.0.0.1", method: .get, headers: [],
                    timeoutMilliseconds: 5000, connectTimeoutMilliseconds: 5000, bodyBytesMax: 0),
                id: id, continuation)
        }
        #expect(throws: FetchError.cancelled) { try result.get() }
    }

    @Test func allTransfersEndWhenCancelledAtDifferentTimes() async throws {
        let server = try LoopbackServer { _ in [.pause(milliseconds: 20), .response()] }
        let fetcher = try fetcher()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let task = Task { await error(fetcher, FetchRequest(url: server.url())) }
                    try? await Task.sleep(for: .microseconds(index * 400))
                    task.cancel()
                    let found = await task.value
                    #expect(found == nil || found == .cancelled)
                }
            }
        }
        #expect(await error(fetcher, FetchRequest(url: server.url())) == nil)
    }

    @Test func transferContinuesAfterTheLastReferenceToTheFetcher() async throws {
        let server = try LoopbackServer { _ in [.pause(milliseconds: 200), .response()] }
        let response = try await fetcher().fetch(FetchRequest(url: server.url()))
        #expect(response.status == 200)
    }
}
