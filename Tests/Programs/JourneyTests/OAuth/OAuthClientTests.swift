import Glibc
import GraphQL
import TestSupport
import Testing

/// A client library of another project (Authlib), and the commands of operators.
@Suite struct OAuthClientTests {
    @Test(arguments: [false, true])
    func authlibUsesBothGrants(isConfidential: Bool) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp("Authlib", isConfidential: isConfidential)
        let device = try await server.addApp("Authlib device", redirectURI: nil)
        let python = try await PythonEnvironment.oauth()
        let program = "\(TestCluster.project)/Tests/Programs/JourneyTests/Clients/oauth_client.py"
        let outcome = try await python.run(
            "python",
            [
                program, server.issuer, app.id, app.secret ?? "", device.id,
                try await server.reader(),
            ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output == "code read refreshed revoked\ndevice read\n")
    }

    /// The log reports reuse, but contains no codes, tokens, or secrets, even at level `trace`.
    @Test func logContainsNoSecrets() async throws {
        let server = try await OAuthServer.start(["BOOKPLATE_LOG_LEVEL": "trace"])
        let app = try await server.addApp(isConfidential: true)
        let page = try await server.openPage(app)
        try await server.approve(page.code, as: try await server.reader())
        let code = try await server.result(of: page)["code"] ?? ""
        let exchange = OAuthServer.exchangeFields(app, code)
        let tokens = try OAuthServer.Tokens(try await server.post("token", exchange))
        let refreshed = try OAuthServer.Tokens(
            try await server.post("token", OAuthServer.refreshFields(app, tokens.refresh)))
        #expect(try await server.error(of: refreshed.access) == nil)
        #expect(try await server.error(of: refreshed.access + "x") == "UNAUTHENTICATED")
        _ = try await server.post("token", exchange)
        server.server.program.send(SIGTERM)
        let outcome = try await blocking { try server.server.program.wait() }
        let log = outcome.errors + outcome.output
        for secret in [
            page.code, page.formToken, String(page.cookie.suffix(24)), code, tokens.access,
            tokens.refresh, refreshed.access, refreshed.refresh, app.secret ?? "",
            OAuthServer.verifier, String(code.suffix(24)), String(tokens.refresh.suffix(24)),
        ] {
            #expect(!secret.isEmpty && !log.contains(secret), "\(secret)")
        }
        #expect(log.contains("a code of an app was used twice"))
        #expect(log.contains("refused a personal access token"))
    }

    // MARK: - Commands

    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    @Test func operatorManagesApps() async throws {
        let server = try await OAuthServer.start()
        let installation = server.installation
        let app = try await server.addApp("Shelf Mirror", isConfidential: true)
        let reader = try await server.reader()
        let (_, tokens) = try await server.connect(app, to: reader)
        let listed = try json(
            try await installation.admin("oauth", "client", "list", "reader", "--json"))
        #expect(listed.list?.count == 1)
        #expect(listed.list?[0]["name"] == "Shelf Mirror")
        #expect(listed.list?[0]["readers"] == 1)
        let shown = try await installation.admin("oauth", "client", "show", "reader", app.id)
        #expect(shown.output.contains("scopes: library:read, progress"))
        #expect(!(listed.list ?? []).contains { "\($0)".contains(app.secret ?? "-") })
        let dry = try await installation.admin(
            "oauth", "client", "remove", "reader", app.id, "--dry-run")
        #expect(dry.code == 0)
        #expect(try await server.error(of: tokens.access) == nil)
        let removed = try await installation.admin(
            "oauth", "client", "remove", "reader", app.id, "--yes")
        #expect(removed.output == "removed Shelf Mirror, which 1 readers used\n")
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
        #expect(
            try await server.post("token", OAuthServer.refreshFields(app, tokens.refresh))
                .json["error"] == "invalid_client")
        let kinds = try json(
            try await installation.admin("audit", "list", "--limit", "50", "--json")
        ).values(of: "kind")
        for kind in ["APP_AUTHORIZED", "APP_REVOKED", "ADMIN_COMMAND"] {
            #expect(kinds.contains(.string(kind)))
        }
        #expect(!kinds.contains("TOKEN_CREATED"))
    }

    @Test(arguments: [
        (["--scope", "admin", "--device"], "there is no scope admin"),
        (["--scope", "feed"], "needs a redirect URI (--redirect-uri), or the device grant"),
        (["--scope", "feed", "--redirect-uri", "http://a.example/"], "cannot be a redirect URI"),
        (["--scope", "feed", "--redirect-uri", "javascript:x"], "cannot be a redirect URI"),
        (["--device"], "At least one --scope is required"),
    ])
    func invalidAppsAreRefused(options: [String], message: String) async throws {
        let server = try await OAuthServer.shared()
        let outcome = try await server.installation.admin(
            ["oauth", "client", "add", "reader", "--name", "A"] + options)
        #expect(outcome.code != 0)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    /// Otherwise, many registered apps with a request each would prevent further registrations.
    @Test func placesOfAppsWithoutAccessAreFreedAfterAnHour() async throws {
        let server = try await OAuthServer.start()
        let database = server.installation.database
        let used = try await server.addApp()
        _ = try await server.connect(used, to: try await server.reader())
        _ = try await server.openPage(try await server.addApp())
        try await database.execute(
            "UPDATE oauth_clients SET is_self_registered = true; UPDATE tenants SET oauth_registration = true"
        )
        let register = """
            SELECT register_oauth_client(
                gen_random_uuid(), (SELECT tenant_id FROM oauth_clients LIMIT 1), 'New', '{}', '{FEED}', true, NULL, 2
            )::int
            """
        #expect(try await database.count(register) == 0)
        try await database.execute(
            "UPDATE oauth_clients SET created_at = now() - interval '61 minutes'")
        #expect(try await database.count(register) == 1)
        #expect(try await database.count("SELECT count(*) FROM oauth_clients") == 2)
        #expect(try await database.count("SELECT count(*) FROM oauth_grants") == 1)
    }

    @Test func expiredRowsAreDeleted() async throws {
        let server = try await OAuthServer.start()
        let database = server.installation.database
        let app = try await server.addApp()
        _ = try await server.connect(app, to: try await server.reader())
        _ = try await server.openPage(app)
        let prune = "SELECT prune_oauth(30, 1000)"
        #expect(try await database.count(prune) == 0)
        try await database.execute(
            """
            UPDATE oauth_requests SET expires_at = now() - interval '2 hours';
            UPDATE access_tokens SET expires_at = now() - interval '2 hours';
            UPDATE oauth_clients SET is_self_registered = true, created_at = now() - interval '31 days'
            """)
        // Two requests and an access token. The app still has access.
        #expect(try await database.count(prune) == 3)
        try await database.execute("UPDATE oauth_grants SET expires_at = now() - interval '1 day'")
        #expect(try await database.count(prune) == 2)
        #expect(try await database.count("SELECT count(*) FROM oauth_clients") == 0)
    }
}
