import Basics
import GraphQL
import SocketClient
import TestSupport
import Testing

/// The authorization code grant, and the tokens that it leads to.
@Suite struct AuthorizationCodeTests {
    private static let library = "{ me { books { nodes { title } } } }"

    @Test(arguments: [false, true])
    func appReadsTheLibraryAfterThePermission(isConfidential: Bool) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(isConfidential: isConfidential)
        #expect((app.secret != nil) == isConfidential)
        let reader = try await server.reader()
        _ = try await server.client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: reader)
        let page = try await server.openPage(app, scope: "library:read progress")
        let request = try await server.client.execute(
            """
            query($code: String!) {
              authorizationRequest(code: $code) {
                code clientName isSelfRegistered kind redirectHost scopes status
              }
            }
            """, ["code": .string(page.code.lowercased().replacing("-", with: " "))], token: reader)
        #expect(
            request["data", "authorizationRequest"] == [
                "code": .string(page.code), "clientName": "Reading Stats",
                "isSelfRegistered": false, "kind": "BROWSER", "redirectHost": "stats.example",
                "scopes": ["LIBRARY_READ", "PROGRESS"], "status": "PENDING",
            ])
        #expect(try await server.reload(page).status == 200)
        let approved = try await server.approve(page.code, as: reader, scopes: ["LIBRARY_READ"])
        let decision: Value = ["status": "APPROVED", "scopes": ["LIBRARY_READ"]]
        #expect(approved["data", "approveAuthorization"] == decision)
        // The response may be lost.
        let repeated = try await server.approve(page.code, as: reader, scopes: ["LIBRARY_READ"])
        #expect(repeated["data", "approveAuthorization"] == decision)
        let result = try await server.result(of: page)
        #expect(result["state"] == "xyz")
        #expect(result["iss"] == server.issuer)
        let response = try await server.post(
            "token", OAuthServer.exchangeFields(app, result["code"] ?? ""))
        #expect(response.headers["cache-control"] == "no-store")
        #expect(response.json["token_type"] == "Bearer")
        #expect(response.json["expires_in"] == 3600)
        let tokens = try OAuthServer.Tokens(response)
        #expect(tokens.scope == "library:read")
        #expect(tokens.access.hasPrefix("bpa_") && tokens.refresh.hasPrefix("bpf_"))
        let books = try await server.client.execute(Self.library, token: tokens.access)
        #expect(books["data", "me", "books", "nodes", 0, "title"] == "Dune")
    }

    @Test func refusalNamesTheMissingScope() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (_, tokens) = try await server.connect(app, to: try await server.reader())
        let response = try await server.client.execute("{ me { email } }", token: tokens.access)
        #expect(
            response["errors", 0, "message"]
                == "The access token lacks the scope account. Ask the reader for access with it.")
        #expect(response["errors", 0, "extensions", "missingScopes"] == ["ACCOUNT"])
        for mutation in [
            "signOut { endedSessions }", #"revokeAuthorizedApp(id: "x") { id }"#,
            #"approveAuthorization(input: {code: "BCDFGHJK"}) { status }"#,
        ] {
            #expect(
                try await server.error(of: tokens.access, "mutation { \(mutation) }")
                    == "FORBIDDEN")
        }
    }

    @Test func refreshTokensAreReplaced() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (_, first) = try await server.connect(
            app, to: try await server.reader(), scope: "library:read progress")
        let fields = OAuthServer.refreshFields(app, first.refresh)
        let second = try OAuthServer.Tokens(
            try await server.post("token", fields + [("scope", "progress")]))
        #expect(second.scope == "progress")
        #expect(second.refresh != first.refresh && second.access != first.access)
        #expect(try await server.error(of: second.access, Self.library) == "FORBIDDEN")
        // Requests with the older token may be on their way.
        #expect(try await server.error(of: first.access, Self.library) == nil)
        // The first response may have been lost.
        let again = try OAuthServer.Tokens(try await server.post("token", fields))
        #expect(again.refresh == second.refresh)
        let more = try await server.post(
            "token", OAuthServer.refreshFields(app, again.refresh) + [("scope", "account")])
        #expect(more.json["error"] == "invalid_scope")
        #expect(more.status == 400)
    }

    /// An old refresh token that is used after more than a minute may be stolen, so all tokens become invalid.
    @Test func reusedRefreshTokenEndsTheAccess() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (_, first) = try await server.connect(app, to: try await server.reader())
        let fields = OAuthServer.refreshFields(app, first.refresh)
        let second = try OAuthServer.Tokens(try await server.post("token", fields))
        try await server.installation.database.execute(
            """
            UPDATE oauth_grants SET rotated_at = now() - interval '61 seconds'
            WHERE client_id = '\(app.id)'
            """)
        #expect(try await server.post("token", fields).json["error"] == "invalid_grant")
        #expect(try await server.error(of: second.access) == "UNAUTHENTICATED")
        #expect(
            try await server.post("token", OAuthServer.refreshFields(app, second.refresh))
                .json["error"] == "invalid_grant")
    }

    /// A forged token with the right IDs cannot end the access of a reader.
    @Test func forgedRefreshTokenChangesNothing() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (_, tokens) = try await server.connect(app, to: try await server.reader())
        let forged = tokens.refresh.dropLast(10) + "AAAAAAAAAA"
        for endpoint in ["token", "revoke"] {
            _ = try await server.post(
                endpoint,
                OAuthServer.refreshFields(app, String(forged)) + [("token", String(forged))])
        }
        #expect(try await server.error(of: tokens.access) == nil)
    }

    @Test func codeWorksOnceAndItsReuseEndsTheAccess() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let (code, tokens) = try await server.connect(app, to: try await server.reader())
        #expect(try await server.error(of: tokens.access) == nil)
        let replayed = try await server.post("token", OAuthServer.exchangeFields(app, code))
        #expect(replayed.json["error"] == "invalid_grant")
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
    }

    @Test func codeExpiresAfterAMinute() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp()
        let page = try await server.openPage(app)
        try await server.approve(page.code, as: try await server.reader())
        let code = try await server.result(of: page)["code"] ?? ""
        try await server.installation.database.execute(
            """
            UPDATE oauth_requests SET code_expires_at = code_expires_at - interval '60 seconds'
            WHERE client_id = '\(app.id)'
            """)
        #expect(
            try await server.post("token", OAuthServer.exchangeFields(app, code)).json["error"]
                == "invalid_grant")
    }

    // MARK: - The reader's control

    @Test func readerSeesAndEndsTheAccess() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp("Shelf Mirror")
        let reader = try await server.reader()
        let (_, tokens) = try await server.connect(app, to: reader)
        #expect(try await server.error(of: tokens.access) == nil)
        let listed = try await server.client.execute(
            "{ me { authorizedApps { id name scopes isSelfRegistered } accessTokens { id } } }",
            token: reader)
        let apps = listed["data", "me", "authorizedApps"]
        #expect(apps?.list?.count == 1)
        #expect(apps?.list?[0]["name"] == "Shelf Mirror")
        #expect(apps?.list?[0]["scopes"] == ["LIBRARY_READ"])
        #expect(listed["data", "me", "accessTokens"] == [])
        let socket = try await blocking {
            let socket = try SocketClient(port: server.client.port)
            try socket.initialize(token: tokens.access)
            return socket
        }
        let id = apps?.list?[0]["id"] ?? .null
        let other = try await server.reader()
        for token in [other, reader] {
            #expect(try await server.error(of: tokens.access) == nil)
            let revoked = try await server.client.execute(
                "mutation($id: ID!) { revokeAuthorizedApp(id: $id) { id } }", ["id": id],
                token: token)
            #expect(revoked["data", "revokeAuthorizedApp", "id"] == id)
        }
        #expect(try await blocking { try socket.closeCode() } == 4403)
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
        #expect(
            try await server.post("token", OAuthServer.refreshFields(app, tokens.refresh))
                .json["error"] == "invalid_grant")
    }

    @Test(arguments: [
        "signOut(everywhere: true) { endedSessions }",
        "deleteAccount(confirm: $me) { id }",
    ])
    func accessEndsWithTheAccount(mutation: String) async throws {
        let server = try await OAuthServer.shared()
        let reader = try await server.reader()
        let (_, tokens) = try await server.connect(try await server.addApp(), to: reader)
        let me = try await server.client.execute("{ me { id } }", token: reader)
        let isDeletion = mutation.contains("$me")
        _ = try await server.client.execute(
            "mutation\(isDeletion ? "($me: String!)" : "") { \(mutation) }",
            isDeletion ? ["me": me["data", "me", "id"] ?? .null] : .null, token: reader)
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
        #expect(
            try await server.installation.database.count(
                "SELECT count(*) FROM access_tokens WHERE token_hash = sha256('\(tokens.access)')")
                == 0)
    }

    @Test func deniedRequestReturnsAnError() async throws {
        let server = try await OAuthServer.shared()
        let reader = try await server.reader()
        let page = try await server.openPage(try await server.addApp())
        let denied = try await server.client.execute(
            "mutation($code: String!) { denyAuthorization(code: $code) { status } }",
            ["code": .string(page.code)], token: reader)
        #expect(denied["data", "denyAuthorization", "status"] == "DENIED")
        let changed = try await server.approve(page.code, as: reader)
        #expect(changed["errors", 0, "extensions", "code"] == "CONFLICT")
        let result = try await server.result(of: page)
        #expect(result["error"] == "access_denied")
        #expect(result["iss"] == server.issuer)
        #expect(result["code"] == nil)
    }

    // MARK: - Revocation by the app

    @Test(arguments: [true, false])
    func appRevokesItsTokens(usesRefreshToken: Bool) async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(isConfidential: usesRefreshToken)
        let foreign = try await server.addApp()
        let (_, tokens) = try await server.connect(app, to: try await server.reader())
        let token = usesRefreshToken ? tokens.refresh : tokens.access
        let attempt = try await server.post("revoke", foreign.credentials + [("token", token)])
        #expect(attempt.status == 200)
        #expect(try await server.error(of: tokens.access) == nil)
        let revoked = try await server.post("revoke", app.credentials + [("token", token)])
        #expect(revoked.status == 200)
        #expect(try await server.error(of: tokens.access) == "UNAUTHENTICATED")
        let refreshed = try await server.post(
            "token", OAuthServer.refreshFields(app, tokens.refresh))
        #expect(refreshed.status == (usesRefreshToken ? 400 : 200))
        let unknown = try await server.post("revoke", app.credentials + [("token", "x")])
        #expect(unknown.status == 200)
    }
}
