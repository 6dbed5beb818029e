import Basics
import Postgres

/// The user for whom a development token is issued.
package struct DevelopmentUser: Sendable {
    /// The ID of an existing or a new user.
    package var id: UUID?
    /// The subject of an identity token, as for `POST /development/identity-token`. Ignored if there is an ID.
    package var subject: String?
    /// The display name of a new user.
    package var name: String?
    /// The slug of the tenant; nil for the oldest one.
    package var tenant: String?

    package init(id: UUID?, subject: String?, name: String?, tenant: String?) {
        self.id = id
        self.subject = subject
        self.name = name
        self.tenant = tenant
    }

    /// Finds the user, or creates it, in the caller's transaction.
    ///
    /// - Throws: `.refused` if there is no such tenant.
    func find(
        _ connection: AdminConnection
    ) throws(AdministrationError) -> (id: UUID, tenantID: UUID) {
        guard let tenantID = try findTenant(connection) else {
            throw .refused("there is no such tenant: add one with `bookplate-admin tenant add`")
        }
        return try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var owner = Parameters.of(tenantID)
            owner.append(text: subject)
            let signedIn = try connection.query(
                """
                SELECT user_id
                FROM identities
                WHERE tenant_id = $1 AND subject = $2
                """, owner
            ).decode(UUID.self)
            let id = self.id ?? signedIn.first ?? .version7()
            var user = Parameters.of(id, tenantID)
            user.append(text: subject ?? "development.\(id)")
            user.append(text: name ?? "Development Reader")
            try connection.query(
                """
                WITH created AS (
                    INSERT INTO users (id, tenant_id, display_name)
                    VALUES ($1, $2, $4)
                    ON CONFLICT (id) DO NOTHING
                    RETURNING id, tenant_id
                )
                INSERT INTO identities (user_id, tenant_id, subject)
                SELECT id, tenant_id, $3
                FROM created
                """, user)
            // An existing user may belong to another tenant.
            let tenants = try connection.query(
                "SELECT tenant_id FROM users WHERE id = $1", .of(id)
            ).decode(UUID.self)
            return (id, tenants.first ?? tenantID)
        }
    }

    private func findTenant(_ connection: AdminConnection) throws(AdministrationError) -> UUID? {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(text: tenant)
            return try connection.query(
                """
                SELECT id
                FROM tenants
                WHERE $1 IS NULL OR slug = $1
                ORDER BY created_at
                LIMIT 1
                """, parameters
            ).decode(UUID.self).first
        }
    }
}
