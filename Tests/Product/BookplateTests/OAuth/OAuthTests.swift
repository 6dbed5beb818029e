import Basics
import GraphQL
import Identity
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The parts of OAuth, and the access of apps in process. The flows over HTTP are in JourneyTests.
@Suite struct OAuthTests {
    /// An app with access to the account of a reader.
    private struct ConnectedApp {
        let reader: TestReader
        let grant: UUID
        let token: OAuthSecret

        init(_ reader: TestReader, _ scope: String) async throws {
            self.reader = reader
            let client = UUID.version7()
            let user = reader.id.string ?? ""
            grant = UUID.version7()
            token = OAuthSecret(.accessToken)
            try await reader.app.database.execute(
                """
                UPDATE tenants SET oauth = true;
                INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
                SELECT '\(client)', tenant_id, 'Display', '{}', '{\(scope)}', true FROM users WHERE id = '\(user)';
                INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
                VALUES ('\(user)', '\(grant)', '\(client)', '{\(scope)}', 'x', now() + interval '1 day');
                INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters, grant_id)
                VALUES (
                    '\(user)', gen_random_uuid(), 'Display', '{\(scope)}', sha256('\(token.text)'), '', 'abcd',
                    '\(grant)'
                )
                """)
        }

        func execute(_ query: String) async throws -> TestResponse {
            try await reader.app.execute(query, token: token.text)
        }
    }

    // MARK: - Access

    @Test func useOfAnAppIsRecorded() async throws {
        let app = try await TestApp.start(catalog: [])
        let connected = try await ConnectedApp(try await app.makeReader(), "LIBRARY_READ")
        let list = "{ me { authorizedApps { name lastUsedAt } } }"
        let before = try await connected.reader.execute(list)
        #expect(before["me", "authorizedApps", 0, "lastUsedAt"] == .null)
        for _ in 1...2 {
            #expect(try await connected.execute("{ me { id } }").errors.isEmpty)
            try await app.services.environment.tokenUses.store(in: app.pool)
        }
        let after = try await connected.reader.execute(list)
        #expect(after["me", "authorizedApps", 0, "name"] == "Display")
        #expect(after["me", "authorizedApps", 0, "lastUsedAt"] != .null)
        #expect(
            try await app.database.text(
                "SELECT string_agg(credential_id::text, ',') FROM audit_events WHERE kind = 'TOKEN_USED'"
            ) == "\(connected.grant)")
    }

    /// The tokens of apps do not count as personal access tokens.
    @Test func appsAreSeparateFromPersonalTokens() async throws {
        let app = try await TestApp.start(catalog: [])
        let connected = try await ConnectedApp(try await app.makeReader(), "ACCOUNT")
        let listed = try await connected.execute(
            "{ me { accessTokens { id } authorizedApps { id } } }")
        #expect(listed["me", "accessTokens"] == [])
        #expect(listed["me", "authorizedApps"] == [["id": .string("\(connected.grant)")]])
        let id = try await app.database.text("SELECT id FROM access_tokens")
        _ = try await connected.reader.execute(
            "mutation { revokeAccessToken(id: \"\(id)\") { id } }")
        #expect(try await connected.execute("{ me { id } }").errors.isEmpty)
    }

    /// E-readers accept the tokens of apps with the scope of progress.
    @Test(arguments: [("PROGRESS", 200), ("FEED", 401)])
    func eReadersAcceptTheTokens(scope: String, status: Int) async throws {
        let app = try await TestApp.start(catalog: [])
        let connected = try await ConnectedApp(try await app.makeReader(), scope)
        let credential = try #require(
            TokenCredential(authorization: "Bearer \(connected.token.text)"))
        let context = RequestContext(
            viewer: nil, database: app.pool, services: app.services, requestID: "test")
        let found = try await context.token(credential)
        #expect(found.isOfApp)
        #expect(found.scopes.isSuperset(of: AccessScope.progress.set) == (status == 200))
    }

    // MARK: - Texts

    @Test(arguments: OAuthSecret.Kind.allCases)
    func secretIsRecognizedOnlyAsAWhole(kind: OAuthSecret.Kind) {
        let secret = OAuthSecret(kind)
        #expect(OAuthSecret(secret.text, kind) == secret)
        #expect(OAuthSecret(kind) != secret)
        #expect(!"\(secret)".contains(secret.lastCharacters))
        #expect(secret.text.wholeMatch(of: /bp[a-z]_[0-9A-Za-z]{38}/) != nil)
        for other in OAuthSecret.Kind.allCases where other != kind {
            #expect(OAuthSecret(secret.text, other) == nil)
        }
        for text in ["", kind.rawValue, secret.text + "a", String(secret.text.dropLast())] {
            #expect(OAuthSecret(text, kind) == nil)
        }
    }

    @Test(
        arguments: [
            ("BCDFGHJK", "BCDF-GHJK"), ("bcdf-ghjk", "BCDF-GHJK"),
            (" b c d f g h j k ", "BCDF-GHJK"),
            ("BCDFGHJ", nil), ("BCDFGHJKL", nil), ("ABCDEFGH", nil), ("BCDFGHJ0", nil), ("", nil),
            ("ＢＣＤＦＧＨＪＫ", nil), (String(repeating: "-", count: 1000) + "BCDFGHJK", nil),
        ] as [(String, String?)])
    func codeIsReadAsReadersWriteIt(text: String, code: String?) {
        #expect(UserCode(text)?.text == code)
    }

    @Test func codesAreRandom() {
        let codes = Set((0..<1000).map { _ in UserCode.random().letters })
        #expect(codes.count == 1000)
        #expect(codes.allSatisfy { UserCode($0) != nil })
    }

    @Test(
        arguments: [
            (nil, "en"), ("", "en"), ("*", "en"), ("pt", "en"), ("de", "de"), ("DE-at", "de"),
            ("fr-CA, fr;q=0.9, en;q=0.8", "fr"), ("en;q=0.2, ja;q=0.3", "ja"),
            ("es;q=0, en;q=0.1", "en"), ("pt, es;q=0.5", "es"), ("de;q=x, fr", "fr"),
            ("de ; q=0.4 , es ; q=0.6", "es"), (String(repeating: "x,", count: 5000) + "de", "en"),
        ] as [(String?, String)])
    func languageFollowsTheHeader(header: String?, language: String) {
        #expect(OAuthTexts.preferred(by: header).language == language)
    }

    @Test(arguments: [
        ("https://a.example/cb", "a.example"), ("https://A.example:8443", "a.example"),
        ("http://127.0.0.1:1/cb", "127.0.0.1"), ("http://[::1]/cb", "[::1]"),
        ("http://localhost/cb", "localhost"),
    ])
    func redirectURIHasAHost(text: String, host: String) {
        #expect(RedirectURI(text)?.host == host)
    }

    @Test(arguments: [
        "", "a", ":", "https:", "https://", "https:///cb", "https:a.example", "http://a.example/",
        "https://user@a.example/", "https://a.example/#x", "https://a.example/ x",
        "https://a.example:x/", "https://a.example:99999/", "http://127.0.0.1.evil.example/",
        "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "app:/cb", ".a:/cb",
        "com.example.app:", "https://ü.example/", "https://a.example/\u{0}",
        "https://a.example/" + String(repeating: "x", count: 500),
    ])
    func unsafeRedirectURIIsRefused(text: String) {
        #expect(RedirectURI(text) == nil)
    }

    @Test(arguments: [
        ("Reading Stats", true), ("読書", true), ("", false), ("  ", false), ("a\nb", false),
        ("a\u{202E}b", false), ("a\u{200B}b", false), (String(repeating: "x", count: 101), false),
        ("\u{2800}", false), ("\u{3164}", false), ("a\u{115F}", false), ("a\u{E000}", false),
        ("…", false), ("a" + String(repeating: "\u{0301}", count: 6), false), ("Việt Đọc", true),
        ("किताबें", true), ("365", true),
    ])
    func nameIsPresentable(name: String, isPresentable: Bool) {
        #expect(OAuthClient.isPresentable(name: name) == isPresentable)
    }
}
