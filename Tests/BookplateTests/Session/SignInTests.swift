import GraphQL
import Identity
import TestSupport
import Testing

@Suite struct SignInTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func subject() -> String { "subject.\(UInt64.random(in: 0...UInt64.max))" }

    @Test func firstSignInMakesTheUser() async throws {
        let app = try await Self.app()
        let answer = try await app.signIn(
            subject: subject(), email: "ada@example.com", displayName: " Ada Lovelace ")
        let session = try #require(answer["signInWithApple"])
        #expect(session["isNewUser"] == true)
        #expect(session["user", "displayName"] == "Ada Lovelace")
        #expect(session["user", "email"] == "ada@example.com")
        #expect(session["user", "preferredGenres"] == [])
        #expect(session["refreshToken"]?.string?.hasPrefix("bpr_") == true)
        let me = try await app.ask("{ me { id } }", token: session["accessToken"]?.string)
        #expect(me["me", "id"] == session["user", "id"])
    }

    @Test func laterSignInFindsTheSameUser() async throws {
        let app = try await Self.app()
        let subject = subject()
        let first = try await app.signIn(
            subject: subject, email: "old@example.com", displayName: "Ada")
        let second = try await app.signIn(subject: subject, displayName: "Somebody")
        #expect(second["signInWithApple", "isNewUser"] == false)
        #expect(
            second["signInWithApple", "user", "id"] == first["signInWithApple", "user", "id"])
        // Apple tells the name once: what is known is kept.
        #expect(second["signInWithApple", "user", "displayName"] == "Ada")
        #expect(second["signInWithApple", "user", "email"] == "old@example.com")
        let third = try await app.signIn(subject: subject, email: "new@example.com")
        #expect(third["signInWithApple", "user", "email"] == "new@example.com")
        // Each sign-in is a session of its own: the first still works.
        let me = try await app.ask(
            "{ me { id } }", token: first["signInWithApple", "accessToken"]?.string)
        #expect(me.errors.isEmpty)
    }

    @Test func oneSubjectInTwoTenantsIsTwoUsers() async throws {
        let app = try await Self.app()
        let subject = subject()
        let alpha = try Reader(app, subject, try await app.signIn(subject: subject, tenant: .alpha))
        let beta = try Reader(app, subject, try await app.signIn(subject: subject, tenant: .beta))
        #expect(alpha.id != beta.id)
        _ = try await alpha.makeShelf("Alpha's")
        let shelves = try await beta.need("{ me { shelves { name } } }", .null, "me", "shelves")
        #expect(shelves == [])
    }

    @Test func manyFirstSignInsAtOnceMakeOneUser() async throws {
        let app = try await Self.app()
        let subject = subject()
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<10 { group.addTask { try await app.signIn(subject: subject) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.errors.isEmpty })
        #expect(Set(answers.compactMap { $0["signInWithApple", "user", "id"]?.string }).count == 1)
        #expect(answers.count { $0["signInWithApple", "isNewUser"] == true } == 1)
    }

    @Test func nonceBindsTheTokenToItsRequest() async throws {
        let app = try await Self.app()
        let token = app.identityToken(subject: subject(), nonce: "once")
        for (nonce, isGood) in [("once", true), ("twice", false)] as [(Value, Bool)] {
            let answer = try await app.ask(
                TestApp.signIn, ["input": ["identityToken": .string(token), "nonce": nonce]])
            #expect(answer.errors.isEmpty == isGood)
            if !isGood { #expect(answer.code == "UNAUTHENTICATED") }
        }
    }

    @Test(arguments: [
        "other audience", "other issuer", "other key", "expired", "garbage", "empty", "cut",
    ])
    func badIdentityTokensAreRefusedAlike(kind: String) async throws {
        let app = try await Self.app()
        let good = app.identityToken(subject: "subject")
        let token: String? =
            switch kind {
            case "other audience":
                TestApp.issuer.identityToken(subject: "subject", audience: "com.example.nobody")
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
        let answer = try await app.ask(
            TestApp.signIn, ["input": ["identityToken": .string(try #require(token))]])
        #expect(answer.code == "UNAUTHENTICATED")
        #expect(answer.message == "Sign in and try again.")
        #expect(answer.errors.first?["path"] == ["signInWithApple"])
        #expect(answer["signInWithApple"] == nil)
    }

    @Test func tooLongNameIsRefused() async throws {
        let answer = try await Self.app().signIn(
            subject: subject(), displayName: String(repeating: "x", count: 101))
        #expect(answer.code == "BAD_USER_INPUT")
        #expect(answer.field == "displayName")
    }
}
