import GraphQL
import TestSupport
import Testing

/// Assistants sign in by OAuth: they learn from the endpoint for tools where the authorization server is.
@Suite struct AssistantSignInTests {
    private static let server = Shared {
        let server = try await OAuthServer.start(allowsTools: true)
        let file = try server.installation.write(
            #"{"add": "mutation AddBook($title: String!) { createBook(input: {title: $title}) { title } }"}"#,
            to: "manifest.json")
        try await server.installation.run(["documents", "sync", file])
        return server
    }

    private static func metadata(_ path: String) async throws -> HTTPClient.Response {
        try await server().client.send(
            "GET", "/.well-known/oauth-protected-resource\(path)",
            headers: ["origin": "https://app.example"])
    }

    /// The tenant "other" has OAuth, but does not allow tools.
    @Test(arguments: [
        ("", ["reader", "other"]), ("/mcp", ["reader"]), ("/mcp/reader", ["reader"]),
    ])
    func metadataNamesTheAuthorizationServers(path: String, tenants: [String]) async throws {
        let server = try await Self.server()
        let response = try await Self.metadata(path)
        #expect(response.status == 200, "\(response.body)")
        #expect(response.headers["content-type"] == "application/json")
        #expect(response.headers["access-control-allow-origin"] == "*")
        #expect(response.json["resource"] == .string(server.url + path))
        #expect(
            response.json["authorization_servers"]
                == .list(tenants.map { .string("\(server.url)/oauth/\($0)") }))
        #expect(response.json["bearer_methods_supported"] == ["header"])
        #expect(
            response.json["scopes_supported"] == [
                "library:read", "library:write", "progress", "feed", "account",
            ])
    }

    @Test(arguments: [
        "//", "/mc", "/mcp/", "/mcp/other", "/mcp/nobody", "/mcp/reader/", "/mcp/reader/x",
        "/graphql",
        "/mcp/Reader", "//mcp", "/mcp?x=%00",
    ])
    func otherResourcesHaveNoMetadata(path: String) async throws {
        #expect(try await Self.metadata(path).status == (path == "/mcp?x=%00" ? 200 : 404))
    }

    /// There is no metadata of the tools of the tenant "other".
    @Test(arguments: [("/mcp", true), ("/mcp/reader", true), ("/mcp/other", false)])
    func refusedRequestsNameTheMetadata(path: String, hasMetadata: Bool) async throws {
        let server = try await Self.server()
        let reader = try await server.reader()
        for token in [nil, "bp_unknown", reader] as [String?] {
            let response = try await server.client.send(
                "POST", path, token: token,
                bytes: Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
            #expect(response.status == 401)
            let header = try #require(response.headers["www-authenticate"])
            #expect(
                header.hasSuffix(
                    #"resource_metadata="\#(server.url)/.well-known/oauth-protected-resource\#(path)""#
                ) == hasMetadata)
            #expect(header.contains("resource_metadata") == hasMetadata)
        }
    }

    @Test func tokenCallsOnlyToolsOfItsTenant() async throws {
        let server = try await Self.server()
        let app = try await server.addApp()
        let (_, tokens) = try await server.connect(app, to: try await server.reader())
        for (path, status) in [
            ("", 200), ("/reader", 200), ("/other", 401), ("/x", 401), ("/", 401),
        ] {
            let response = try await server.client.send(
                "POST", "/mcp\(path)", token: tokens.access,
                bytes: Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
            #expect(response.status == status, "\(path)")
        }
    }

    /// The official client gets only the URL, and finds everything else.
    @Test(arguments: ["/mcp", "/mcp/reader"], [true, false])
    func officialClientSignsIn(path: String, isPublic: Bool) async throws {
        let server = try await Self.server()
        var metadata: [Value.Member] = [
            .init("redirect_uris", ["http://localhost:3030/callback"]),
            .init("grant_types", ["authorization_code", "refresh_token"]),
        ]
        if isPublic { metadata.append(.init("token_endpoint_auth_method", "none")) }
        var writer = ResponseWriter()
        writer.write(.object(metadata))
        let outcome = try await PythonEnvironment.assistants().run(
            "python",
            [
                "\(TestCluster.project)/Tests/Programs/JourneyTests/Clients/mcp_oauth_client.py",
                server.url + path, try await server.reader(),
                String(decoding: writer.bytes, as: UTF8.self),
            ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let printed = try parseJSON(Array(outcome.output.utf8))
        #expect(printed["tools"] == ["AddBook"])
        #expect(printed["added"] == ["createBook": ["title": "Emma"]])
        #expect(printed["refreshed"] == true)
        #expect(printed["clientName"] == "Unnamed app")
        let scopes: Value = "library:read library:write progress feed account"
        #expect(printed["requestedScope"] == scopes)
        #expect(printed["grantedScope"] == scopes)
    }
}
