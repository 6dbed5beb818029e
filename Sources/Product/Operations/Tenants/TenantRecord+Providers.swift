import Basics
import Bookplate
import Postgres

extension TenantRecord {
    /// Adds a provider, in the caller's transaction.
    ///
    /// - Throws: `.refused` if the tenant does not exist, has a provider with the name or the issuer, or if a client ID of the
    ///   issuer belongs to another tenant.
    package static func addProvider(
        _ provider: IdentityProvider, to slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        var tenant = try find(slug, connection)
        guard provider.name != appleName else {
            throw .refused("apple is the name of the configured issuers: choose another one")
        }
        for known in tenant.providers {
            if known.name == provider.name {
                throw .refused(
                    "\(slug) has a provider \(known.name) already: remove it first, or choose another name"
                )
            }
            if known.issuer == provider.issuer {
                throw .refused(
                    "the issuer belongs to the provider \(known.name) already: remove that one first"
                )
            }
        }
        try refuseClientsOfOthers(provider, except: slug, connection)
        tenant.providers.append(provider)
        try tenant.update(connection)
        return tenant
    }

    /// Removes a provider, in the caller's transaction. Its users stay, and cannot sign in with it.
    ///
    /// - Throws: `.refused` if there is no such tenant or provider.
    package static func removeProvider(
        _ name: String, from slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        var tenant = try find(slug, connection)
        guard let index = tenant.providers.firstIndex(where: { $0.name == name }) else {
            throw .refused(
                "\(slug) has no provider \(name): see bookplate-admin tenant provider list \(slug)")
        }
        tenant.providers.remove(at: index)
        try tenant.update(connection)
        return tenant
    }

    /// Returns the number of identities of a provider.
    package func identityCount(
        of provider: IdentityProvider, _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        let counts = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(id)
            parameters.append(text: provider.issuer)
            return try connection.query(
                """
                SELECT count(*)
                FROM identities
                WHERE tenant_id = $1 AND starts_with(subject, $2 || E'\\x1F')
                """, parameters
            ).decode(Int64.self)
        }
        return Int(counts.first ?? 0)
    }

    /// The provider that the API shows for identities of the configured issuers.
    static let appleName = "apple"

    /// The issuer and the client ID select the tenant at sign-in, so two tenants cannot have the same pair.
    private static func refuseClientsOfOthers(
        _ provider: IdentityProvider, except slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) {
        let owners = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(text: provider.issuer)
            parameters.append(texts: provider.audiences)
            parameters.append(text: slug)
            return try connection.query(
                """
                SELECT t.slug
                FROM tenants t
                JOIN identity_providers p ON p.tenant_id = t.id
                WHERE p.issuer = $1
                    AND CASE p.audiences WHEN '{}' THEN t.audiences ELSE p.audiences END && $2
                    AND t.slug <> $3
                LIMIT 1
                """, parameters
            ).decode(String.self)
        }
        if let owner = owners.first {
            throw .refused(
                "a client ID of this issuer belongs to the tenant \(owner) already: remove it there first, or choose another one"
            )
        }
    }
}
