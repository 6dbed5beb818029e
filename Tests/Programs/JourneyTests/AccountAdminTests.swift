import FoundationEssentials
import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing

/// The administration of tenants, accounts, and keys while a server is running.
@Suite struct AccountAdminTests {
    private func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try parseJSON(Array(outcome.output.utf8))
    }

    @Test func loadedReadersFindTheirLibraryAfterSigningIn() async throws {
        let installation = try await Installation.ready()
        let server = try await installation.startServer()
        // The development server issues tokens for this subject, so it is that of a reader who has signed in before.
        let session = try await server.signIn("ada")
        let subject = try await installation.database.withConnection { connection in
            try connection.query("SELECT subject FROM identities").text(0, 0) ?? ""
        }
        let file = try installation.write(
            """
            {"sub": "\(subject)", "books": [{"title": "Dune", "status": "READ", "rating": 4.5, "isbn": "x"}]}
            {"sub": 1}
            """, to: "readers.jsonl")
        let outcome = try await installation.admin(
            "readers", "import", "--tenant", "reader", file, "--json")
        #expect(
            try json(outcome) == [
                "readers": 1, "readersCreated": 0, "booksCreated": 1, "reviewsCreated": 1,
                "readsCreated": 1, "shelvesCreated": 0, "failed": 1, "leftOut": 1,
                "dryRun": false,
            ])
        #expect(
            outcome.errors.contains("line 1: books[0].isbn13: “x” is not an ISBN. It was left out.")
        )
        #expect(outcome.errors.contains("line 2: `sub` is missing or too long."))
        let books = try await server.client.execute(
            "{ me { books(first: 5) { nodes { title review { stars } } } } }",
            token: session["accessToken"]?.string)
        #expect(
            books["data", "me", "books", "nodes"] == [["title": "Dune", "review": ["stars": 4.5]]])
        let unknown = try await installation.admin("readers", "import", "--tenant", "nobody", file)
        #expect(unknown.code == 1 && unknown.errors.contains("there is no tenant nobody"))
    }

    @Test func findsShowsExportsAndDeletesAnAccount() async throws {
        let apple = try StubAppleServer()
        apple.addGrant("code", .init(refreshToken: "grantOfApple"))
        let installation = try await Installation.ready()
        let server = try await installation.startServer([
            "BOOKPLATE_APPLE_KEY_FILE": try installation.write(StubAppleServer.key, to: "apple.p8"),
            "BOOKPLATE_APPLE_KEY_ID": "KEY1234567", "BOOKPLATE_APPLE_TEAM_ID": "TEAM123456",
            "BOOKPLATE_APPLE_TOKEN_URL": apple.server.url("/auth/token"),
            "BOOKPLATE_APPLE_REVOKE_URL": apple.server.url("/auth/revoke"),
        ])
        let identity = try await server.client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"ada","audience":"com.example.reader","email":"ada@example.com"}"#)
        let session = try await server.client.execute(
            TestApp.signIn,
            [
                "input": [
                    "identityToken": identity.json["identityToken"] ?? .null,
                    "authorizationCode": "code", "displayName": "Ada",
                ]
            ])["data", "signIn"]
        let id = session?["user", "id"]?.string ?? ""
        let token = session?["accessToken"]?.string
        _ = try await server.client.execute(
            #"mutation { createBook(input: {title: "Mine"}) { id } }"#, token: token)

        for text in [id, "ada@EXAMPLE", "ada"] {
            let found = try json(try await installation.admin("account", "find", text, "--json"))
            #expect(found.values(of: "id") == [.string(id)], "\(text)")
        }
        #expect(
            try json(try await installation.admin("account", "find", "nobody", "--json")) == [])
        let shown = try json(try await installation.admin("account", "show", id, "--json"))
        #expect(shown["email"] == "ada@example.com")
        #expect(shown["books"] == 1 && shown["sessions"] == 1)
        #expect(shown["hasAppleGrant"] == true)

        let file = "\(installation.folder)/ada.zip"
        let exported = try json(
            try await installation.admin("account", "export", id, "--to", file, "--json"))
        #expect(exported["file"] == .string(file))
        let archive = try String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self)
        #expect(exported["bytes"]?.int ?? 0 > 0 && archive.hasPrefix("PK"))
        #expect(archive.contains("library.json"))

        let dry = try json(
            try await installation.admin("account", "delete", id, "--dry-run", "--json"))
        #expect(dry["dryRun"] == true && dry["books"] == 1)
        let me = try await server.client.execute("{ me { id } }", token: token)
        #expect(me["data", "me", "id"] == .string(id))
        #expect(apple.revokedTokens == [])
        let planned = try await installation.admin("account", "delete", id, "--dry-run")
        #expect(planned.output.hasPrefix("would delete \(id): 1 books"), "\(planned.output)")
        // The command cannot ask for confirmation, because standard input is not a terminal.
        let unconfirmed = try await installation.admin("account", "delete", id)
        #expect(unconfirmed.code == 64)
        #expect(unconfirmed.errors.contains("--yes"))

        let deleted = try json(
            try await installation.admin("account", "delete", id, "--yes", "--json"))
        // One job revokes Apple's token, the other deletes the files.
        #expect(deleted["books"] == 1 && deleted["jobs"] == 2)
        // The running server has finished both of them.
        #expect(deleted["jobsLeft"] == 0)
        #expect(apple.revokedTokens == ["grantOfApple"])
        let gone = try await server.client.execute("{ me { id } }", token: token)
        #expect(gone["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        for arguments in [["account", "delete", id, "--yes"], ["account", "show", id]] {
            let outcome = try await installation.admin(arguments)
            #expect(outcome.code == 1)
            #expect(
                outcome.errors
                    == "bookplate-admin: there is no account \(id): find its ID with bookplate-admin account find\n"
            )
        }
        #expect(try await installation.admin("account", "show", "x").code == 64)
    }

    @Test func listsAndRevokesSessions() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let first = try await server.signIn("ada")
        let second = try await server.signIn("ada")
        let token = first["accessToken"]?.string
        let account = try #require(first["user", "id"]?.string)
        func isSignedIn(_ session: Value) async throws -> Bool {
            try await server.client.execute(
                "{ me { id } }", token: session["accessToken"]?.string)["errors"] == nil
        }
        func ids() async throws -> [String] {
            try json(try await installation.admin("session", "list", account, "--json"))
                .values(of: "id").compactMap(\.string)
        }
        let mine = try await server.client.execute(
            "{ me { sessions { id isCurrent } } }", token: token)
        let sessions = mine["data", "me", "sessions"]?.list ?? []
        #expect(Set(try await ids()) == Set(sessions.compactMap { $0["id"]?.string }))
        let id = try #require(sessions.first { $0["isCurrent"] == true }?["id"]?.string)

        let dry = try await installation.admin(
            "session", "revoke", account, id, "--dry-run", "--json")
        #expect(try json(dry)["revoked"] == [.string(id)])
        #expect(try await isSignedIn(first))
        let revoked = try await installation.admin("session", "revoke", account, id)
        #expect(revoked.output == "ended 1 session\n")
        #expect(try await !isSignedIn(first))
        #expect(try await isSignedIn(second))
        let rest = try await installation.admin("session", "revoke", account, "--all", "--json")
        #expect(try json(rest)["revoked"]?.list?.count == 1)
        #expect(try await !isSignedIn(second))
        #expect(try await ids() == [])
        #expect(try await installation.admin("session", "revoke", account).code == 64)
    }

    @Test func listsSigningKeysWithoutTheirSecrets() async throws {
        let installation = try await Installation.bare()
        for _ in 0..<2 {
            let rotated = try await installation.admin(
                ["keys", "rotate"], ["BOOKPLATE_SESSION_KEYS": ".bookplate/session-keys"])
            #expect(rotated.code == 0, "\(rotated.errors)")
        }
        let keys = try json(try await installation.admin("keys", "list", "--json"))
        #expect(keys.values(of: "use") == ["signs", "verifies"])
        let table = try await installation.admin("keys", "list")
        #expect(table.output.split(separator: "\n").count == 2)
        let file = try String(
            contentsOfFile: "\(installation.folder)/.bookplate/session-keys", encoding: .utf8)
        for line in file.split(separator: "\n") where line.hasPrefix("sign ") {
            let words = line.split(separator: " ")
            #expect(table.output.contains(words[1]) && !table.output.contains(words[3]))
        }
    }

    @Test func changesTenantsOfARunningServer() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        func signIn(_ audience: String) async throws -> Value {
            let token = try await server.client.send(
                "POST", "/development/identity-token",
                body: #"{"subject":"ada","audience":"\#(audience)"}"#)
            return try await server.client.execute(
                TestApp.signIn, ["input": ["identityToken": token.json["identityToken"] ?? .null]])
        }
        #expect(try await signIn("com.example.shop")["errors"] != nil)
        _ = try json(
            try await installation.admin(
                "tenant", "add", "--slug", "shop", "--name", "Shop", "--audience",
                "com.example.shop", "--json"))
        try await waitUntil("users of the new tenant can sign in") {
            try await signIn("com.example.shop")["data", "signIn", "accessToken"] != nil
        }
        let session = try await signIn("com.example.shop")["data", "signIn"]
        let token = session?["accessToken"]?.string

        // Set a rate limit, and remove it again.
        let dry = try json(
            try await installation.admin(
                "tenant", "update", "shop", "--rate", "1", "--dry-run", "--json"))
        #expect(dry["requestsPerMinute"] == 1 && dry["dryRun"] == true)
        let updated = try json(
            try await installation.admin(
                "tenant", "update", "shop", "--rate", "1", "--amazon-tag", "shop-21", "--name",
                "The Shop", "--provider", "https://id.example=https://id.example/keys", "--json"))
        #expect(updated["requestsPerMinute"] == 1)
        #expect(updated["name"] == "The Shop")
        #expect(updated["audiences"] == ["com.example.shop"])
        #expect(
            updated["providers"] == [
                [
                    "name": "https://id.example", "issuer": "https://id.example",
                    "jwksUrl": "https://id.example/keys", "audiences": [],
                ]
            ])
        try await waitUntil("the rate limit of the tenant is effective") {
            try await server.client.post("{ me { id } }", token: token).status == 429
        }
        let refused = try await server.client.post("{ me { id } }", token: token)
        #expect(refused.json["errors", 0, "extensions", "code"] == "RATE_LIMITED")
        let wait = refused.json["errors", 0, "extensions", "retryAfter"]?.int ?? 0
        #expect((1...60).contains(wait))
        #expect(refused.headers["retry-after"] == "\(wait)")
        #expect(refused.headers["ratelimit-policy"] == #""tenant";q=1;w=60"#)
        #expect(refused.headers["ratelimit"] == #""tenant";r=0;t=\#(wait)"#)
        let cleared = try json(
            try await installation.admin("tenant", "update", "shop", "--clear", "rate", "--json"))
        #expect(cleared["requestsPerMinute"] == .null)
        #expect(cleared["amazonTag"] == "shop-21")
        try await waitUntil("the tenant no longer has a rate limit") {
            try await server.client.post("{ me { id } }", token: token).status == 200
        }

        // Limit the storage.
        let shown = try json(try await installation.admin("tenant", "show", "shop", "--json"))
        #expect(shown["storageBytesMax"] == .null && shown["storageBytes"] == 0)
        #expect(shown["userStorageBytesMax"] == 2_147_483_648)
        let limited = try json(
            try await installation.admin(
                "tenant", "update", "shop", "--storage", "500GB", "--user-storage", "1GiB", "--json"
            ))
        #expect(limited["storageBytesMax"] == 500_000_000_000)
        #expect(limited["userStorageBytesMax"] == 1_073_741_824)
        let storage = try await server.client.execute(
            "{ me { storage { usedBytes quotaBytes } } }", token: token)
        #expect(
            "\(storage["data", "me", "storage", "quotaBytes"] ?? .null)".contains("1073741824"))
        let text = try await installation.admin("tenant", "show", "shop")
        #expect(text.output.contains("  storage: 0 bytes of 500 GB\n"))
        #expect(
            try await installation.admin("tenant", "list").output
                .contains("storage 500 GB, per user 1 GiB"))
        let unlimited = try json(
            try await installation.admin(
                "tenant", "update", "shop", "--clear", "storage", "--clear", "user-storage",
                "--json"))
        #expect(unlimited["storageBytesMax"] == .null)
        #expect(unlimited["userStorageBytesMax"] == .null)

        // Allow half stars.
        #expect(text.output.contains("  rating-step: 1\n"))
        let starred = try json(
            try await installation.admin(
                "tenant", "update", "shop", "--rating-step", "0.5", "--json"))
        #expect(starred["ratingStep"]?.double == 0.5 && shown["ratingStep"] == 1)
        try await waitUntil("the server has the setting") {
            let settings = try await server.client.execute(
                "{ settings { ratingStep } }", token: token)
            return settings["data", "settings", "ratingStep"]?.double == 0.5
        }

        for (arguments, code) in [
            (["tenant", "update", "shop", "--storage", "many"], 64),
            (["tenant", "update", "shop", "--rating-step", "0.3"], 64),
            (["tenant", "update", "shop", "--storage", "99999999999TB"], 64),
            (["tenant", "show", "nobody"], 1),
            (["tenant", "update", "nobody", "--name", "x"], 1),
            (["tenant", "update", "shop", "--audience", "com.example.reader"], 1),
            (["tenant", "update", "shop", "--provider", "https://id.example"], 64),
            (["tenant", "update", "shop", "--provider", "x=y"], 1),
            (["tenant", "update", "shop", "--rate", "0"], 1),
            (["tenant", "remove", "nobody", "--yes"], 1), (["tenant", "remove", "shop"], 64),
        ] as [([String], Int32)] {
            let outcome = try await installation.admin(arguments)
            #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
        }

        let dryRemoval = try json(
            try await installation.admin("tenant", "remove", "shop", "--dry-run", "--json"))
        #expect(dryRemoval == ["slug": "shop", "accounts": 1, "dryRun": true])
        let removed = try json(
            try await installation.admin("tenant", "remove", "shop", "--yes", "--json"))
        #expect(removed["accounts"] == 1)
        let gone = try await server.client.execute("{ me { id } }", token: token)
        #expect(gone["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        let list = try json(try await installation.admin("tenant", "list", "--json"))
        #expect(list.values(of: "slug") == ["reader"])
        #expect(
            try await installation.database.count("SELECT count(*) FROM account_tombstones") == 1)
    }

    @Test func rotatesKeysOfARunningServer() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let token = try await server.signIn("ada")["accessToken"]?.string
        let rotated = try await installation.admin("keys", "rotate")
        #expect(rotated.output.hasSuffix("2 signing keys\n"), "\(rotated.output)")
        // The CLI signs with the new key immediately. The server reloads the file when a token has an unknown key.
        let issued = try await installation.admin("token", "issue", "--name", "Grace")
        let next = issued.output.split(separator: "\n").first.map(String.init)
        for token in [token, next] {
            let me = try await server.client.execute("{ me { id } }", token: token)
            #expect(me["errors"] == nil, "\(me)")
        }
    }

    /// The explorer and the token that `scripts/run` prints belong to the same user, whichever comes first.
    @Test func tokensForASubjectBelongToTheUserWhoSignsInWithIt() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        func issued(_ subject: String) async throws -> Value? {
            let outcome = try await installation.admin(
                "token", "issue", "--subject", subject, "--json")
            return try json(outcome)["userId"]
        }
        let early = try await server.signIn("ada")["user", "id"]
        #expect(early != nil)
        #expect(try await issued("ada") == early)
        let late = try await issued("grace")
        #expect(try await issued("grace") == late)
        #expect(try await server.signIn("grace")["user", "id"] == late)
        #expect(late != early)
        let both = try await installation.admin(
            "token", "issue", "--subject", "ada", "--user", "0198c0de-0000-7000-8000-000000000001")
        #expect(both.code == 64)
    }

    @Test func enforcesRateLimitsOverHTTP() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer([
            "BOOKPLATE_LIMITS": "rate=3,time=0,signin=4", "BOOKPLATE_TRUSTED_PROXIES": "127.0.0.1",
        ])
        func execute(_ client: String) async throws -> HTTPClient.Response {
            try await server.client.send(
                "POST", "/graphql", body: #"{"query":"{ __typename }"}"#,
                headers: ["x-forwarded-for": client])
        }
        for left in [2, 1, 0] {
            let response = try await execute("198.51.100.1")
            #expect(response.status == 200)
            #expect(response.headers["ratelimit-policy"] == #""address";q=3;w=60"#)
            #expect(response.headers["ratelimit"]?.hasPrefix(#""address";r=\#(left);t="#) == true)
        }
        let refused = try await execute("198.51.100.1")
        #expect(refused.status == 429)
        #expect(refused.headers["retry-after"]?.isEmpty == false)
        #expect(try await execute("198.51.100.2").status == 200)
        // Apple's notifications count against the limit of their address, too.
        var statuses: Set<Int> = []
        for _ in 0..<5 {
            statuses.insert(
                try await server.client.send(
                    "POST", "/apple/notifications", body: "{}",
                    headers: ["x-forwarded-for": "198.51.100.3"]
                ).status)
        }
        #expect(statuses == [400, 429])
    }

    /// If the server is killed before Apple has responded, the next server revokes the token.
    @Test func completesADeletionAfterTheServerWasKilled() async throws {
        let apple = try StubAppleServer()
        apple.addGrant("code", .init(refreshToken: "grantOfApple"))
        let installation = try await Installation.ready(catalog: [])
        let settings = [
            "BOOKPLATE_APPLE_KEY_FILE": try installation.write(StubAppleServer.key, to: "apple.p8"),
            "BOOKPLATE_APPLE_KEY_ID": "KEY1234567", "BOOKPLATE_APPLE_TEAM_ID": "TEAM123456",
            "BOOKPLATE_APPLE_TOKEN_URL": apple.server.url("/auth/token"),
            "BOOKPLATE_APPLE_REVOKE_URL": apple.server.url("/auth/revoke"),
        ]
        let first = try await installation.startServer(settings.mapValues { .some($0) })
        let identity = try await first.client.send(
            "POST", "/development/identity-token",
            body: #"{"subject":"ada","audience":"com.example.reader"}"#)
        let session = try await first.client.execute(
            TestApp.signIn,
            [
                "input": [
                    "identityToken": identity.json["identityToken"] ?? .null,
                    "authorizationCode": "code",
                ]
            ])["data", "signIn"]
        apple.isDown = true
        let deletion = Task {
            try await first.client.execute(
                "mutation($id: String!) { deleteAccount(confirm: $id) { id } }",
                ["id": session?["user", "id"] ?? .null], token: session?["accessToken"]?.string)
        }
        try await waitUntil("the account is deleted") {
            try await installation.database.count("SELECT count(*) FROM users") == 0
        }
        first.program.send(SIGKILL)
        _ = try? await deletion.value
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'apple.revoke'") == 1)

        apple.isDown = false
        try await installation.database.execute("UPDATE jobs SET run_at = now()")
        let second = try await installation.startServer(settings.mapValues { .some($0) })
        try await waitUntil("the token is revoked") {
            try await installation.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'apple.revoke'") == 0
        }
        #expect(apple.revokedTokens.last == "grantOfApple")
        #expect(try await second.client.send("GET", "/health/live").status == 200)
    }
}
