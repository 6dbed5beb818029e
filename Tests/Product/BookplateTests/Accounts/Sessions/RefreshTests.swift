import Basics
import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct RefreshTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    static let refresh = """
        mutation($token: String!) {
          refreshSession(refreshToken: $token) { accessToken refreshToken isNewUser accessTokenExpiresAt user { id } }
        }
        """

    private func refresh(_ token: String) async throws -> TestResponse {
        try await Self.app().execute(Self.refresh, ["token": .string(token)])
    }

    /// Moves the last refresh and the expiry into the past by an interval.
    private func age(_ reader: TestReader, _ interval: String) async throws {
        let id = reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            UPDATE sessions SET rotated_at = rotated_at - interval '\(interval)',
              expires_at = expires_at - interval '\(interval)' WHERE user_id = '\(id)'
            """)
    }

    private func isSignedIn(_ token: String?) async throws -> Bool {
        try await Self.app().execute("{ me { id } }", token: token).errors.isEmpty
    }

    @Test func refreshReturnsNewTokens() async throws {
        let reader = try await Self.app().makeReader()
        var tokens = [reader.refreshToken]
        for _ in 0..<5 {
            let response = try await refresh(tokens[tokens.count - 1])
            #expect(response["refreshSession", "isNewUser"] == false)
            #expect(response["refreshSession", "user", "id"] == reader.id)
            let next = try #require(response["refreshSession", "refreshToken"]?.string)
            #expect(!tokens.contains(next))
            tokens.append(next)
            #expect(try await isSignedIn(response["refreshSession", "accessToken"]?.string))
        }
    }

    @Test func refreshCanBeRepeatedAfterALostResponse() async throws {
        let reader = try await Self.app().makeReader()
        let first = try await refresh(reader.refreshToken)
        try await age(reader, "50 s")
        let second = try await refresh(reader.refreshToken)
        #expect(
            first["refreshSession", "refreshToken"] == second["refreshSession", "refreshToken"])
        #expect(try await isSignedIn(second["refreshSession", "accessToken"]?.string))
    }

    @Test func reuseAfterTheGracePeriodRevokesTheSession() async throws {
        let reader = try await Self.app().makeReader()
        let first = try await refresh(reader.refreshToken)
        try await age(reader, "61 s")
        let reuse = try await refresh(reader.refreshToken)
        #expect(reuse.code == "UNAUTHENTICATED")
        #expect(reuse["refreshSession"] == nil)
        // Its successor is also invalid.
        #expect(
            try await refresh(first["refreshSession", "refreshToken"]?.string ?? "").code
                == "UNAUTHENTICATED")
        #expect(try await isSignedIn(first["refreshSession", "accessToken"]?.string) == false)
        #expect(try await isSignedIn(reader.token) == false)
    }

    @Test func reuseOfAnOlderTokenRevokesTheSessionImmediately() async throws {
        let reader = try await Self.app().makeReader()
        let second = try await refresh(reader.refreshToken)
        let third = try await refresh(second["refreshSession", "refreshToken"]?.string ?? "")
        // The grace period applies only to the direct predecessor of the current token.
        #expect(try await refresh(reader.refreshToken).code == "UNAUTHENTICATED")
        #expect(try await isSignedIn(third["refreshSession", "accessToken"]?.string) == false)
    }

    /// A token with an invalid secret does not revoke the session.
    @Test func forgedTokenDoesNotRevokeTheSession() async throws {
        let reader = try await Self.app().makeReader()
        let next = try await refresh(reader.refreshToken)
        try await age(reader, "61 s")
        var forged = Array(reader.refreshToken)
        for index in (forged.count - 20)..<(forged.count - 1) {
            forged[index] = forged[index] == "A" ? "B" : "A"
        }
        #expect(try await refresh(String(forged)).code == "UNAUTHENTICATED")
        #expect(try await isSignedIn(reader.token))
        #expect(
            try await refresh(next["refreshSession", "refreshToken"]?.string ?? "").errors.isEmpty)
    }

    /// The secret does not protect the ids of a token. Another tenant would take over the session's limits and apps.
    @Test(arguments: [true, false])
    func tokenOfAnotherTenantIsRejected(isKnownTenant: Bool) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let stranger = try TestReader(
            app, "stranger", try await app.signIn(subject: "stranger", tenant: .beta))
        let ticket = try #require(RefreshTicket(reader.refreshToken))
        let tenant =
            isKnownTenant
            ? try #require(RefreshTicket(stranger.refreshToken)).tenantID : UUID.version7()
        #expect(tenant != ticket.tenantID)
        let offset = RefreshTicket.Kind.session.rawValue.utf8.count
        var bytes = try #require(Base64URL.decode(reader.refreshToken.utf8.dropFirst(offset)))
        bytes.replaceSubrange(..<16, with: tenant.bytes)
        let forged = RefreshTicket.Kind.session.rawValue + Base64URL.encode(bytes)
        #expect(RefreshTicket(forged)?.tenantID == tenant)
        let response = try await refresh(forged)
        #expect(response.code == "UNAUTHENTICATED")
        #expect(response["refreshSession"] == nil)
        // The session has not changed.
        #expect(try await refresh(reader.refreshToken).errors.isEmpty)
    }

    @Test(arguments: [
        "", "bpr_", "bpr_AAAA", "no token", String(repeating: "A", count: 100_000), "bpr_\u{0}",
    ])
    func malformedTokensAreRejected(token: String) async throws {
        let response = try await refresh(token)
        #expect(response.code == "UNAUTHENTICATED")
        #expect(response.message == "Sign in and try again.")
    }

    @Test func concurrentRefreshesReturnTheSameTokens() async throws {
        let reader = try await Self.app().makeReader()
        let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await refresh(reader.refreshToken)["refreshSession", "refreshToken"]?.string
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(tokens.first != .some(nil))
    }

    @Test func refreshExtendsTheSessionUntilItExpires() async throws {
        let reader = try await Self.app().makeReader()
        try await age(reader, "89 days")
        let next = try await refresh(reader.refreshToken)
        #expect(next.errors.isEmpty)
        try await age(reader, "89 days")
        let last = try await refresh(next["refreshSession", "refreshToken"]?.string ?? "")
        #expect(last.errors.isEmpty)
        try await age(reader, "91 days")
        #expect(
            try await refresh(last["refreshSession", "refreshToken"]?.string ?? "").code
                == "UNAUTHENTICATED")
        #expect(try await isSignedIn(last["refreshSession", "accessToken"]?.string) == false)
    }

    @Test func signOutEndsOnlyThisSession() async throws {
        let app = try await Self.app()
        let here = try await app.makeReader()
        let there = try TestReader(app, here.subject, try await app.signIn(subject: here.subject))
        #expect(
            try await here.execute("mutation { signOut { endedSessions } }")[
                "signOut", "endedSessions"] == 1)
        // The access token is rejected immediately, long before it expires.
        #expect(try await isSignedIn(here.token) == false)
        #expect(try await refresh(here.refreshToken).code == "UNAUTHENTICATED")
        #expect(try await isSignedIn(there.token))
        #expect(try await refresh(there.refreshToken).errors.isEmpty)
    }

    @Test func signOutEverywhereEndsAllSessionsOfTheUser() async throws {
        let app = try await Self.app()
        let here = try await app.makeReader()
        let there = try TestReader(app, here.subject, try await app.signIn(subject: here.subject))
        let other = try await app.makeReader()
        #expect(
            try await here.execute("mutation { signOut(everywhere: true) { endedSessions } }")[
                "signOut", "endedSessions"] == 2)
        for reader in [here, there] {
            #expect(try await isSignedIn(reader.token) == false)
            #expect(try await refresh(reader.refreshToken).code == "UNAUTHENTICATED")
        }
        #expect(try await isSignedIn(other.token))
    }

    @Test func endedSessionsCannotWrite() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.execute("mutation { signOut { endedSessions } }")
        let response = try await reader.execute(ShelfTests.create, ["input": ["name": "Late"]])
        #expect(response.code == "UNAUTHENTICATED")
        let id = reader.id.string ?? ""
        #expect(
            try await Self.app().database.count(
                "SELECT count(*) FROM shelves WHERE user_id = '\(id)'") == 0)
    }
}
