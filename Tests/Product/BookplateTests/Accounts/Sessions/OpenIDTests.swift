import GraphQL
import HTTPFetch
import Identity
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Sign-in with a real OpenID Connect provider: discovery, key rotation, and tokens that were issued for something else.
@Suite(.serialized) struct OpenIDTests {
    private struct World {
        let app: TestApp
        let google: OpenIDProvider
        let keycloak: OpenIDProvider

        func signIn(
            _ token: String, provider: String, nonce: String? = nil, as guest: TestReader? = nil
        ) async throws -> TestResponse {
            try await app.execute(
                OpenIDTests.signIn,
                [
                    "input": [
                        "provider": .string(provider), "identityToken": .string(token),
                        "nonce": nonce.map { .string($0) } ?? .null,
                    ]
                ], token: guest?.token)
        }
    }

    private static let signIn = """
        mutation($input: SignInWithOpenIDInput!) {
          signIn(input: {openID: $input}) {
            accessToken refreshToken isNewUser user { id isGuest identities { id provider } }
          }
        }
        """

    private static let world = Shared {
        let (google, keycloak) = (
            try await OpenIDProvider.start(), try await OpenIDProvider.start()
        )
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let app = try await TestApp.start(
            catalog: [],
            makeKeySet: { KeySetCache($0, fetcher: fetcher, allowsPlainHTTP: true) })
        try await app.allowGuests()
        try await app.database.withConnection { connection in
            for (name, provider) in [("google", google), ("keycloak", keycloak)] {
                _ = try TenantRecord.addProvider(
                    .init(name: name, issuer: provider.issuer, audiences: ["reader-\(name)"]),
                    to: "alpha", connection)
            }
            // Another app with its own client at the same provider.
            _ = try TenantRecord.addProvider(
                .init(name: "google", issuer: google.issuer, audiences: ["other-app"]), to: "beta",
                connection)
        }
        return World(app: app, google: google, keycloak: keycloak)
    }

    private func subject() -> String { "subject-\(UInt64.random(in: 0...UInt64.max))" }

    @Test func tokenOfTheProviderSignsIn() async throws {
        let world = try await Self.world()
        let subject = subject()
        var users: [Value?] = []
        for isNew in [true, false] {
            let token = try await world.google.identityToken(
                subject: subject, clientID: "reader-google", nonce: "n-\(subject)-\(isNew)")
            let response = try await world.signIn(
                token, provider: "google", nonce: "n-\(subject)-\(isNew)")
            #expect(response.errors.isEmpty)
            #expect(response["signIn", "isNewUser"] == .boolean(isNew))
            #expect(response["signIn", "user", "identities", 0, "provider"] == "google")
            users.append(response["signIn", "user", "id"])
        }
        #expect(users[0] == users[1])
    }

    /// The keys are found by discovery. After a rotation, a token with an unknown key causes one fetch, and tokens of the
    /// removed key are refused.
    @Test func rotatedKeysAreFetched() async throws {
        let provider = try await OpenIDProvider.start()
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let verifier = IdentityTokenVerifier(
            issuers: [provider.issuer], audiences: ["reader"],
            keys: KeySetCache(
                .discovery(issuer: provider.issuer), fetcher: fetcher, allowsPlainHTTP: true))
        let old = try await provider.identityToken(subject: "ada", clientID: "reader")
        let now = unixSecondsNow()
        #expect(try await verifier.verify(old, nonce: nil, now: now).subject == "ada")
        try await provider.rotateKey()
        let new = try await provider.identityToken(subject: "ada", clientID: "reader")
        // Keys are fetched at most once in 30 seconds.
        await #expect(throws: TokenError.self) {
            try await verifier.verify(new, nonce: nil, now: now + 5)
        }
        #expect(try await verifier.verify(new, nonce: nil, now: now + 31).subject == "ada")
        await #expect(throws: TokenError.self) {
            try await verifier.verify(old, nonce: nil, now: now + 32)
        }
    }

    /// Mix-up and confused-deputy attacks: tokens that are valid, but for another provider, client, or app.
    @Test func tokensForSomethingElseAreRefused() async throws {
        let world = try await Self.world()
        let google = try await world.google.identityToken(
            subject: subject(), clientID: "reader-google")
        // A token of one provider is sent as that of the other one, or as Apple's.
        #expect(try await world.signIn(google, provider: "keycloak").code == "UNAUTHENTICATED")
        #expect(try await world.app.signIn(token: google).code == "UNAUTHENTICATED")
        // The client ID belongs to the app at the other provider.
        let crossed = try await world.google.identityToken(
            subject: subject(), clientID: "reader-keycloak")
        for provider in ["google", "keycloak"] {
            #expect(try await world.signIn(crossed, provider: provider).code == "UNAUTHENTICATED")
        }
        // A token for an unknown app, an unknown provider, and Apple's token as the provider's.
        let unknown = try await world.google.identityToken(
            subject: subject(), clientID: "malicious-app")
        #expect(try await world.signIn(unknown, provider: "google").code == "UNAUTHENTICATED")
        #expect(try await world.signIn(google, provider: "microsoft").code == "UNAUTHENTICATED")
        let apple = world.app.identityToken(subject: subject())
        #expect(try await world.signIn(apple, provider: "google").code == "UNAUTHENTICATED")
        // None of them has used up the token.
        #expect(try await world.signIn(google, provider: "google").errors.isEmpty)
    }

    /// The client ID selects the app: the same person has one account in each.
    @Test func clientSelectsTheTenant() async throws {
        let world = try await Self.world()
        let subject = subject()
        let alpha = try await world.signIn(
            try await world.google.identityToken(subject: subject, clientID: "reader-google"),
            provider: "google")
        let beta = try await world.signIn(
            try await world.google.identityToken(subject: subject, clientID: "other-app"),
            provider: "google")
        #expect(beta["signIn", "isNewUser"] == true)
        #expect(alpha["signIn", "user", "id"] != beta["signIn", "user", "id"])
        let tenants = try await world.app.database.count(
            "SELECT count(DISTINCT tenant_id) FROM identities WHERE subject LIKE '%\(subject)'")
        #expect(tenants == 2)
    }

    @Test(arguments: [nil, "wrong"] as [String?])
    func nonceMustMatch(nonce: String?) async throws {
        let world = try await Self.world()
        let token = try await world.google.identityToken(
            subject: subject(), clientID: "reader-google", nonce: "n-\(subject())")
        #expect(
            try await world.signIn(token, provider: "google", nonce: nonce).code
                == "UNAUTHENTICATED")
    }

    @Test func tokenIsAcceptedOnce() async throws {
        let world = try await Self.world()
        let token = try await world.google.identityToken(
            subject: subject(), clientID: "reader-google")
        let first = try await world.signIn(token, provider: "google")
        // A repetition of a lost response gets the same session.
        #expect(
            try await world.signIn(token, provider: "google")["signIn", "refreshToken"]
                == first["signIn", "refreshToken"])
        let reader = try await world.app.makeReader()
        #expect(
            try await link(reader, token, provider: "google", world).code == "CONFLICT")
        try await world.app.database.execute(
            "UPDATE sessions SET created_at = now() - interval '2 minutes'")
        #expect(try await world.signIn(token, provider: "google").code == "UNAUTHENTICATED")
    }

    @Test func guestIsUpgradedByAnyProvider() async throws {
        let world = try await Self.world()
        let guest = try await world.app.makeGuest()
        let token = try await world.keycloak.identityToken(
            subject: subject(), clientID: "reader-keycloak")
        let response = try await world.signIn(token, provider: "keycloak", as: guest)
        #expect(response["signIn", "user", "id"] == guest.id)
        #expect(response["signIn", "user", "isGuest"] == false)
    }

    // MARK: - Linking

    private func link(
        _ reader: TestReader, _ token: String, provider: String, _ world: World
    ) async throws -> TestResponse {
        try await reader.execute(
            """
            mutation($input: SignInWithOpenIDInput!) {
              linkIdentity(input: {openID: $input}) { id isGuest identities { id provider } }
            }
            """, ["input": ["provider": .string(provider), "identityToken": .string(token)]])
    }

    private func unlink(_ reader: TestReader, _ id: Value?) async throws -> TestResponse {
        try await reader.execute(
            "mutation($id: ID!) { unlinkIdentity(id: $id) { identities { id provider } } }",
            ["id": id ?? .null])
    }

    @Test func linkedIdentitySignsInToTheSameAccount() async throws {
        let world = try await Self.world()
        let reader = try await world.app.makeReader()
        let subject = subject()
        func token() async throws -> String {
            try await world.google.identityToken(subject: subject, clientID: "reader-google")
        }
        let first = try await token()
        let linked = try await link(reader, first, provider: "google", world)
        let identities = linked["linkIdentity", "identities"]?.list ?? []
        #expect(identities.compactMap { $0["provider"]?.string } == ["apple", "google"])
        // A repetition changes nothing.
        #expect(
            try await link(reader, first, provider: "google", world)["linkIdentity"]
                == linked["linkIdentity"])
        #expect(
            try await world.signIn(try await token(), provider: "google")["signIn", "user", "id"]
                == reader.id)

        // Another account cannot take the identity.
        let other = try await world.app.makeReader()
        #expect(
            try await link(other, try await token(), provider: "google", world).code == "CONFLICT")

        // The identities can be removed, except for the last one.
        #expect(try await unlink(other, identities[1]["id"]).errors.isEmpty)
        #expect(
            try await unlink(reader, identities[0]["id"])["unlinkIdentity", "identities"]
                == .list([identities[1]]))
        #expect(try await unlink(reader, identities[1]["id"]).code == "CONFLICT")
        let apple = try await world.app.signIn(subject: reader.subject)
        #expect(apple["signIn", "isNewUser"] == true)
        #expect(apple["signIn", "user", "id"] != reader.id)
    }

    @Test func guestBecomesAnAccountByLinking() async throws {
        let world = try await Self.world()
        let guest = try await world.app.makeGuest()
        let token = try await world.google.identityToken(
            subject: subject(), clientID: "reader-google")
        let linked = try await link(guest, token, provider: "google", world)
        #expect(linked["linkIdentity", "id"] == guest.id)
        #expect(linked["linkIdentity", "isGuest"] == false)
    }

    @Test func identityOfAnotherAppIsNotLinked() async throws {
        let world = try await Self.world()
        let reader = try await world.app.makeReader()
        let token = try await world.google.identityToken(subject: subject(), clientID: "other-app")
        #expect(try await link(reader, token, provider: "google", world).code == "UNAUTHENTICATED")
    }

    @Test func concurrentLinksOfOneIdentityLinkItOnce() async throws {
        let world = try await Self.world()
        let readers = [try await world.app.makeReader(), try await world.app.makeReader()]
        let subject = subject()
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for reader in readers {
                let token = try await world.google.identityToken(
                    subject: subject, clientID: "reader-google")
                group.addTask { try await link(reader, token, provider: "google", world).code }
            }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1)
        #expect(codes.contains("CONFLICT"))
    }
}
