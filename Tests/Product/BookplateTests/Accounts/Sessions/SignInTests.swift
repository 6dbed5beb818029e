import GraphQL
import Identity
import TestSupport
import Testing

@Suite struct SignInTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func subject() -> String { "subject.\(UInt64.random(in: 0...UInt64.max))" }

    @Test func firstSignInCreatesTheUser() async throws {
        let app = try await Self.app()
        let response = try await app.signIn(
            subject: subject(), email: "ada@example.com", displayName: " Ada Lovelace ")
        let session = try #require(response["signIn"])
        #expect(session["isNewUser"] == true)
        #expect(session["user", "displayName"] == "Ada Lovelace")
        #expect(session["user", "email"] == "ada@example.com")
        #expect(session["user", "preferredGenres"] == [])
        #expect(session["refreshToken"]?.string?.hasPrefix("bpr_") == true)
        let me = try await app.execute("{ me { id } }", token: session["accessToken"]?.string)
        #expect(me["me", "id"] == session["user", "id"])
    }

    @Test func laterSignInFindsTheSameUser() async throws {
        let app = try await Self.app()
        let subject = subject()
        let first = try await app.signIn(
            subject: subject, email: "old@example.com", displayName: "Ada")
        let second = try await app.signIn(subject: subject, displayName: "Other")
        #expect(second["signIn", "isNewUser"] == false)
        #expect(
            second["signIn", "user", "id"] == first["signIn", "user", "id"])
        // Apple sends the name only once, so the stored values are kept.
        #expect(second["signIn", "user", "displayName"] == "Ada")
        #expect(second["signIn", "user", "email"] == "old@example.com")
        let third = try await app.signIn(subject: subject, email: "new@example.com")
        #expect(third["signIn", "user", "email"] == "new@example.com")
        // Each sign-in opens a separate session, so the first one is still valid.
        let me = try await app.execute(
            "{ me { id } }", token: first["signIn", "accessToken"]?.string)
        #expect(me.errors.isEmpty)
    }

    @Test func sameSubjectInTwoTenantsIsTwoUsers() async throws {
        let app = try await Self.app()
        let subject = subject()
        let alpha = try TestReader(
            app, subject, try await app.signIn(subject: subject, tenant: .alpha))
        let beta = try TestReader(
            app, subject, try await app.signIn(subject: subject, tenant: .beta))
        #expect(alpha.id != beta.id)
        _ = try await alpha.makeShelf("Alpha's")
        let shelves = try await beta.requireValue(
            "{ me { shelves { name } } }", .null, "me", "shelves")
        #expect(shelves == [])
    }

    @Test func concurrentFirstSignInsCreateOneUser() async throws {
        let app = try await Self.app()
        let subject = subject()
        let responses = try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for _ in 0..<10 { group.addTask { try await app.signIn(subject: subject) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.errors.isEmpty })
        #expect(
            Set(responses.compactMap { $0["signIn", "user", "id"]?.string }).count == 1)
        #expect(responses.count { $0["signIn", "isNewUser"] == true } == 1)
    }

    // MARK: - Tokens are valid once

    @Test func signInCanBeRepeatedAfterALostResponse() async throws {
        let app = try await Self.app()
        let token = app.identityToken(subject: subject())
        let first = try await app.signIn(token: token, displayName: "Ada", authorizationCode: "c")
        let second = try await app.signIn(token: token, displayName: "Ada", authorizationCode: "c")
        #expect(second.errors.isEmpty)
        // The repetition returns the same session.
        for field in ["refreshToken", "isNewUser"] as [PathElement] {
            #expect(first["signIn", field] == second["signIn", field])
        }
        #expect(first["signIn", "user"] == second["signIn", "user"])
        let id = second["signIn", "user", "id"]?.string ?? ""
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM sessions WHERE user_id = '\(id)'") == 1)
    }

    @Test func concurrentSignInsWithOneTokenOpenOneSession() async throws {
        let app = try await Self.app()
        let token = app.identityToken(subject: subject())
        let refreshTokens = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await app.signIn(token: token)["signIn", "refreshToken"]?.string
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(refreshTokens.count == 1)
        #expect(refreshTokens.first != .some(nil))
    }

    /// A stolen identity token is useless without the other inputs of the sign-in.
    @Test func tokenWithOtherInputIsRejected() async throws {
        let app = try await Self.app()
        let token = app.identityToken(subject: subject())
        #expect(try await app.signIn(token: token, authorizationCode: "mine").errors.isEmpty)
        for code in [nil, "theirs"] {
            let replay = try await app.signIn(token: token, authorizationCode: code)
            #expect(replay.code == "UNAUTHENTICATED")
            #expect(replay.message == "Sign in and try again.")
            #expect(replay["signIn"] == nil)
        }
    }

    @Test(arguments: ["later", "after a refresh", "after signing out", "after the account is gone"])
    func usedTokenCannotBeUsedAgain(when: String) async throws {
        let app = try await Self.app()
        let subject = subject()
        let token = app.identityToken(subject: subject)
        let reader = try TestReader(app, subject, try await app.signIn(token: token))
        let id = reader.id.string ?? ""
        switch when {
        case "later":
            try await app.database.execute(
                "UPDATE sessions SET created_at = now() - interval '61 s' WHERE user_id = '\(id)'")
        case "after a refresh":
            #expect(
                try await app.execute(RefreshTests.refresh, ["token": .string(reader.refreshToken)])
                    .errors.isEmpty)
        case "after signing out":
            #expect(
                try await reader.execute("mutation { signOut { endedSessions } }").errors.isEmpty)
        default:
            #expect(try await reader.execute(UserTests.delete, ["id": reader.id]).errors.isEmpty)
        }
        #expect(try await app.signIn(token: token).code == "UNAUTHENTICATED")
        // It does not create a user.
        let users = try await app.database.count(
            "SELECT count(*) FROM identities WHERE subject = '\(subject)'")
        #expect(users == (when == "after the account is gone" ? 0 : 1))
        #expect(try await app.signIn(subject: subject).errors.isEmpty)
    }

    @Test func endedSessionsAndUsedTokensAreDeleted() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let id = reader.id.string ?? ""
        try await app.database.execute(
            """
            UPDATE sessions SET revoked_at = now() - interval '25 hours' WHERE user_id = '\(id)';
            INSERT INTO identity_token_uses (token_hash, expires_at)
              SELECT sha256(i::text::bytea), now() - interval '2 hours' FROM generate_series(1, 25) i
            """)
        #expect(try await app.signIn(subject: reader.subject).errors.isEmpty)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM sessions WHERE user_id = '\(id)'") == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM identity_token_uses WHERE expires_at < now()") <= 5)
    }

    @Test func nonceMustMatch() async throws {
        let app = try await Self.app()
        let token = app.identityToken(subject: subject(), nonce: "once")
        for (nonce, isGood) in [("once", true), ("twice", false)] as [(Value, Bool)] {
            let response = try await app.execute(
                TestApp.signIn, ["input": ["identityToken": .string(token), "nonce": nonce]])
            #expect(response.errors.isEmpty == isGood)
            if !isGood { #expect(response.code == "UNAUTHENTICATED") }
        }
    }

    @Test(arguments: [
        "other audience", "other issuer", "other key", "expired", "garbage", "empty", "cut",
    ])
    func invalidIdentityTokensAreRejectedWithTheSameError(kind: String) async throws {
        let app = try await Self.app()
        let good = app.identityToken(subject: "subject")
        let token: String? =
            switch kind {
            case "other audience":
                TestApp.issuer.identityToken(subject: "subject", audience: "com.example.unknown")
            case "other issuer":
                DevelopmentIssuer(issuer: "https://example.com").identityToken(
                    subject: "subject", audience: TestApp.Tenant.alpha.audience)
            case "other key":
                DevelopmentIssuer().identityToken(
                    subject: "subject", audience: TestApp.Tenant.alpha.audience)
            case "expired":
                TestApp.issuer.identityToken(
                    subject: "subject", audience: TestApp.Tenant.alpha.audience,
                    now: unixSecondsNow() - 7200)
            case "garbage": "a.b.c"
            case "cut": String(good.dropLast(3))
            default: ""
            }
        let response = try await app.execute(
            TestApp.signIn, ["input": ["identityToken": .string(try #require(token))]])
        #expect(response.code == "UNAUTHENTICATED")
        #expect(response.message == "Sign in and try again.")
        #expect(response.errors.first?["path"] == ["signIn"])
        #expect(response["signIn"] == nil)
    }

    @Test func tooLongNameIsRejected() async throws {
        let response = try await Self.app().signIn(
            subject: subject(), displayName: String(repeating: "x", count: 101))
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == "displayName")
    }
}
