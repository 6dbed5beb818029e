import GraphQL
import TestBasics
import TestSupport
import Testing

/// Requests of an attacker or a faulty app for tokens, and decisions of other readers.
@Suite struct TokenEndpointTests {
    /// A stolen code is useless without the verifier, and in another app.
    @Test(
        arguments: [
            ("code_verifier", "w", "invalid_grant"), ("code_verifier", nil, "invalid_request"),
            ("code_verifier", "short", "invalid_request"),
            ("redirect_uri", "https://evil.example/", "invalid_grant"),
            ("code", "x", "invalid_grant"),
            ("code", nil, "invalid_request"), ("grant_type", "password", "unsupported_grant_type"),
            ("grant_type", nil, "unsupported_grant_type"), ("client_id", nil, "invalid_request"),
            ("client_id", "x", "invalid_client"), ("client_secret", "bps_x", "invalid_client"),
        ] as [(String, String?, String)])
    func stolenCodeIsUseless(name: String, value: String?, error: String) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let page = try await server.openPage(app)
        try await server.approve(page.code, as: try await server.reader())
        let code = try await server.result(of: page)["code"] ?? ""
        let value = value == "w" ? String(repeating: "w", count: 43) : value
        let response = try await server.post(
            "token", OAuthServer.changed(OAuthServer.exchangeFields(app, code), name, value))
        #expect(response.json["error"] == .string(error))
        #expect(response.status == (error == "invalid_client" ? 401 : 400))
        #expect(response.headers["cache-control"] == "no-store")
    }

    /// A code or token of one app does not work in another one, nor in another tenant.
    @Test(arguments: ["reader", "other"])
    func tokensBelongToTheirApp(tenant: String) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let other = try await server.addApp(tenant: tenant)
        let page = try await server.openPage(app)
        try await server.approve(page.code, as: try await server.reader())
        let code = try await server.result(of: page)["code"] ?? ""
        let stolen = try await server.post(
            "token", OAuthServer.exchangeFields(other, code), tenant: tenant)
        #expect(stolen.json["error"] == "invalid_grant")
        let tokens = try OAuthServer.Tokens(
            try await server.post("token", OAuthServer.exchangeFields(app, code)))
        let refreshed = try await server.post(
            "token", OAuthServer.refreshFields(other, tokens.refresh), tenant: tenant)
        #expect(refreshed.json["error"] == "invalid_grant")
        #expect(try await server.error(of: tokens.access) == nil)
    }

    @Test func appOfAnotherTenantIsUnknown() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(tenant: "other")
        #expect(try await server.authorize(OAuthServer.authorizeFields(app)).status == 400)
        let response = try await server.post("token", OAuthServer.exchangeFields(app, "x"))
        #expect(response.json["error"] == "invalid_client")
        // A reader of one tenant cannot answer the requests of another one.
        let page = try await server.openPage(app)
        let answer = try await server.approve(page.code, as: try await server.reader())
        #expect(answer["errors", 0, "extensions", "code"] == "NOT_FOUND")
    }

    @Test(arguments: [nil, "", "bps_wrong", "other"])
    func confidentialAppNeedsItsSecret(secret: String?) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(isConfidential: true)
        let foreign = try await server.addApp(isConfidential: true)
        let fields = OAuthServer.changed(
            OAuthServer.refreshFields(app, "x"), "client_secret",
            secret == "other" ? foreign.secret : secret)
        let response = try await server.post("token", fields)
        #expect(response.status == 401)
        #expect(response.json["error"] == "invalid_client")
        #expect(response.headers["www-authenticate"]?.hasPrefix("Basic") == true)
    }

    @Test(arguments: [
        "application/json", "text/plain", "multipart/form-data; boundary=x", "",
    ])
    func formsNeedTheirContentType(type: String) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let response = try await server.post(
            "token", OAuthServer.refreshFields(app, "x"), headers: ["content-type": type])
        #expect(response.json["error"] == "invalid_request")
    }

    @Test func largeFormsAreRefused() async throws {
        let server = try await OAuthServer.shared()
        let many = (0..<31).map { ("a\($0)", "x") }
        #expect(try await server.post("token", many).json["error"] == "invalid_request")
        let long = try await server.post("token", [("a", String(repeating: "x", count: 9000))])
        #expect(long.status == 413)
        let nul = try await server.post("token", [("client_id", "\0")])
        #expect(nul.json["error"] == "invalid_request")
    }

    // MARK: - The reader's decision

    @Test func decisionBelongsToOneReader() async throws {
        let server = try await OAuthServer.shared()
        let page = try await server.openPage(try await server.addApp())
        let (reader, other) = (try await server.reader(), try await server.reader())
        let more = try await server.approve(page.code, as: reader, scopes: ["ACCOUNT"])
        #expect(more["errors", 0, "extensions", "field"] == "scopes")
        let none = try await server.approve(page.code, as: reader, scopes: [])
        #expect(none["errors", 0, "extensions", "field"] == "scopes")
        try await server.approve(page.code, as: reader)
        let late = try await server.approve(page.code, as: other)
        #expect(late["errors", 0, "extensions", "code"] == "NOT_FOUND")
    }

    @Test func codesCannotBeFoundByTrying() async throws {
        let server = try await OAuthServer.shared()
        let reader = try await server.reader()
        var codes: [Value?] = []
        for letter in "BCDFGHJKLMNP" {
            let guess = String(repeating: letter, count: 8)
            let response = try await server.approve(guess, as: reader)
            codes.append(response["errors", 0, "extensions", "code"])
        }
        #expect(codes.prefix(10).allSatisfy { $0 == "NOT_FOUND" })
        #expect(codes.suffix(2).allSatisfy { $0 == "RATE_LIMITED" })
    }

    @Test func failedAttemptsAreLimitedByAddress() async throws {
        let server = try await OAuthServer.start(["BOOKPLATE_LIMITS": "signin=3"])
        let app = try await server.addApp(isConfidential: true)
        let reader = try await server.reader()
        var statuses: [Int] = []
        for _ in 0..<4 {
            statuses.append(
                try await server.post(
                    "token", [("client_id", app.id), ("client_secret", "bps_x")]
                ).status)
        }
        #expect(statuses.first == 401 && statuses.last == 429)
        _ = reader
    }

    // MARK: - Switched off

    @Test func nothingWorksWhileOAuthIsOff() async throws {
        let server = try await OAuthServer.start()
        let app = try await server.addApp()
        let reader = try await server.reader()
        let (_, tokens) = try await server.connect(app, to: reader)
        try await server.installation.run(["tenant", "update", "reader", "--oauth", "off"])
        try await waitUntil("OAuth is off") {
            try await server.authorize(OAuthServer.authorizeFields(app)).status == 404
        }
        let metadata = "/.well-known/oauth-authorization-server/oauth/reader"
        #expect(try await server.client.send("GET", metadata).status == 404)
        for endpoint in ["token", "revoke", "device_authorization", "register"] {
            #expect(try await server.post(endpoint, app.credentials).status == 404)
        }
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
    }
}
