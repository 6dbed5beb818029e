import GraphQL
import TestSupport
import Testing

/// Apps that register themselves, the metadata of the server, and calls from pages of other origins.
@Suite struct RegistrationTests {
    private static let server = Shared { try await OAuthServer.start() }

    private static func register(
        _ server: OAuthServer, _ metadata: Value, tenant: String = "reader"
    ) async throws -> HTTPClient.Response {
        var writer = ResponseWriter()
        writer.write(metadata)
        return try await server.client.send(
            "POST", "/oauth/register/\(tenant)", bytes: writer.bytes)
    }

    @Test func registeredAppIsShownAsUnchecked() async throws {
        let server = try await Self.server()
        let response = try await Self.register(
            server,
            [
                "client_name": "Quick Tool", "redirect_uris": [.string(OAuthServer.callback)],
                "token_endpoint_auth_method": "none", "scope": "library:read",
                "grant_types": ["authorization_code", "refresh_token"],
            ])
        #expect(response.status == 201, "\(response.body)")
        #expect(response.json["client_secret"] == nil)
        #expect(response.json["scope"] == "library:read")
        let app = OAuthServer.App(
            id: response.json["client_id"]?.string ?? "", secret: nil, tenant: "reader",
            redirectURI: OAuthServer.callback)
        let page = try await server.openPage(app)
        #expect(page.html.contains(#"<p class="warning">"#))
        let reader = try await server.reader()
        let request = try await server.client.execute(
            "query($code: String!) { authorizationRequest(code: $code) { isSelfRegistered } }",
            ["code": .string(page.code)], token: reader)
        #expect(request["data", "authorizationRequest", "isSelfRegistered"] == true)
        let more = try await server.authorize(
            OAuthServer.authorizeFields(app, scope: "library:write"))
        // The operator has not checked the redirect URI, so an error does not send the browser there.
        #expect(more.status == 400)
        #expect(more.headers["location"] == nil)
    }

    @Test func confidentialAppGetsASecret() async throws {
        let server = try await Self.server()
        let response = try await Self.register(
            server,
            ["client_name": "Web Tool", "redirect_uris": [.string(OAuthServer.callback)]])
        let app = OAuthServer.App(
            id: response.json["client_id"]?.string ?? "",
            secret: response.json["client_secret"]?.string, tenant: "reader",
            redirectURI: OAuthServer.callback)
        #expect(app.secret?.hasPrefix("bps_") == true)
        let (_, tokens) = try await server.connect(app, to: try await server.reader())
        #expect(try await server.error(of: tokens.access) == nil)
    }

    @Test(
        arguments: [
            (
                ["client_name": 1, "redirect_uris": ["https://a.example/"]],
                "invalid_client_metadata"
            ),
            (
                ["client_name": " ", "redirect_uris": ["https://a.example/"]],
                "invalid_client_metadata"
            ),
            (["redirect_uris": ["evil://a.example/"]], "invalid_redirect_uri"),
            (["redirect_uris": ["javascript://a.example/%0aalert(1)"]], "invalid_redirect_uri"),
            (
                ["redirect_uris": ["https://a.example/"], "response_types": ["token"]],
                "invalid_client_metadata"
            ),
            (
                ["redirect_uris": ["https://a.example/"], "grant_types": ["refresh_token"]],
                "invalid_client_metadata"
            ),
            (["client_name": "A"], "invalid_redirect_uri"),
            (["client_name": "A", "redirect_uris": []], "invalid_redirect_uri"),
            (
                ["client_name": "A", "redirect_uris": ["http://a.example/"]],
                "invalid_redirect_uri"
            ),
            (["client_name": "A", "redirect_uris": ["javascript:x"]], "invalid_redirect_uri"),
            (["client_name": "A", "redirect_uris": ["data:text/html,x"]], "invalid_redirect_uri"),
            (
                ["client_name": "A", "redirect_uris": "https://a.example/"],
                "invalid_client_metadata"
            ),
            (["client_name": "A", "redirect_uris": [1]], "invalid_client_metadata"),
            (
                ["client_name": "a\nb", "redirect_uris": ["https://a.example/"]],
                "invalid_client_metadata"
            ),
            (
                ["client_name": "a\u{202E}b", "redirect_uris": ["https://a.example/"]],
                "invalid_client_metadata"
            ),
            (
                [
                    "client_name": "A", "redirect_uris": ["https://a.example/"],
                    "grant_types": ["password"],
                ], "invalid_client_metadata"
            ),
            (
                [
                    "client_name": "A", "redirect_uris": ["https://a.example/"],
                    "token_endpoint_auth_method": "private_key_jwt",
                ], "invalid_client_metadata"
            ),
            (
                ["client_name": "A", "redirect_uris": ["https://a.example/"], "scope": "admin"],
                "invalid_scope"
            ),
            (["A"], "invalid_client_metadata"),
        ] as [(Value, String)])
    func invalidMetadataIsRefused(metadata: Value, error: String) async throws {
        let response = try await Self.register(try await Self.server(), metadata)
        #expect(response.status == 400)
        #expect(response.json["error"] == .string(error), "\(response.body)")
    }

    /// General clients send no name, and values that this server does not support. The response says what remains.
    @Test(
        arguments: [
            (["redirect_uris": ["https://a.example/callback"]], "a.example"),
            (["redirect_uris": ["http://localhost:3030/callback"]], "Unnamed app"),
            (["redirect_uris": ["http://127.0.0.1/"], "client_name": .null], "Unnamed app"),
            (
                ["redirect_uris": ["com.example.app:/callback"], "client_name": ""],
                "com.example.app"
            ),
            (
                [
                    "redirect_uris": [
                        "http://[::1]:1/", "cursor://anysphere.cursor-mcp/oauth/callback",
                    ]
                ], "cursor"
            ),
            (
                [
                    "redirect_uris": ["https://a.example/"], "client_name": "A",
                    "scope": "openid library:read offline_access", "contacts": .null,
                    "grant_types": ["authorization_code", "refresh_token", "implicit"],
                    "response_types": ["code", "token"],
                ], "A"
            ),
        ] as [(Value, String)])
    func generalClientsCanRegister(metadata: Value, name: String) async throws {
        // Five registrations a minute are allowed.
        let server = try await OAuthServer.start()
        let response = try await Self.register(server, metadata)
        #expect(response.status == 201, "\(response.body)")
        #expect(response.json["client_name"] == .string(name))
        #expect(response.json["response_types"] == ["code"])
        if metadata["scope"] != nil {
            #expect(response.json["scope"] == "library:read")
            #expect(response.json["grant_types"] == ["authorization_code", "refresh_token"])
        }
    }

    @Test func unknownScopesAreLeftOut() async throws {
        let server = try await Self.server()
        let app = try await server.addApp()
        let (_, tokens) = try await server.connect(
            app, to: try await server.reader(), scope: "offline_access library:read openid")
        #expect(tokens.scope == "library:read")
        let unknown = try await server.authorize(
            OAuthServer.authorizeFields(app, scope: "offline_access"))
        #expect(unknown.headers["location"]?.contains("error=invalid_scope") == true)
    }

    @Test func registrationIsOffByDefault() async throws {
        let server = try await Self.server()
        let metadata: Value = ["client_name": "A", "redirect_uris": ["https://a.example/"]]
        #expect(try await Self.register(server, metadata, tenant: "other").status == 404)
    }

    @Test func registrationsAreLimitedByAddress() async throws {
        let server = try await OAuthServer.start()
        let metadata: Value = ["client_name": "A", "redirect_uris": ["https://a.example/"]]
        var statuses: [Int] = []
        for _ in 0..<6 { statuses.append(try await Self.register(server, metadata).status) }
        #expect(statuses == [201, 201, 201, 201, 201, 429])
    }

    // MARK: - Metadata

    @Test(arguments: ["reader", "other"])
    func metadataDescribesTheTenant(tenant: String) async throws {
        let server = try await Self.server()
        let response = try await server.client.send(
            "GET", "/.well-known/oauth-authorization-server/oauth/\(tenant)")
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == "application/json")
        let metadata = response.json
        #expect(metadata["issuer"] == .string("\(server.url)/oauth/\(tenant)"))
        for name in ["authorization", "token", "revocation", "device_authorization"] {
            let url = metadata["\(name)_endpoint"]?.string ?? ""
            #expect(url.hasPrefix("\(server.url)/oauth/") && url.hasSuffix("/\(tenant)"))
        }
        #expect((metadata["registration_endpoint"] != nil) == (tenant == "reader"))
        #expect(metadata["code_challenge_methods_supported"] == ["S256"])
        #expect(metadata["authorization_response_iss_parameter_supported"] == true)
        #expect(metadata["ui_locales_supported"] == ["en", "de", "fr", "es", "ja"])
    }

    @Test(arguments: ["", "oauth/nobody", "reader", "oauth/reader/x", "oauth/"])
    func metadataOfUnknownIssuersIsNotFound(path: String) async throws {
        let response = try await Self.server().client.send(
            "GET", "/.well-known/oauth-authorization-server/\(path)")
        #expect(response.status == 404)
    }

    /// Apps in browsers call the endpoints of apps directly.
    @Test func pagesOfOtherOriginsCanCallTheTokenEndpoint() async throws {
        let server = try await Self.server()
        let app = try await server.addApp()
        let preflight = try await server.client.send(
            "OPTIONS", "/oauth/token/reader",
            headers: [
                "origin": "https://app.example", "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            ])
        #expect(preflight.headers["access-control-allow-origin"] == "*")
        #expect(preflight.headers["access-control-allow-methods"]?.contains("POST") == true)
        let response = try await server.post(
            "token", OAuthServer.refreshFields(app, "x"),
            headers: ["origin": "https://app.example"])
        #expect(response.headers["access-control-allow-origin"] == "*")
        #expect(response.headers["access-control-allow-credentials"] == nil)
    }
}
