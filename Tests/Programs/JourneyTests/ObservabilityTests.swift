import GraphQL
import LoopbackHTTP
import TestBasics
import TestSupport
import Testing
import Version

/// Metrics, logs, and explanations of a running server, and what they must not reveal.
@Suite struct ObservabilityTests {
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func metricsCountRequestsAndErrors() async throws {
        let server = try await Installation.ready(catalog: []).startServer()
        let token = try await server.signIn("counted")["accessToken"]?.string
        for _ in 0..<3 { _ = try await server.client.execute("{ me { id } }", token: token) }
        _ = try await server.client.execute("{ me { id } }")
        _ = try await server.client.send(
            "POST", "/graphql", body: #"{"query": "{ nonsense }"}"#,
            headers: ["accept": "application/graphql-response+json"])
        _ = try await server.client.send("GET", "/nothing/at/all")
        let response = try await server.client.send("GET", "/metrics")
        #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = response.body.split(separator: "\n")
        func value(_ name: String) -> Int? {
            lines.first { $0.hasPrefix(name + " ") }?.split(separator: " ").last.flatMap { Int($0) }
        }
        #expect(value(#"bookplate_http_requests_total{route="/graphql",status="200"}"#) == 5)
        #expect(value(#"bookplate_http_requests_total{route="/graphql",status="400"}"#) == 1)
        #expect(value(#"bookplate_http_requests_total{route="none",status="404"}"#) == 1)
        #expect(value(#"bookplate_operation_duration_seconds_count{kind="query"}"#) == 4)
        #expect(value(#"bookplate_operation_duration_seconds_count{kind="mutation"}"#) == 1)
        #expect(value("bookplate_requests_refused_total") == 1)
        #expect(value(#"bookplate_errors_total{code="UNAUTHENTICATED"}"#) == 1)
        #expect((value("bookplate_database_connections") ?? 0) > 0)
        #expect(value(#"bookplate_build_info{version="\#(bookplateVersion)"}"#) == 1)
        // Paths and other text from requests never become labels.
        #expect(!response.body.contains("nothing/at"))
    }

    /// Background jobs leave a fifth of a source's budget to readers. `/metrics` shows how much of it is used.
    @Test func sourceBudgetsAreEnforcedAndExported() async throws {
        let source = try LoopbackServer { _ in [.response(404, "{}")] }
        let installation = try await Installation.ready(catalog: TestCatalog.lines(8))
        let server = try await installation.startServer([
            "BOOKPLATE_ISBNDB_URL": source.url(""), "BOOKPLATE_ISBNDB_KEY": "key",
            "BOOKPLATE_SOURCE_BUDGETS": "isbndb=5", "BOOKPLATE_LOG_FORMAT": "json",
        ])
        // The job that fetches covers of the catalog takes five editions. Jobs may use four fifths of the budget of
        // five requests, so the fifth request is refused.
        try await waitUntil("the job has used its share of the budget") {
            try await server.client.send("GET", "/metrics").body.contains(
                #"bookplate_source_refusals_total{source="isbndb",reason="budget"} 1"#)
        }
        #expect(source.requests.count == 4)
        let token = try await server.signIn("budget")["accessToken"]?.string
        func lookUp(_ number: Int) async throws -> Value {
            try await server.client.execute(
                "query($i: String!) { lookupISBN(isbn: $i) { id } }",
                ["i": .string(TestCatalog.isbn(number))], token: token)
        }
        let last = try await lookUp(1001)
        #expect(last["errors"] == nil && last["data", "lookupISBN"] == .null, "\(last)")
        let refused = try await lookUp(1002)
        #expect(refused["errors", 0, "extensions", "code"] == "UPSTREAM_UNAVAILABLE", "\(refused)")
        #expect(source.requests.count == 5)
        let metrics = try await server.client.send("GET", "/metrics").body.split(separator: "\n")
        for line in [
            #"bookplate_source_budget_used{source="isbndb"} 5"#,
            #"bookplate_source_budget_limit{source="isbndb"} 5"#,
            #"bookplate_source_requests_total{source="isbndb"} 5"#,
            #"bookplate_source_refusals_total{source="isbndb",reason="budget"} 2"#,
            #"bookplate_source_circuit_state{source="isbndb"} 0"#,
        ] {
            #expect(metrics.contains { $0 == line }, "\(line)")
        }
        #expect(server.program.errors.contains("the daily budget of a source is used up"))
    }

    @Test func slowOperationsAreLoggedWithoutTheirContent() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_SLOW_OPERATION_MS": "1", "BOOKPLATE_LOG_FORMAT": "json",
        ])
        let token = try await server.signIn("slow")["accessToken"]?.string
        // The query waits for a lock, so it takes longer than the limit of 1 ms.
        let query = #"query Waiting { me { books(search: "SECRET-TITLE") { nodes { title } } } }"#
        let response = try await installation.database.withConnection { connection in
            try connection.execute("BEGIN; LOCK TABLE books")
            let response = Task {
                try await server.client.send(
                    "POST", "/graphql", token: token, body: #"{"query":\#(Browser.quoted(query))}"#,
                    headers: ["x-request-id": "my-request", "traceparent": Self.trace])
            }
            try waitUntilBlocking("the request waits for the lock") {
                try connection.query("SELECT FROM pg_locks WHERE NOT granted").count > 0
            }
            try connection.execute("COMMIT")
            return response
        }
        #expect(try await response.value.headers["x-request-id"] == "my-request")
        let log = server.program.errors
        let line = try #require(
            log.split(separator: "\n").first {
                $0.contains("slow operation") && $0.contains("my-request")
            })
        let entry = try parseJSON(Array(line.utf8))
        #expect(entry["operation"] == "Waiting")
        #expect(entry["kind"] == "query")
        #expect(entry["document_hash"]?.string?.count == 64)
        #expect(entry["trace_id"] == "0af7651916cd43dd8448eb211c80319c")
        for name in [
            "milliseconds", "planning_milliseconds", "execution_milliseconds", "statements",
            "round_trips", "time", "level",
        ] {
            #expect(entry[name] != nil, "\(name)")
        }
        // Each line is JSON, and none contains a token or a title.
        for line in log.split(separator: "\n") {
            #expect(throws: Never.self) { try parseJSON(Array(line.utf8)) }
        }
        #expect(!log.contains("SECRET-TITLE"))
        #expect(!log.contains(token ?? "no token"))
    }

    @Test func theAccessLogNamesTheClientAndTheOperation() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_ACCESS_LOG": "on", "BOOKPLATE_LOG_FORMAT": "json",
            "BOOKPLATE_TRUSTED_PROXIES": "127.0.0.1",
        ])
        _ = try await server.client.send(
            "POST", "/graphql", body: #"{"query":"query Name { __typename }"}"#,
            headers: ["x-request-id": "my-request", "x-forwarded-for": "2001:db8::1"])
        let line = try #require(
            server.program.errors.split(separator: "\n").first { $0.contains("my-request") })
        let entry = try parseJSON(Array(line.utf8))
        #expect(entry["client"] == "2001:db8::1")
        #expect(entry["operation"] == "Name")
    }

    @Test func metricsHaveTheFreeSpaceOfTheStorage() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let line = try #require(
            try await server.client.send("GET", "/metrics").body.split(separator: "\n").first {
                $0.hasPrefix("bookplate_storage_free_bytes ")
            })
        #expect((line.split(separator: " ").last.flatMap { Int($0) } ?? 0) > 0)
    }

    @Test func explanationsAreReturnedOnRequestInDevelopmentOnly() async throws {
        let installation = try await Installation.ready(catalog: [])
        let body = #"{"query":"{ me { id shelves { name } } }","extensions":{"explain":true}}"#
        let server = try await installation.startServer()
        let token = try await server.signIn("curious")["accessToken"]?.string
        let explained = try await server.client.send("POST", "/graphql", token: token, body: body)
            .json
        let explanation = try #require(explained["extensions", "explain"])
        #expect(explanation["roundTrips"]?.list?.isEmpty == false)
        #expect(
            explanation["roundTrips", 0, "statements"]?.list?.contains {
                $0.string?.contains("FROM shelves") == true
            } == true
        )
        for phase in ["parse", "validate", "plan", "execute", "database"] {
            #expect(explanation["microseconds"]?[phase]?.int != nil)
        }
        // Round trips at the same time do not count twice.
        let parallel = try await server.client.send(
            "POST", "/graphql", token: token,
            body:
                #"{"query":"{ search(query: \"dune\") { nodes { id } } feed { nodes { id } } genres { id } me { id } }","extensions":{"explain":true}}"#
        ).json["extensions", "explain", "microseconds"]
        #expect(try #require(parallel?["database"]?.int) <= #require(parallel?["execute"]?.int))
        #expect(try await server.client.execute("{ me { id } }", token: token)["extensions"] == nil)

        let production = try await installation.startServer([
            "BOOKPLATE_ENV": "production",
            "BOOKPLATE_SESSION_KEYS": "\(installation.folder)/.bookplate/session-keys",
        ])
        let response = try await production.client.send(
            "POST", "/graphql", token: token, body: body
        )
        .json
        #expect(response["data", "me", "id"] != nil)
        #expect(response["extensions"] == nil)
    }

    @Test func guestsThatLinkAnIdentityAreCountedOnce() async throws {
        let installation = try await Installation.ready(catalog: [])
        let allowed = try await installation.admin("tenant", "update", "reader", "--guests", "on")
        #expect(allowed.code == 0, "\(allowed.errors)")
        let server = try await installation.startServer()
        let guest = try await server.client.execute(
            TestApp.signInAsGuest, ["app": "com.example.reader"])
        let identity = try await server.client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"ada","audience":"com.example.reader"}"#)
        for _ in 0..<2 {
            let linked = try await server.client.execute(
                "mutation($token: String!) { linkIdentity(input: {apple: {identityToken: $token}}) { isGuest } }",
                ["token": identity.json["identityToken"] ?? .null],
                token: guest["data", "signInAsGuest", "accessToken"]?.string)
            #expect(linked["data", "linkIdentity", "isGuest"] == false, "\(linked)")
        }
        let metrics = try await server.client.send("GET", "/metrics").body
        #expect(metrics.contains(#"bookplate_guests_ended_total{reason="upgraded"} 1"#))
    }
}
