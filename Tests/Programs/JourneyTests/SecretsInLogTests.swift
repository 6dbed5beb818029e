import FoundationEssentials
import Glibc
import GraphQL
import Identity
import TestSupport
import Testing

/// The log contains no secrets, even at level `trace`. The test covers the whole life of an account and many kinds of
/// errors.
@Suite struct SecretsInLogTests {
    private static let email = "ada.secret@example.com"
    private static let name = "Secretly Ada"
    private static let title = "A Secret Title"
    private static let reviewText = "My secret words on it."
    private static let nonce = "s3cret-nonce-of-mine"
    private static let code = "c0deSecretFromApple"
    private static let grant = "grantSecretFromApple"

    @Test(arguments: ["text", "json"])
    func theLogContainsNoSecrets(format: String) async throws {
        let apple = try StubAppleServer()
        apple.addGrant(Self.code, .init(refreshToken: Self.grant))
        let installation = try await Installation.ready()
        let keyFile = try installation.write(StubAppleServer.key, to: "apple.p8")
        let server = try await installation.startServer([
            "BOOKPLATE_LOG_LEVEL": "trace", "BOOKPLATE_LOG_FORMAT": format,
            "BOOKPLATE_APPLE_KEY_FILE": keyFile, "BOOKPLATE_APPLE_KEY_ID": "KEY1234567",
            "BOOKPLATE_APPLE_TEAM_ID": "TEAM123456",
            "BOOKPLATE_APPLE_TOKEN_URL": apple.server.url("/auth/token"),
            "BOOKPLATE_APPLE_REVOKE_URL": apple.server.url("/auth/revoke"),
        ])
        var secrets = try await useAccount(installation, server, apple)
        secrets += [
            Self.email, Self.name, Self.title, Self.reviewText, Self.nonce, Self.code, Self.grant,
            "ada.secret", "TEAM123456", "PRIVATE KEY",
        ]
        let keys = try String(
            contentsOfFile: installation.folder + "/.bookplate/session-keys", encoding: .utf8)
        secrets += keys.split(separator: "\n").compactMap {
            $0.hasPrefix("#") ? nil : $0.split(separator: " ").last.map(String.init)
        }
        server.program.send(SIGTERM)
        let outcome = try await blocking { try server.program.wait() }
        let log = outcome.errors + outcome.output
        for secret in secrets {
            #expect(!secret.isEmpty)
            #expect(!log.contains(secret), "the log contains \(secret)")
        }
        // The log still reports each error and its reason.
        for line in [
            "refused an access token", "refused a personal access token",
            "refused an identity token", "the nonce does not match",
            "a request failed because of a database error", "a refresh token was reused",
            "an account was deleted", "not a compact JWS", "the identity token was used before",
        ] {
            #expect(log.contains(line), "the log does not contain: \(line)")
        }
    }

    /// Uses an account from sign-in to deletion, with private data and with errors of many kinds.
    ///
    /// - Returns: all tokens that were used, and the last 24 characters of each.
    private func useAccount(
        _ installation: Installation, _ server: RunningServer, _ apple: StubAppleServer
    ) async throws -> [String] {
        func identityToken() async throws -> String {
            let body =
                #"{"subject":"ada.subject","audience":"com.example.reader","email":"\#(Self.email)","nonce":"\#(Self.nonce)"}"#
            let response = try await server.client.send(
                "POST", "/development/identity-token", body: body)
            return response.json["identityToken"]?.string ?? ""
        }
        func signIn(_ token: String, nonce: String = Self.nonce, code: String = Self.code)
            async throws -> Value
        {
            try await server.client.execute(
                TestApp.signIn,
                [
                    "input": [
                        "identityToken": .string(token), "nonce": .string(nonce),
                        "displayName": .string(Self.name), "authorizationCode": .string(code),
                    ]
                ])
        }
        let identity = try await identityToken()
        let session = try #require(try await signIn(identity)["data", "signIn"])
        let access = session["accessToken"]?.string ?? ""
        let refresh = session["refreshToken"]?.string ?? ""
        let other = try await identityToken()

        // Requests with invalid tokens.
        for (token, nonce, code) in [
            (other, "another", "c"), (identity, Self.nonce, "another"), ("nonsense", "n", "c"),
            (String(other.dropLast(4)), Self.nonce, "c"), (access, "n", "c"), (refresh, "n", "c"),
        ] {
            let response = try await signIn(token, nonce: nonce, code: code)
            #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        }
        for token in [identity, refresh, String(access.dropLast(4)), "nonsense", Self.email] {
            let response = try await server.client.execute("{ me { id } }", token: token)
            #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        }
        _ = try await server.client.send(
            "GET", "/graphql?query=%7Bme%7Bid%7D%7D&token=\(access)", token: access)

        // Private data, and a database error whose message would contain the row.
        let book = try await server.client.execute(
            """
            mutation($title: String!) { createBook(input: {title: $title, status: READ}) { id } }
            """, ["title": .string(Self.title)], token: access)
        _ = try await server.client.execute(
            "mutation($id: ID!, $text: String!) { reviewBook(id: $id, input: {rating: 1, text: $text}) { id } }",
            ["id": book["data", "createBook", "id"] ?? .null, "text": .string(Self.reviewText)],
            token: access)
        try await installation.database.execute(
            "ALTER TABLE shelves ADD CONSTRAINT nothing_secret CHECK (name NOT LIKE '%ecret%')")
        let failed = try await server.client.execute(
            "mutation($name: String!) { createShelf(input: {name: $name}) { id } }",
            ["name": .string(Self.title)], token: access)
        #expect(failed["errors", 0, "extensions", "code"] == "INTERNAL_SERVER_ERROR")

        // A personal access token, and a wrong one.
        let created = try await server.client.execute(
            #"mutation { createAccessToken(input: {name: "Kobo", scopes: [PROGRESS]}) { secret } }"#,
            token: access)
        let password = created["data", "createAccessToken", "secret"]?.string ?? ""
        let kobo = KOReaderClient(server.client, password: password)
        #expect(try await kobo.push(Self.title.filter(\.isLetter), Self.title, 0.5).status == 200)
        let thief = KOReaderClient(server.client, password: String(password.dropLast()))
        #expect(try await thief.authorize().status == 401)
        _ = try await server.client.execute("{ me { id } }", token: password)
        _ = try await server.client.send(
            "GET", "/opds/progression/books/x", token: password + "x")

        // Two refreshes with the same token; the second is too late.
        func refreshed(_ token: String) async throws -> Value {
            try await server.client.execute(
                """
                mutation($token: String!) {
                  refreshSession(refreshToken: $token) { accessToken refreshToken }
                }
                """, ["token": .string(token)])
        }
        let next = try await refreshed(refresh)["data", "refreshSession"] ?? .null
        try await installation.database.execute(
            "UPDATE sessions SET rotated_at = now() - interval '2 minutes'")
        _ = try await refreshed(refresh)

        // Account deletion.
        let last = try #require(
            try await signIn(try await identityToken(), code: "used")["data", "signIn"])
        let deleted = try await server.client.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { appleTokenRevoked } }",
            ["id": last["user", "id"] ?? .null], token: last["accessToken"]?.string)
        #expect(deleted["data", "deleteAccount", "appleTokenRevoked"] == true, "\(deleted)")
        #expect(apple.revokedTokens == [Self.grant])

        let tokens =
            [identity, other, access, refresh].map { Optional($0) }
            + [
                next["accessToken"]?.string, next["refreshToken"]?.string,
                last["accessToken"]?.string, last["refreshToken"]?.string, password,
                md5(password.utf8).map { lowercaseHex($0) },
            ]
        // The end of a token belongs to its signature or its secret.
        return tokens.flatMap { token -> [String] in
            guard let token else { return [""] }
            return [token, String(token.suffix(24))]
        }
    }
}

/// Development sign-in is available only on a loopback address in the development environment.
@Suite struct DevelopmentSignInTests {
    private static let body = #"{"subject":"ada","audience":"com.example.reader"}"#

    private func attempt(_ changes: [String: String]) async throws -> HTTPClient.Response {
        let installation = try await Installation.ready(catalog: [])
        // Production requires a file of session keys.
        let created = try await installation.admin(
            ["keys", "rotate"], ["BOOKPLATE_SESSION_KEYS": "keys"])
        #expect(created.code == 0, "\(created.errors)")
        let server = try await installation.startServer(
            changes.mapValues { .some($0) }.merging(["BOOKPLATE_SESSION_KEYS": "keys"]) { $1 })
        return try await server.client.send(
            "POST", "/development/identity-token", body: Self.body)
    }

    @Test(arguments: [
        ["BOOKPLATE_ENV": "production"], ["BOOKPLATE_HOST": "0.0.0.0"],
        ["BOOKPLATE_ENV": "production", "BOOKPLATE_HOST": "0.0.0.0"],
    ])
    func isDisabledElsewhere(changes: [String: String]) async throws {
        #expect(try await attempt(changes).status == 404)
    }

    @Test func isEnabledOnLoopbackInDevelopment() async throws {
        #expect(try await attempt([:]).status == 200)
    }

    /// Each server generates its own issuer key, so other servers reject its tokens.
    @Test func tokensAreInvalidOnOtherServers() async throws {
        let installation = try await Installation.ready(catalog: [])
        let first = try await installation.startServer()
        let token = try await first.client.send(
            "POST", "/development/identity-token", body: Self.body
        ).json["identityToken"]
        #expect(token != nil)
        let created = try await installation.admin(
            ["keys", "rotate"], ["BOOKPLATE_SESSION_KEYS": "keys"])
        #expect(created.code == 0)
        for changes in [
            [:], ["BOOKPLATE_ENV": "production", "BOOKPLATE_SESSION_KEYS": "keys"],
        ] as [[String: String]] {
            let second = try await installation.startServer(changes.mapValues { .some($0) })
            let response = try await second.client.execute(
                TestApp.signIn, ["input": ["identityToken": token ?? .null]])
            #expect(response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        }
    }
}
