import GraphQLExplorer
import NIOCore
import SocketClient
import Telemetry
import TestBasics
import Testing
import Version

@testable import GraphQLNIO
@testable import Server

@Suite struct RouteTests {
    @Test(arguments: [
        ("GET", "/", 404), ("GET", "/graphql/", 404), ("GET", "/%67raphql", 404),
        ("POST", "/health/live", 405), ("DELETE", "/graphql", 405), ("PUT", "/graphql", 405),
        ("GET", "/schema.graphql", 404), ("OPTIONS", "/nowhere", 404), ("GET", "*", 404),
        ("CONNECT", "a:1", 404),
    ])
    func errorsOfUnknownPathsAndMethodsAreJSON(method: String, path: String, status: Int)
        async throws
    {
        try await ProductServer.run { server in
            let response = try await server.send("\(method) \(path) HTTP/1.1\r\nhost: test\r\n\r\n")
            #expect(response.status == status)
            #expect(response.headers["content-type"] == "application/json; charset=utf-8")
            #expect(response.body.contains(#""extensions":{"code":""#))
            #expect((response.headers["allow"] != nil) == (status == 405))
        }
    }

    @Test func optionsOfTheWholeServerAreAnswered() async throws {
        let response = try await ProductServer.run(
            routes: { _ in [Route(.PUT, "/x") { _ in HTTPResponse(.ok) }] },
            { server in
                try await server.send(
                    "OPTIONS * HTTP/1.1\r\nhost: test\r\norigin: https://a.example\r\n\r\n")
            })
        #expect(response.status == 200)
        #expect(response.headers["content-length"] == "0")
        #expect(response.headers["allow"] == "POST, GET, PUT, HEAD, OPTIONS")
        #expect(response.headers["access-control-allow-origin"] == nil)
    }

    /// Protects against header injection by values that contain data from clients.
    @Test func lineBreaksInHeaderValuesBecomeSpaces() async throws {
        let response = try await ProductServer.run(
            routes: { _ in
                [
                    Route(.GET, "/x") { _ in
                        HTTPResponse(
                            .ok, headers: [("x", "a\r\nset-cookie: b\u{0}\tc\u{7F}é")])
                    }
                ]
            },
            { server in try await server.get("/x") })
        #expect(response.headers["x"] == "a  set-cookie: b \tc é")
        #expect(response.headers["set-cookie"] == nil)
    }

    @Test func refusedRequestsAndSocketsAreCountedByRoute() async throws {
        let metrics = Metrics()
        try await ProductServer.run(
            metrics: metrics,
            routes: { _ in
                [
                    Route(.PUT, "/x", checkHead: { _ in .refused(.unauthenticated()) }) { _ in
                        HTTPResponse(.ok)
                    }
                ]
            },
            { server in
                let response = try await server.send("PUT /x HTTP/1.1\r\nhost: a\r\n\r\n")
                #expect(response.status == 401)
                let status = try await onThread { try SocketClient(port: server.port).status }
                #expect(status == 101)
            })
        let lines = await metrics.text().split(separator: "\n")
        #expect(lines.contains(#"bookplate_http_requests_total{route="/x",status="401"} 1"#))
        #expect(lines.contains(#"bookplate_http_requests_total{route="/graphql",status="101"} 1"#))
    }

    @Test func readinessIsReported() async throws {
        try await ProductServer.run(readiness: { .notReady("the \"database\"") }) { server in
            let response = try await server.get("/health/ready")
            #expect(response.status == 503)
            #expect(
                response.body
                    == #"{"status":"unavailable","reason":"the \"database\"","version":"\#(bookplateVersion)"}"#
            )
            #expect(try await server.get("/health/live").status == 200)
        }
        try await ProductServer.run { server in
            let response = try await server.get("/health/ready")
            #expect(response.status == 200)
            #expect(response.body == #"{"status":"ready","version":"\#(bookplateVersion)"}"#)
        }
    }

    /// Load balancers need some time to notice that a server is not ready anymore.
    @Test func duringTheStopDelayTheServerIsNotReadyButServesRequests() async throws {
        var limits = HTTPLimits.quick
        // Far longer than the test. `ProductServer` cancels the server at the end.
        limits.stopDelay = .seconds(3600)
        try await ProductServer.run(limits: limits) { server in
            let idle = try await onThread {
                let client = try RawClient(port: server.port)
                try client.send("GET /health/ready HTTP/1.1\r\nhost: test\r\n\r\n")
                let response = try client.response()
                #expect(response.status == 200)
                #expect(response.headers["connection"] == nil)
                return client
            }
            await server.group.triggerGracefulShutdown()
            try await waitUntil("the server is not ready") {
                try await server.get("/health/ready").status == 503
            }
            #expect(try await server.get("/health/ready").body.contains("the server is stopping"))
            let response = try await server.post(#"{"query":"{a}"}"#)
            #expect(response.status == 200)
            #expect(response.headers["connection"] == "close")
            // A connection that was open before gets one more response.
            try await onThread {
                try idle.send(.post(#"{"query":"{a}"}"#))
                let response = try idle.response()
                #expect(response.body == "query={a}")
                #expect(response.headers["connection"] == "close")
                #expect(idle.isClosed())
            }
        }
    }

    @Test func theSchemaIsServedIfItIsConfigured() async throws {
        try await ProductServer.run(schemaText: "type Query { a: Int }") { server in
            let response = try await server.get("/schema.graphql")
            #expect(response.status == 200)
            #expect(response.body == "type Query { a: Int }")
            let tag = try #require(response.headers["etag"])
            let known = try await server.get(
                "/schema.graphql", headers: "if-none-match: \(tag)\r\n")
            #expect(known.status == 304)
            #expect(known.body.isEmpty)
        }
    }

    /// graphql-js 16 does not know `@oneOf`.
    @Test func theSchemaIsServedWithoutOneOfOnRequest() async throws {
        let text = "type Query { a(b: B): Int }\n\ninput B @oneOf {\n  c: Int\n}"
        try await ProductServer.run(schemaText: text) { server in
            let plain = try await server.get("/schema.graphql?oneOf=false")
            #expect(plain.status == 200)
            #expect(plain.body == text.replacing(" @oneOf", with: ""))
            let complete = try await server.get("/schema.graphql?oneOf=true")
            #expect(complete.body == text)
            #expect(complete.headers["etag"] != plain.headers["etag"])
            #expect(try await server.get("/schema.graphql?oneOf=maybe").status == 400)
        }
    }

    @Test func browsersGetTheExplorer() async throws {
        try await ProductServer.run { server in
            let page = try await server.get("/graphql", headers: "accept: text/html,*/*;q=0.8\r\n")
            #expect(page.status == 200)
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(
                page.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            // All files that the page loads come from this server, and their total size is small.
            var size = page.body.utf8.count
            var names = Set(page.body.matches(of: /\/explorer\/([a-z.]+)/).map { String($0.1) })
            #expect(names.isSuperset(of: ["explorer.js", "explorer.css", "codemirror.css"]))
            var loaded: Set<String> = []
            while let name = names.subtracting(loaded).first {
                let file = try await server.get("/explorer/\(name)")
                #expect(file.status == 200, "\(name)")
                size += Int(file.headers["content-length"] ?? "") ?? 0
                loaded.insert(name)
                guard name.hasSuffix(".js"), name != "codemirror.js" else { continue }
                #expect(!file.body.contains("http://") && !file.body.contains("https://"))
                for match in file.body.matches(of: /from "(?:\.|\/explorer)\/([a-z-]+\.js)"/) {
                    names.insert(String(match.1))
                }
            }
            #expect(loaded.count == Explorer.files.count)
            #expect(size < 300_000)
            for address in ["http://", "https://", "src=\"//", "<style", "style=\"", "onclick="] {
                #expect(!page.body.contains(address))
            }
        }
    }

    @Test func theExplorerCanBeDisabled() async throws {
        try await ProductServer.run(hasExplorer: false) { server in
            let response = try await server.get(
                "/graphql?query=%7Ba%7D", headers: "accept: text/html,*/*;q=0.8\r\n")
            #expect(response.body == "query={a}")
            #expect(try await server.get("/explorer/explorer.js").status == 404)
        }
    }

    @Test func routesRunOnTheirEventLoop() async throws {
        try await ProductServer.run(routes: { loop in
            [
                Route(.PUT, "/thing", bodyBytesMax: 10) { request in
                    loop.preconditionInEventLoop()
                    await Task.yield()
                    loop.preconditionInEventLoop()
                    return .text(.ok, String(buffer: request.body))
                }
            ]
        }) { server in
            let response = try await server.send(
                "PUT /thing HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\nhi")
            #expect(response.body == "hi")
        }
    }
}
