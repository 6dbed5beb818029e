import Identity
import Postgres

/// A session for a development user, who is made where there is none.
package struct DevelopmentToken: Sendable {
    package let accessToken: String
    package let refreshToken: String
    package let userID: UUID

    /// Hours, because nobody refreshes a token pasted into an explorer.
    private static let accessTokenSeconds: Int64 = 12 * 60 * 60

    /// - Parameters:
    ///   - userID: an existing user, or the id of the new one; nil for a new one.
    ///   - name: the display name of a new user.
    /// - Throws: `.refused` where there is no tenant.
    package static func issue(
        userID: UUID?, name: String?, tenant slug: String?, keys: SessionKeys,
        _ connection: AdminConnection
    ) throws(AdministrationError) -> DevelopmentToken {
        try administering { () throws(PostgresError) in
            var which = Parameters()
            which.append(text: slug)
            let tenants = try connection.query(
                "SELECT id FROM tenants WHERE $1 IS NULL OR slug = $1 ORDER BY created_at LIMIT 1",
                which)
            guard let tenantID = tenants.uuid(0, 0) else {
                return .failure(
                    .refused("there is no such tenant: add one with `bookplate-admin tenant add`"))
            }
            let id = userID ?? .version7()
            try connection.query(
                """
                INSERT INTO users (id, tenant_id, apple_sub, display_name) \
                VALUES ($1, $2, 'development.' || $1, $3) ON CONFLICT (id) DO NOTHING
                """, parameters(id, tenantID, name))
            let users = try connection.query(
                "SELECT tenant_id FROM users WHERE id = $1", .of(id))
            guard let tenantID = users.uuid(0, 0) else {
                return .failure(.refused("there is no such user"))
            }
            let ticket = RefreshTicket(
                tenantID: tenantID, userID: id, sessionID: .version7(),
                secret: RefreshTicket.newSecret())
            var session = Parameters.of(id, ticket.sessionID)
            session.append(bytea: ticket.hash)
            try connection.query(
                """
                INSERT INTO sessions (user_id, id, refresh_hash, device_name, expires_at) \
                VALUES ($1, $2, $3, 'development', now() + interval '90 days')
                """, session)
            let now = unixSecondsNow()
            let claims = AccessClaims(
                userID: .init(id), tenantID: .init(tenantID), sessionID: .init(ticket.sessionID),
                issuedAt: now, expiresAt: now + accessTokenSeconds)
            return .success(
                DevelopmentToken(
                    accessToken: AccessToken.issue(claims, keys: keys), refreshToken: ticket.text,
                    userID: id))
        }
    }

    private static func parameters(_ id: UUID, _ tenantID: UUID, _ name: String?) -> Parameters {
        var parameters = Parameters.of(id, tenantID)
        parameters.append(text: name ?? "Development Reader")
        return parameters
    }
}
