import GraphQL
import TestSupport
import Testing

/// Invalid requests over HTTP get a clear error with the right code, and the server keeps running.
@Suite struct BadRequestTests {
    static let server = Shared {
        try await Installation.ready().startServer(["BOOKPLATE_LIMITS": "body=20000"])
    }
    static let reader = Shared { try await BadRequestTests.server().signIn("reader") }

    @Test(arguments: [
        "", "{", "nonsense", "[]", "null", "5", #"{"query": 5}"#, "{}",
        #"{"query": "{ me { id } }", "variables": []}"#,
        #"{"query": "{ me { id } }"} trailing"#, "{\"query\": \"\u{1}\"}", #"{"query": "\ud800"}"#,
        String(repeating: "[", count: 10_000),
    ])
    func malformedBodiesAreRefused(body: String) async throws {
        let response = try await Self.server().client.send("POST", "/graphql", body: body)
        #expect(response.status == 400)
        let errors = try #require(response.json["errors"]?.list, "\(response.body)")
        #expect(errors.count >= 1)
        #expect(errors.allSatisfy { $0["message"]?.string?.isEmpty == false })
        #expect(response.json["data"] == nil)
    }

    @Test func bodiesOverTheLimitAreRefused() async throws {
        let query = "{ __typename }" + String(repeating: " ", count: 20_000)
        let response = try await Self.server().client.post(query)
        #expect(response.status == 413)
        #expect(response.json["errors", 0, "extensions", "code"] == "PAYLOAD_TOO_LARGE")
    }

    @Test(arguments: [
        ("{ me { id ", "GRAPHQL_PARSE_FAILED"), ("{ me { id } } }", "GRAPHQL_PARSE_FAILED"),
        ("{ me { password } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ me }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ book(id: 1.5) { id } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ book { id } }", "GRAPHQL_VALIDATION_FAILED"),
        (#"mutation { createShelf(input: {name: 5}) { id } }"#, "GRAPHQL_VALIDATION_FAILED"),
        (
            #"mutation { createShelf(input: {name: "A", colour: "red"}) { id } }"#,
            "GRAPHQL_VALIDATION_FAILED"
        ),
        (
            #"mutation { updateBook(id: "x", input: {status: BURNT}) { id } }"#,
            "GRAPHQL_VALIDATION_FAILED"
        ),
    ])
    func invalidDocumentsAreRefused(query: String, code: String) async throws {
        let token = try await Self.reader()["accessToken"]?.string
        let response = try await Self.server().client.post(query, token: token)
        #expect(
            response.json["errors", 0, "extensions", "code"] == .string(code), "\(response.body)")
        #expect(response.json["errors", 0, "locations", 0, "line"] == 1)
        #expect(response.json["data"] == nil)
    }

    @Test(
        arguments: [
            ["name": 5], ["name": .null], [:], ["name": ["a": "b"]],
            ["name": "A", "colour": "red"], "text", [["name": "A"], ["name": "B"]],
        ] as [Value])
    func variablesOfTheWrongTypeAreRefused(input: Value) async throws {
        let token = try await Self.reader()["accessToken"]?.string
        let response = try await Self.server().client.execute(
            "mutation($input: CreateShelfInput!) { createShelf(input: $input) { id } }",
            ["input": input], token: token)
        #expect(response["errors"]?.list?.isEmpty == false)
        #expect(response["data"] == nil)
    }

    @Test(arguments: [nil, "", "nonsense", "a.b.c"] as [String?])
    func requestsWithoutAValidTokenAreUnauthenticated(token: String?) async throws {
        let response = try await Self.server().client.post("{ me { id } }", token: token)
        #expect(response.json["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        #expect(response.json["errors", 0, "message"] == "Sign in and try again.")
        #expect(response.json["data"] == .null)
    }

    @Test func accessTokensAreRefusedAfterSigningOut() async throws {
        let server = try await Self.server()
        let token = try await server.signIn("leaver")["accessToken"]?.string
        #expect(
            try await server.client.execute("mutation { signOut { endedSessions } }", token: token)[
                "data", "signOut", "endedSessions"]
                == 1)
        let response = try await server.client.execute("{ me { id } }", token: token)
        #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
    }

    @Test(arguments: [
        #"mutation { createShelf(input: {name: "  "}) { id } }"#,
        #"mutation { createBook(input: {title: ""}) { id } }"#,
        "{ me { books(first: 101) { totalCount } } }",
    ])
    func inputErrorsNameTheField(query: String) async throws {
        let token = try await Self.reader()["accessToken"]?.string
        let response = try await Self.server().client.execute(query, token: token)
        #expect(response["errors", 0, "extensions", "code"] == "BAD_USER_INPUT")
        #expect(response["errors", 0, "extensions", "field"]?.string != nil)
        #expect(response["errors", 0, "path", 0]?.string != nil)
    }

    @Test func getRequestsRunOnlyQueries() async throws {
        let server = try await Self.server()
        let token = try await Self.reader()["accessToken"]?.string
        let accept = ["accept": "application/graphql-response+json"]
        let good = try await server.client.send(
            "GET", "/graphql?query=%7B__typename%7D", token: token, headers: accept)
        #expect(good.status == 200)
        #expect(good.json == ["data": ["__typename": "Query"]])
        let bad = try await server.client.send(
            "GET", "/graphql?query=mutation%7BsignOut%7BendedSessions%7D%7D", token: token,
            headers: accept)
        #expect(bad.status == 405)
        #expect(try await server.client.execute("{ me { id } }", token: token)["errors"] == nil)
    }

    @Test(arguments: [
        "/development/identity-token", "/graphql/", "/nothing", "/../etc/passwd", "/health",
    ])
    func unknownPathsAreRefused(path: String) async throws {
        let response = try await Self.server().client.send("GET", path)
        #expect([404, 405].contains(response.status))
    }

    @Test(arguments: [
        "", "{}", #"{"subject":1,"audience":"a"}"#, #"{"subject":"a\u0000b","audience":"a"}"#,
    ])
    func developmentTokensRequireValidInput(body: String) async throws {
        let response = try await Self.server().client.send(
            "POST", "/development/identity-token", body: body)
        #expect(response.status == 400)
    }

    /// A page whose host name resolves to this machine (DNS rebinding) sends its own host name.
    @Test func developmentAudiencesRequireALocalHost() async throws {
        let client = try await Self.server().client
        let audiences = try await client.send("GET", "/development/audiences")
        #expect(audiences.json == ["audiences": ["com.example.reader"]])
        let other = try await client.send(
            "GET", "/development/audiences", headers: ["host": "pages.example"])
        #expect(other.status == 400)
        #expect(!other.body.contains("com.example.reader"))
    }
}
