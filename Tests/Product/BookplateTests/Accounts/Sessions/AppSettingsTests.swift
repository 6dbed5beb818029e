import GraphQL
import Identity
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// `Query.settings`: what the screen for signing in shows.
@Suite struct AppSettingsTests {
    private static let app = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.withConnection { connection in
            var alpha = try TenantRecord.find("alpha", connection)
            alpha.providers = [
                .init(
                    name: "google", issuer: "https://accounts.example",
                    audiences: ["ios.google", "web.google"]),
                .init(name: "own", issuer: TestApp.provider.issuer),
            ]
            try alpha.update(connection)
            var beta = try TenantRecord.find("beta", connection)
            beta.issuers = [TestApp.issuer.issuer]
            beta.providers = [.init(name: "own", issuer: TestApp.provider.issuer)]
            try beta.update(connection)
        }
        try await app.database.execute(
            "UPDATE tenants SET guests = slug = 'alpha', rating_step = CASE slug WHEN 'beta' THEN 2 ELSE 4 END, guest_books_max = 7"
        )
        return app
    }

    private static let query = """
        query($app: String) {
          settings(app: $app) {
            name allowsGuests guestBooksMax ratingStep
            identityProviders { name issuers clientIds }
          }
        }
        """

    @Test(arguments: [TestApp.Tenant.alpha.audience, "web.google"])
    func needNoToken(app: String) async throws {
        let response = try await Self.app().execute(Self.query, ["app": .string(app)])
        #expect(response.errors.isEmpty, "\(response.json)")
        #expect(response["settings", "allowsGuests"] == true)
        #expect(
            response["settings", "identityProviders"] == [
                [
                    "name": .null, "issuers": [.string(TestApp.issuer.issuer)],
                    "clientIds": [.string(TestApp.Tenant.alpha.audience)],
                ],
                [
                    "name": "google", "issuers": ["https://accounts.example"],
                    "clientIds": ["ios.google", "web.google"],
                ],
                [
                    "name": "own", "issuers": [.string(TestApp.provider.issuer)],
                    "clientIds": [.string(TestApp.Tenant.alpha.audience)],
                ],
            ], "\(response.json)")
    }

    /// Beta accepts only the configured issuer, and so not its provider.
    @Test func areThoseOfTheCallersApp() async throws {
        let response = try await Self.app().makeReader(.beta).execute(Self.query)
        #expect(response.errors.isEmpty, "\(response.json)")
        #expect(response["settings", "ratingStep"]?.double == 0.5)
        #expect(response["settings", "guestBooksMax"] == 7)
        #expect(response["settings", "allowsGuests"] == false)
        #expect(
            response["settings", "identityProviders"]?.values(of: "issuers") == [
                [.string(TestApp.issuer.issuer)]
            ])
    }

    @Test(arguments: ["", "com.example", "alpha", "COM.EXAMPLE.ALPHA"])
    func ofUnknownAppsAreNotFound(app: String) async throws {
        let response = try await Self.app().execute(Self.query, ["app": .string(app)])
        #expect(response["settings"] == .null)
        #expect(response.code == "NOT_FOUND")
    }
}
