import GraphQL
import Identity
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

@Suite struct AppleNotificationTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func receive(
        _ type: String, _ reader: TestReader, id: String = "\(UInt64.random(in: 0...UInt64.max))",
        audience: String = TestApp.Tenant.alpha.audience, now: UnixSeconds = unixSecondsNow(),
        issuer: DevelopmentIssuer = TestApp.issuer
    ) async throws -> AppleNotifications.Outcome {
        let payload = issuer.notification(
            type: type, subject: reader.subject, audience: audience, id: id, now: now)
        return try await receive(#"{"payload":"\#(payload ?? "")"}"#)
    }

    private func receive(_ body: String) async throws -> AppleNotifications.Outcome {
        let app = try await Self.app()
        return await AppleNotifications.receive(
            Array(body.utf8), database: app.pool, services: app.services, requestID: "r")
    }

    @Test func revokedConsentEndsTheSessionsButKeepsTheLibrary() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Kept")
        let other = try await app.makeReader()
        #expect(try await receive("consent-revoked", reader) == .accepted)
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
        #expect(
            try await app.execute(RefreshTests.refresh, ["token": .string(reader.refreshToken)])
                .code
                == "UNAUTHENTICATED")
        #expect(try await other.execute("{ me { id } }").errors.isEmpty)
        // After signing in again, the user has the same library.
        let again = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        #expect(again.id == reader.id)
        #expect(
            try await again.execute("query($id: ID!) { book(id: $id) { title } }", ["id": book])[
                "book", "title"] == "Kept")
    }

    /// Otherwise, a stolen session could create tokens all the time, and one of them would remain.
    @Test(arguments: [true, false])
    func revocationSeesTokensOfOpenTransactions(isByOperator: Bool) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let other = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try other.execute("BEGIN; SELECT lock_user('\(user)')")
        try other.execute(
            """
            INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters)
            VALUES ('\(user)', gen_random_uuid(), 'Late', '{FEED}', sha256('\(user)'), '', 'abcd')
            """)
        let revocation = Task.detached {
            if isByOperator {
                let connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
                _ = try SessionRecord.revoke(nil, of: try #require(UUID(user)), connection)
            } else {
                #expect(try await receive("consent-revoked", reader) == .accepted)
            }
        }
        try await waitUntil("the revocation waits") {
            try await app.database.count(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") > 0
        }
        try other.execute("COMMIT")
        try await revocation.value
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM access_tokens WHERE user_id = '\(user)'") == 0)
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
    }

    @Test(arguments: ["account-delete", "account-deleted"])
    func deletedAppleAccountIsDeleted(type: String) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        // The same person's account in another app is separate. Apple sends a separate notification for it.
        let elsewhere = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject, tenant: .beta))
        #expect(try await receive(type, reader) == .accepted)
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
        let id = reader.id.string ?? ""
        #expect(
            try await app.database.count("SELECT count(*) FROM users WHERE id = '\(id)'") == 0)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM account_tombstones WHERE user_hash = sha256(uuid_send('\(id)'))"
            ) == 1)
        #expect(try await elsewhere.execute("{ me { id } }").errors.isEmpty)
    }

    /// A repeated notification does not delete an account that was created since.
    @Test func repeatedNotificationHasNoEffect() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        #expect(try await receive("account-delete", reader, id: "repeated") == .accepted)
        let again = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        #expect(try await receive("account-delete", reader, id: "repeated") == .accepted)
        #expect(try await again.execute("{ me { id } }").errors.isEmpty)
    }

    @Test func disabledEmailAddressIsNotReturned() async throws {
        let app = try await Self.app()
        let subject = "mail.\(UInt64.random(in: 0...UInt64.max))"
        let reader = try TestReader(
            app, subject, try await app.signIn(subject: subject, email: "relay@example.com"))
        func email() async throws -> Value? {
            try await reader.execute("{ me { email } }")["me", "email"]
        }
        #expect(try await email() == "relay@example.com")
        #expect(try await receive("email-disabled", reader) == .accepted)
        #expect(try await email() == .null)
        // Identity tokens still contain the address.
        _ = try await app.signIn(subject: subject, email: "relay@example.com")
        #expect(try await email() == .null)
        #expect(try await receive("email-enabled", reader) == .accepted)
        #expect(try await email() == "relay@example.com")
    }

    @Test func unknownEventsAndUsersAreAccepted() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        #expect(try await receive("something-new", reader) == .accepted)
        let unknown = try TestReader(
            app, "unknown.subject", try await app.signIn(subject: reader.subject))
        #expect(try await receive("account-delete", unknown) == .accepted)
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
    }

    @Test(arguments: [
        "other key", "other audience", "old", "future", "identity token", "unsigned", "no payload",
        "nothing",
    ])
    func notificationsThatAreNotFromAppleAreRejected(kind: String) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let outcome =
            switch kind {
            case "other key":
                try await receive("account-delete", reader, issuer: DevelopmentIssuer())
            case "other audience":
                try await receive("account-delete", reader, audience: "com.example.unknown")
            case "old":
                try await receive("account-delete", reader, now: unixSecondsNow() - 90_000)
            case "future":
                try await receive("account-delete", reader, now: unixSecondsNow() + 600)
            case "identity token":
                try await receive(
                    #"{"payload":"\#(app.identityToken(subject: reader.subject))"}"#)
            case "unsigned": try await receive(#"{"payload":"e30.e30."}"#)
            case "no payload": try await receive("{}")
            default: try await receive("")
            }
        #expect(outcome == .refused)
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
    }
}
