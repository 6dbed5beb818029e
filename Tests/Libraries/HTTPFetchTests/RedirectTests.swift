import LoopbackHTTP
import Testing

@testable import HTTPFetch

private func fetcher(allow: String = "127.0.0.1") throws -> Fetcher {
    Fetcher(
        policy: FetchPolicy(userAgent: "test", allowed: try FetchAllowList(parsing: allow)))
}

private func error(_ fetcher: Fetcher, _ request: FetchRequest) async -> FetchError? {
    do throws(FetchError) {
        _ = try await fetcher.fetch(request)
        return nil
    } catch { return error }
}

@Suite struct RedirectTests {
    @Test(arguments: [
        ("/end", "/end"), ("end", "/a/end"), ("../end?x=1#y", "/end?x=1"), ("//HOST/end", "/end"),
        ("http://HOST/end", "/end"), ("/with space", "/with%20space"), ("?q", "/a/start?q"),
    ])
    func followsEveryFormOfLocationHeader(location: String, expected: String) async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/a/start" else { return [.response(200, "end")] }
            let host = request.headers["host"] ?? ""
            return [
                .response(302, headers: ["Location: \(location.replacing("HOST", with: host))"])
            ]
        }
        let response = try await fetcher().fetch(FetchRequest(url: server.url("/a/start")))
        #expect(response.body == Array("end".utf8))
        #expect(server.requests.last?.target == expected)
        #expect(response.url == server.url(expected))
    }

    @Test func failsAfterTooManyRedirects() async throws {
        let server = try LoopbackServer { request in
            let number = Int(request.target.dropFirst()) ?? 0
            return number == 5
                ? [.response(200)] : [.response(301, headers: ["Location: /\(number + 1)"])]
        }
        let fetcher = try fetcher()
        #expect(try await fetcher.fetch(FetchRequest(url: server.url("/0"))).status == 200)
        #expect(await error(fetcher, FetchRequest(url: server.url("/-1"))) == .tooManyRedirects)
    }

    @Test func returnsTheRedirectIfNoneMayBeFollowed() async throws {
        let server = try LoopbackServer { _ in [.response(302, headers: ["Location: /b"])] }
        let response = try await fetcher().fetch(FetchRequest(url: server.url(), redirectsMax: 0))
        #expect(response.status == 302)
        #expect(server.requests.count == 1)
    }

    @Test func checksTheAddressOfEveryHop() async throws {
        let inside = try LoopbackServer { _ in [.response(200, "secret")] }
        let outside = try LoopbackServer { _ in
            [.response(302, headers: ["Location: \(inside.url())"])]
        }
        // Only the name of the first server is permitted.
        let found = await error(
            try fetcher(allow: "localhost"),
            FetchRequest(url: "http://localhost:\(outside.port)/"))
        #expect(found == .addressRefused)
        #expect(outside.requests.count == 1)
        #expect(inside.requests.isEmpty)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_x", "dict://127.0.0.1/",
        "http://user:secret@127.0.0.1/", "javascript:alert(1)", "http://",
    ])
    func rejectsInvalidTargets(location: String) async throws {
        let server = try LoopbackServer { _ in [.response(302, headers: ["Location: \(location)"])]
        }
        #expect(await error(try fetcher(), FetchRequest(url: server.url())) == .redirectRefused)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "x=1"),
        (308, "POST", "x=1"),
    ])
    func keepsOrChangesTheMethod(status: Int, method: String, body: String) async throws {
        let server = try LoopbackServer { request in
            request.target == "/" ? [.response(status, headers: ["Location: /b"])] : [.response()]
        }
        _ = try await fetcher().fetch(FetchRequest(url: server.url(), method: .form([("x", "1")])))
        let last = try #require(server.requests.last)
        #expect(last.target == "/b")
        #expect(last.method == method)
        #expect(last.body == body)
    }

    @Test func sendsNoCredentialsToAnotherOrigin() async throws {
        let other = try LoopbackServer { _ in [.response()] }
        let server = try LoopbackServer { request in
            request.target == "/"
                ? [.response(302, headers: ["Location: /same"])]
                : [.response(302, headers: ["Location: \(other.url())"])]
        }
        _ = try await fetcher().fetch(
            FetchRequest(
                url: server.url(),
                headers: [
                    ("Authorization", "Bearer secret"), ("X-Key", "secret"), ("Accept", "a/b"),
                ]))
        #expect(
            server.requests.map { $0.headers["authorization"] } == [
                "Bearer secret", "Bearer secret",
            ])
        let headers = try #require(other.requests.first).headers
        #expect(headers["authorization"] == nil)
        #expect(headers["x-key"] == nil)
        #expect(headers["accept"] == "a/b")
    }

    @Test func staysAtTheOriginIfRequested() async throws {
        let other = try LoopbackServer { _ in [.response()] }
        let server = try LoopbackServer { request in
            request.target == "/"
                ? [.response(302, headers: ["Location: /same"])]
                : [.response(302, headers: ["Location: \(other.url("/a"))"])]
        }
        let request = FetchRequest(url: server.url(), staysAtOrigin: true)
        #expect(await error(try fetcher(), request) == .movedAway(to: other.url("/a")))
        #expect(server.requests.count == 2)
        #expect(other.requests.isEmpty)
    }

    @Test func sendsNoBodyToAnotherOrigin() async throws {
        let other = try LoopbackServer { _ in [.response()] }
        let server = try LoopbackServer { _ in
            [.response(307, headers: ["Location: \(other.url())"])]
        }
        let request = FetchRequest(url: server.url(), method: .form([("client_secret", "s")]))
        #expect(await error(try fetcher(), request) == .redirectRefused)
        #expect(other.requests.isEmpty)
    }
}
