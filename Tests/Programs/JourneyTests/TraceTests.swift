import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestBasics
import TestSupport
import Testing

/// The traces that a server exports to a collector by OTLP/HTTP.
@Suite struct TraceTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let caller = "b7ad6b7169203331"

    private static func collector(status: Int = 200) throws -> LoopbackServer {
        try LoopbackServer { _ in [.response(status, "{}")] }
    }

    /// Returns the spans that a collector has received, oldest first.
    private static func spans(_ collector: LoopbackServer) throws -> [Value] {
        try collector.requests.flatMap { request in
            let body = try parseJSON(Array(request.body.utf8))
            return (body["resourceSpans"]?.list ?? []).flatMap { resource in
                (resource["scopeSpans"]?.list ?? []).flatMap { $0["spans"]?.list ?? [] }
            }
        }
    }

    private static func attribute(_ name: String, of span: Value) -> Value? {
        let value = span["attributes"]?.list?.first { $0["key"] == .string(name) }?["value"]
        return value?["stringValue"] ?? value?["intValue"]
    }

    @Test func requestsAreExportedWithTheirOperations() async throws {
        let collector = try Self.collector()
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_TRACES_URL": collector.url("/v1/traces")
        ])
        let token = try await server.signIn("traced")["accessToken"]?.string
        _ = try await server.client.send(
            "POST", "/graphql", token: token,
            body: #"{"query":"query Mine { me { books(search: \"SECRET\") { totalCount } } }"}"#,
            headers: ["traceparent": "00-\(Self.traceID)-\(Self.caller)-01"])
        func mine() throws -> [Value] {
            try Self.spans(collector).filter { $0["traceId"] == .string(Self.traceID) }
        }
        try await waitUntil("the spans are exported") { try mine().count == 2 }
        let spans = try mine()
        let request = try #require(spans.first { $0["name"] == "POST /graphql" })
        let operation = try #require(spans.first { $0["name"] == "query" })
        #expect(request["parentSpanId"] == .string(Self.caller))
        #expect(operation["parentSpanId"] == request["spanId"])
        #expect(Self.attribute("graphql.operation.name", of: operation) == "Mine")
        #expect(Self.attribute("graphql.operation.type", of: operation) == "query")
        #expect(Self.attribute("http.response.status_code", of: request) == "200")
        #expect(Self.attribute("http.route", of: request) == "/graphql")
        for span in spans {
            #expect(span["kind"] == 2)
            let start = Int(span["startTimeUnixNano"]?.string ?? "") ?? 0
            let end = Int(span["endTimeUnixNano"]?.string ?? "") ?? 0
            #expect(start > 1_700_000_000_000_000_000 && end >= start)
        }
        let sent = try #require(collector.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.target == "/v1/traces")
        #expect(sent.headers["content-type"] == "application/json")
        #expect(sent.headers["traceparent"] == nil)
        #expect(sent.body.contains(#""service.name""#))
        #expect(!collector.requests.contains { $0.body.contains("SECRET") })
    }

    /// A trusted proxy decides for the server, too.
    @Test func callersDecideWhetherTheirRequestsAreRecorded() async throws {
        let collector = try Self.collector()
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_TRACES_URL": collector.url("/v1/traces"), "BOOKPLATE_TRACES_SHARE": "0",
            "BOOKPLATE_TRUSTED_PROXIES": "127.0.0.1",
        ])
        for flags in ["00", "01"] {
            _ = try await server.client.send(
                "POST", "/graphql", body: #"{"query":"{ __typename }"}"#,
                headers: ["traceparent": "00-\(Self.traceID)-\(Self.caller)-\(flags)"])
        }
        _ = try await server.client.execute("{ __typename }")
        try await waitUntil("the spans are exported") { try Self.spans(collector).count >= 2 }
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(metrics.contains("\nbookplate_trace_spans_total 2\n"))
    }

    /// Spans are sent again after a temporary failure, and when the server stops.
    @Test func spansOutliveAFailureOfTheCollector() async throws {
        let isBroken = Atomic(true)
        let collector = try LoopbackServer { _ in
            [.response(isBroken.load(ordering: .relaxed) ? 503 : 200, "{}")]
        }
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_TRACES_URL": collector.url("/v1/traces")
        ])
        _ = try await server.client.execute("{ __typename }")
        try await waitUntil("the collector has refused the spans") { !collector.requests.isEmpty }
        #expect(try await server.client.execute("{ __typename }")["data", "__typename"] == "Query")
        isBroken.store(false, ordering: .relaxed)
        let refusedCount = collector.requests.count
        server.program.send(SIGTERM)
        _ = try await blocking { try server.program.wait() }
        #expect(collector.requests.count > refusedCount)
        let last = try #require(try Self.spans(collector).last)
        #expect(last["name"] == "POST /graphql" || last["name"] == "query")
        #expect(server.program.errors.contains("the collector did not accept spans"))
    }

    /// Without a collector, requests work as before, and the memory for spans is limited.
    @Test func requestsDoNotNeedTheCollector() async throws {
        let port = try LoopbackServer.closedPort()
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_TRACES_URL": "http://127.0.0.1:\(port)/v1/traces"
        ])
        for _ in 0..<20 {
            #expect(
                try await server.client.execute("{ __typename }")["data", "__typename"] == "Query")
        }
        let metrics = try await server.client.send("GET", "/metrics").body
        // Two spans of each operation, and those of requests without an operation.
        let count = metrics.firstMatch(of: /\nbookplate_trace_spans_total (\d+)\n/).flatMap {
            Int($0.1)
        }
        #expect((count ?? 0) >= 40)
        #expect(metrics.contains("\nbookplate_trace_spans_dropped_total 0\n"))
    }
}
