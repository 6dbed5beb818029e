import GraphQL
import Requests

/// `Query.settings`: what an app needs to know of its tenant. With the app's ID it is public, because the screen for signing in needs
/// it.
enum AppSettings {
    static let fields: [String: FieldResolver] = [
        "name": .property, "identityProviders": .load(PlainObjectsField(.many)),
        "allowsGuests": .property, "guestBooksMax": .property, "ratingStep": .property,
        "allowsSharing": .property,
    ]
    static let providerFields: [String: FieldResolver] = [
        "name": .property, "issuers": .property, "clientIds": .property,
    ]

    static let find = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        let app = arguments["app"]?.string
        let caller = app == nil ? try request.caller().tenantID : nil
        let accounts = request.services.accounts
        let tenants = try await accounts.tenants.known(for: request)
        guard
            let tenant = tenants.first(where: { tenant in
                app.map { tenant.hasApp($0) } ?? (tenant.id == caller)
            })
        else {
            throw .notFound(.noSuchApp)
        }
        let providers = accounts.identities.providers(of: tenant).map { provider in
            PlainObject(leaves: [
                "name": provider.name.map { .string($0) } ?? .null,
                "issuers": .list(provider.issuers.map { .string($0) }),
                "clientIds": .list(provider.clientIDs.map { .string($0) }),
            ])
        }
        return [
            PlainObject(
                leaves: [
                    "name": .string(tenant.name), "allowsGuests": .boolean(tenant.allowsGuests),
                    "guestBooksMax": .int(tenant.guestBooksMax),
                    "ratingStep": .float(tenant.ratingStep.stars),
                    "allowsSharing": .boolean(tenant.allowsSharing),
                ], objects: ["identityProviders": providers])
        ]
    }
}
