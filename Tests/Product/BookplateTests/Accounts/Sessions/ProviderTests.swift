import GraphQL
import Identity
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// A tenant's own OpenID providers, in addition to the configured issuer.
@Suite struct ProviderTests {
    private func start() async throws -> TestApp {
        let app = try await TestApp.start(catalog: [])
        try await app.database.withConnection { connection in
            var alpha = try TenantRecord.find("alpha", connection)
            alpha.providers = [
                .init(issuer: TestApp.provider.issuer, jwksURL: "https://provider.example/keys")
            ]
            try alpha.update(connection)
        }
        return app
    }

    private func token(_ issuer: DevelopmentIssuer, _ tenant: TestApp.Tenant) throws -> String {
        try #require(issuer.identityToken(subject: "shared.subject", audience: tenant.audience))
    }

    @Test func sameSubjectAtTwoIssuersIsTwoUsers() async throws {
        let app = try await start()
        let apples = try await app.signIn(token: try token(TestApp.issuer, .alpha))
        let providers = try await app.signIn(token: try token(TestApp.provider, .alpha))
        #expect(apples.errors.isEmpty && providers.errors.isEmpty)
        #expect(providers["signIn", "isNewUser"] == true)
        #expect(
            apples["signIn", "user", "id"] != providers["signIn", "user", "id"])
        let again = try await app.signIn(token: try token(TestApp.provider, .alpha))
        #expect(
            again["signIn", "user", "id"] == providers["signIn", "user", "id"])
    }

    @Test func providerIsAcceptedOnlyForItsTenant() async throws {
        let app = try await start()
        #expect(
            try await app.signIn(token: try token(TestApp.provider, .beta)).code
                == "UNAUTHENTICATED")
        // An issuer with the same name but other keys is rejected.
        let impostor = DevelopmentIssuer(issuer: TestApp.provider.issuer)
        #expect(
            try await app.signIn(token: try token(impostor, .alpha)).code == "UNAUTHENTICATED")
    }

    @Test func configuredIssuersOfATenantReplaceTheDefaults() async throws {
        let app = try await start()
        try await app.database.withConnection { connection in
            var alpha = try TenantRecord.find("alpha", connection)
            alpha.issuers = [TestApp.provider.issuer]
            try alpha.update(connection)
        }
        #expect(try await app.signIn(token: try token(TestApp.provider, .alpha)).errors.isEmpty)
        #expect(
            try await app.signIn(token: try token(TestApp.issuer, .alpha)).code
                == "UNAUTHENTICATED")
        #expect(try await app.signIn(token: try token(TestApp.issuer, .beta)).errors.isEmpty)
    }

    /// Only Apple can send notifications about accounts.
    @Test func notificationsOfOtherProvidersAreRejected() async throws {
        let app = try await start()
        let payload =
            TestApp.provider.notification(
                type: "account-delete", subject: "shared.subject",
                audience: TestApp.Tenant.alpha.audience, id: "x") ?? ""
        let outcome = await AppleNotifications.receive(
            Array(#"{"payload":"\#(payload)"}"#.utf8), database: app.pool, services: app.services,
            requestID: "r")
        #expect(outcome == .refused)
    }
}
