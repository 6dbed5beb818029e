import Glibc
import GraphQL
import LoopbackHTTP
import SocketClient
import Synchronization
import TestBasics
import TestSupport
import Testing

/// A server that lacks descriptors or memory, whose bucket fails, or whose limits were raised too far.
@Suite struct OverloadedServerTests {
    // MARK: - Descriptors and memory

    private static func metric(_ name: String, _ text: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix(name + " ") }?
            .split(separator: " ").last.flatMap { Int($0) }
    }

    /// The dispatch library ends a process that has no descriptor left.
    @Test func connectionsNeverUseAllDescriptors() async throws {
        let limit = 256
        let server = try await Installation.ready(catalog: [])
            .startServer(by: ["prlimit", "--nofile=\(limit):\(limit)"])
        let port = server.client.port
        let metrics = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n"
        let open = try await blocking {
            // It keeps its descriptor.
            let observer = try RawClient(port: port)
            var open: [Int] = []
            func observe() throws -> String {
                try observer.send(metrics)
                let text = try observer.response().body
                open.append(try #require(Self.metric("process_open_fds", text), "\(text)"))
                return text
            }
            var clients: [RawClient] = []
            for _ in 0..<400 { clients.append(try RawClient(port: port)) }
            var text = ""
            // The library looks for its threads every second.
            for _ in 0..<30 {
                text = try observe()
                usleep(100_000)
            }
            #expect(Self.metric("bookplate_http_accept_failures_total", text) == 0)
            withExtendedLifetime(clients) {}
            return open
        }
        #expect(open.max() ?? 0 > limit / 4 && open.max() ?? limit < limit - 20, "\(open)")
        try await waitUntil("connections are accepted again") {
            try await server.client.send("GET", "/health/ready").status == 200
        }
    }

    /// The share is so small that the idle process exceeds it, or so large that it does not.
    @Test(arguments: [(percent: 1, isShort: true), (100, false)])
    func requestsAreRefusedWhileMemoryIsShort(percent: Int, isShort: Bool) async throws {
        let limit = 32 << 30
        let server = try await Installation.ready(catalog: []).startServer(
            ["BOOKPLATE_LIMITS": "memory=\(percent)"], by: ["prlimit", "--as=\(limit)"])
        if isShort {
            try await waitUntil("memory is short") {
                server.program.errors.contains("memory is short")
            }
        }
        let response = try await server.client.post("{ __typename }")
        #expect(response.status == (isShort ? 503 : 200), "\(response.body)")
        #expect(response.headers["retry-after"] == (isShort ? "5" : nil))
        #expect(
            response.json["errors", 0, "extensions"]
                == (isShort
                    ? ["code": "SERVICE_UNAVAILABLE", "retryAfter": 5, "outcome": "NOT_DONE"] : nil)
        )
        let upload = try await server.client.post(
            "{ __typename }",
            .object([.init("text", .string(String(repeating: "x", count: 200_000)))]))
        #expect(upload.status == (isShort ? 503 : 200), "\(upload.body)")
        #expect(try await server.client.send("GET", "/health/live").status == 200)
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(
            Self.metric(#"bookplate_unread_refused_total{limit="memory"}"#, metrics)
                == (isShort ? 1 : 0))
    }

    // MARK: - Buckets

    /// A bucket that keeps its objects in memory, and can fail.
    private final class FaultyBucket: Sendable {
        enum Fault: String, CaseIterable, Sendable {
            case reset, unavailable, hanging
        }

        let fault = Mutex<Fault?>(nil)
        private let objects = Mutex<[String: String]>([:])

        func steps(_ request: ReceivedRequest) -> [Step] {
            switch fault.withLock({ $0 }) {
            case .reset?: return []
            case .unavailable?:
                return [.response(503, "<Error><Code>SlowDown</Code></Error>")]
            case .hanging?: return [.pause(milliseconds: 60_000)]
            case nil: break
            }
            let name = String(request.target.prefix { $0 != "?" })
            return objects.withLock { objects in
                switch request.method {
                case "PUT":
                    objects[name] = request.body
                    return [.response(200)]
                case "POST": return [.response(200, "<DeleteResult/>")]
                default: return [objects[name].map { .response(200, $0) } ?? .response(404)]
                }
            }
        }
    }

    /// A hanging bucket is given up before the time for the whole response is over, which would be an internal error.
    @Test(arguments: FaultyBucket.Fault.allCases)
    private func failingBucketMakesCoversUnavailable(fault: FaultyBucket.Fault) async throws {
        let bucket = FaultyBucket()
        let endpoint = try LoopbackServer { bucket.steps($0) }
        let server = try await Installation.ready(catalog: []).startServer([
            "BOOKPLATE_STORAGE":
                "s3://covers?region=eu-central-1&endpoint=\(endpoint.url(""))",
            "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
        ])
        let client = server.client
        let token = try #require(try await server.signIn("patient")["accessToken"]?.string)
        let created = try await client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id image { url } } }"#, token: token)
        let book = try #require(created["data", "createBook", "id"])
        func setCover() async throws -> HTTPClient.Response {
            try await client.upload(
                TestImage.png(),
                operations: HTTPClient.operations(
                    "mutation($id: ID!, $image: Upload!) { setCover(id: $id, input: {image: $image}) { image { url } } }",
                    ["id": book, "image": .null]),
                map: #"{"0":["variables.image"]}"#, token: token)
        }
        func target(_ url: Value?) throws -> String {
            let url = try #require(url?.string)
            let start = try #require(url.firstRange(of: "://")?.upperBound)
            return String(url[start...].drop { $0 != "/" })
        }
        let card = try target(created["data", "createBook", "image", "url"])
        let stored = try await setCover()
        let cover = try target(stored.json["data", "setCover", "image", "url"])
        #expect(try await client.send("GET", cover).status == 200)

        bucket.fault.withLock { $0 = fault }
        let refused = try await setCover()
        #expect(refused.status == 503 && refused.headers["retry-after"] == "5", "\(refused.body)")
        let extensions = refused.json["errors", 0, "extensions"]
        #expect(
            extensions == ["code": "SERVICE_UNAVAILABLE", "retryAfter": 5, "outcome": "NOT_DONE"])
        for path in [cover, String(cover.prefix { $0 != "?" }), card] {
            let image = try await client.send("GET", path)
            #expect(image.status == 503 && image.headers["retry-after"] == "5", "\(image.body)")
        }
        #expect(try await client.send("GET", "/health/ready").status == 200)

        bucket.fault.withLock { $0 = nil }
        #expect(try await client.send("GET", cover).status == 200)
        #expect(try await setCover().status == 200)
    }

    // MARK: - Limits

    @Test func operationWithTooManyStatementsIsTooComplex() async throws {
        let server = try await Installation.ready(catalog: []).startServer([
            "BOOKPLATE_LIMITS": "aliases=100000,fields=100000,cost=100000,tokens=100000"
        ])
        let token = try #require(try await server.signIn("aliases")["accessToken"]?.string)
        let lists = (0..<1_001).map { "a\($0): readingGoals { id }" }
        let response = try await server.client.execute(
            "{ me { \(lists.joined(separator: " ")) } }", token: token)
        #expect(
            response["errors", 0, "extensions"]
                == ["code": "OPERATION_TOO_COMPLEX", "limit": "statementsMax", "max": 1_000],
            "\(response)")
    }
}
