import Basics
import GraphQL
import TestSupport
import Testing

/// Requests of an attacker or a faulty app to the authorization endpoint and its page.
@Suite struct AuthorizationEndpointTests {
    /// The browser must not leave for a URI that the app has not registered.
    @Test(
        arguments: [
            ("redirect_uri", "https://evil.example/"), ("redirect_uri", "https://stats.example/"),
            ("redirect_uri", "https://stats.example/callback/"),
            ("redirect_uri", "https://stats.example/callback?x=1"),
            ("redirect_uri", "https://stats.example/callback#x"),
            ("redirect_uri", "https://stats.example:444/callback"),
            ("redirect_uri", "https://stats.example@evil.example/callback"),
            ("redirect_uri", "https://STATS.example/callback"),
            ("redirect_uri", "http://stats.example/callback"),
            ("redirect_uri", "javascript:alert(1)"),
            ("redirect_uri", ""), ("client_id", "0198c0de-0000-7000-8000-000000000001"),
            ("client_id", "<b>x</b>"), ("client_id", nil),
        ] as [(String, String?)])
    func browserStaysOnThePage(name: String, value: String?) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let response = try await server.authorize(
            OAuthServer.changed(OAuthServer.authorizeFields(app), name, value))
        #expect(response.status == 400)
        #expect(response.headers["location"] == nil)
        #expect(response.headers["content-type"] == "text/html; charset=utf-8")
        #expect(!response.body.contains("<b>"))
    }

    @Test func duplicateParametersAreRefused() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let fields = OAuthServer.authorizeFields(app)
        for field in fields {
            let response = try await server.authorize(fields + [field])
            #expect(response.status == 400)
            #expect(response.headers["location"] == nil)
        }
        let (code, tokens) = try await server.connect(app, to: try await server.reader())
        for field in OAuthServer.exchangeFields(app, code) {
            let response = try await server.post(
                "token", OAuthServer.exchangeFields(app, code) + [field])
            #expect(response.json["error"] == "invalid_request")
        }
        #expect(try await server.error(of: tokens.access) == nil)
    }

    @Test(
        arguments: [
            ("response_type", "token", "unsupported_response_type"),
            ("response_type", nil, "unsupported_response_type"),
            ("code_challenge", nil, "invalid_request"),
            ("code_challenge", "short", "invalid_request"),
            ("code_challenge_method", "plain", "invalid_request"),
            ("code_challenge_method", nil, "invalid_request"),
            ("response_mode", "fragment", "invalid_request"), ("scope", "admin", "invalid_scope"),
            ("scope", "account", "invalid_scope"),
            ("scope", "nothing offline_access", "invalid_scope"),
        ] as [(String, String?, String)])
    func appGetsTheError(name: String, value: String?, error: String) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let response = try await server.authorize(
            OAuthServer.changed(OAuthServer.authorizeFields(app), name, value))
        #expect(response.status == 303)
        let location = response.headers["location"] ?? ""
        #expect(location.hasPrefix("\(OAuthServer.callback)?"))
        let fields = try FormFields(location.dropFirst(OAuthServer.callback.count + 1).utf8)
        #expect(fields["error"] == error)
        #expect(fields["state"] == "xyz")
        #expect(fields["iss"] == server.issuer)
    }

    @Test(arguments: [
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", true),
        ("http://[::1]:1/cb", "http://[::1]:51004/cb", true),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/other", false),
        ("http://127.0.0.1/cb", "http://[::1]:51004/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004@evil.example/cb", false),
        ("com.example.app:/cb", "com.example.app:/cb", true),
        ("com.example.app:/cb", "com.example.app:/cb2", false),
        ("https://a.example/cb?x=1", "https://a.example/cb?x=1", true),
    ])
    func redirectURIsOfAppsOnDevices(
        registered: String, sent: String, isAllowed: Bool
    ) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(redirectURI: registered)
        let response = try await server.authorize(
            OAuthServer.changed(OAuthServer.authorizeFields(app), "redirect_uri", sent))
        #expect(response.status == (isAllowed ? 303 : 400))
        guard isAllowed else { return }
        let denied = try await server.authorize(
            OAuthServer.changed(
                OAuthServer.changed(OAuthServer.authorizeFields(app), "redirect_uri", sent),
                "response_type", nil))
        let separator = sent.contains("?") ? "&" : "?"
        #expect(denied.headers["location"]?.hasPrefix("\(sent)\(separator)error=") == true)
    }

    /// Text of the app never becomes HTML.
    @Test func namesAreEscaped() async throws {
        let server = try await OAuthServer.shared()
        let name = #"<img src=x onerror="alert('1')">{app}&amp;"#
        let page = try await server.openPage(try await server.addApp(name))
        #expect(!page.html.contains("<img"))
        #expect(
            page.html.contains(
                "<bdi>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;{app}&amp;amp;</bdi>")
        )
    }

    // MARK: - The page

    @Test func pageBelongsToItsBrowser() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (page, other) = (try await server.openPage(app), try await server.openPage(app))
        try await server.approve(page.code, as: try await server.reader())
        for cookie in [nil, other.cookie, "bookplate_oauth=", "\(page.cookie); \(other.cookie)"] {
            for path in [page.path, "\(page.path)/status"] {
                let response = try await server.client.send(
                    "GET", path, headers: ["cookie": cookie])
                #expect(response.status == 404)
                #expect(response.headers["location"] == nil)
            }
        }
        #expect(try await server.result(of: page)["code"] != nil)
    }

    @Test func pageCannotBeFramedAndLoadsNothingElse() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let redirect = try await server.authorize(OAuthServer.authorizeFields(app))
        let cookie = redirect.headers["set-cookie"] ?? ""
        let path = redirect.headers["location"] ?? ""
        #expect(cookie.contains("; Path=\(path); Max-Age=600; HttpOnly; SameSite=Lax"))
        let page = try await server.reload(try await server.openPage(app))
        let policy = page.headers["content-security-policy"] ?? ""
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            #expect(policy.contains(part))
        }
        #expect(!policy.contains("unsafe"))
        #expect(page.headers["cache-control"] == "no-store")
        #expect(page.headers["referrer-policy"] == "no-referrer")
        #expect(page.headers["x-frame-options"] == "DENY")
        // Pages of other origins cannot read it.
        let foreign = try await server.client.send(
            "GET", path, headers: ["origin": "https://evil.example", "cookie": cookie])
        #expect(foreign.headers["access-control-allow-origin"] == nil)
    }

    @Test func cancelingNeedsTheFormOfThePage() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let page = try await server.openPage(app)
        let type = "application/x-www-form-urlencoded"
        func cancel(_ token: String) async throws -> HTTPClient.Response {
            try await server.client.send(
                "POST", "\(page.path)/cancel", body: OAuthServer.form([("token", token)]),
                headers: ["cookie": page.cookie, "content-type": type])
        }
        #expect(try await cancel("").status == 400)
        #expect(try await cancel(try await server.openPage(app).formToken).status == 400)
        #expect(try await server.reload(page).body.contains(page.code))
        let canceled = try await cancel(page.formToken)
        #expect(canceled.status == 200)
        #expect(canceled.body.contains("\(OAuthServer.callback)?error=access_denied"))
        let late = try await server.approve(page.code, as: try await server.reader())
        #expect(late["errors", 0, "extensions", "code"] == "NOT_FOUND")
    }
}
