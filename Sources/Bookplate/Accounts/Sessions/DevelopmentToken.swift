import Basics
import Identity
import Postgres

/// A session for a development user.
package struct DevelopmentToken: Sendable {
    package let accessToken: String
    package let refreshToken: String
    package let userID: UUID

    /// Much longer than usual, because an access token that is pasted into a tool is not refreshed.
    private static let accessTokenSeconds: Int64 = 12 * 60 * 60

    /// Opens a session, in the caller's transaction. The user is created if it does not exist.
    ///
    /// - Parameters:
    ///   - userID: An existing user, or the ID of the new one; nil creates a user with a new ID.
    ///   - name: The display name of a new user.
    ///   - slug: The tenant of a new user; nil for the oldest one.
    /// - Throws: `.refused` if there is no such tenant.
    package static func issue(
        userID: UUID?, name: String?, tenant slug: String?, keys: SessionKeys,
        _ connection: AdminConnection
    ) throws(AdministrationError) -> DevelopmentToken {
        let (id, tenantID) = try user(userID, name: name, tenant: slug, connection)
        let ticket = RefreshTicket(
            tenantID: tenantID, userID: id, sessionID: .version7(),
            secret: RefreshTicket.newSecret())
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var session = Parameters.of(id, ticket.sessionID)
            session.append(bytea: ticket.hash)
            try connection.query(
                """
                INSERT INTO sessions (user_id, id, refresh_hash, device_name, expires_at)
                VALUES ($1, $2, $3, 'development', now() + interval '90 days')
                """, session)
        }
        let now = unixSecondsNow()
        let claims = AccessClaims(
            userID: id, tenantID: tenantID, sessionID: ticket.sessionID,
            issuedAt: now, expiresAt: now + accessTokenSeconds)
        return DevelopmentToken(
            accessToken: AccessToken.issue(claims, keys: keys), refreshToken: ticket.text,
            userID: id)
    }

    /// Creates a personal access token, like `issue` creates a session.
    ///
    /// - Parameter scopes: Values of the enum `AccessScope`, in any case.
    /// - Throws: `.refused` if there is no such tenant or scope.
    package static func issuePersonal(
        scopes: [String], userID: UUID?, name: String?, tenant slug: String?, keys: SessionKeys,
        _ connection: AdminConnection
    ) throws(AdministrationError) -> (secret: String, userID: UUID) {
        var known: [AccessScope] = []
        for scope in scopes {
            guard
                let value = AccessScope(
                    rawValue: scope.uppercased().replacing("-", with: "_"))
            else {
                let names = AccessScope.allCases.map { $0.rawValue.lowercased() }
                throw .refused(
                    "there is no scope \(scope): use \(names.joined(separator: ", "))")
            }
            if !known.contains(value) { known.append(value) }
        }
        let (id, _) = try user(userID, name: name, tenant: slug, connection)
        let secret = try PersonalAccessToken.issue(
            name: "bookplate-admin", scopes: known, for: id, keys: keys, connection)
        return (secret, id)
    }

    /// Finds or creates a user.
    private static func user(
        _ userID: UUID?, name: String?, tenant slug: String?, _ connection: AdminConnection
    ) throws(AdministrationError) -> (id: UUID, tenantID: UUID) {
        let tenants = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(text: slug)
            return try connection.query(
                """
                SELECT id
                FROM tenants
                WHERE $1 IS NULL OR slug = $1
                ORDER BY created_at
                LIMIT 1
                """, parameters
            ).decode(UUID.self)
        }
        guard let newUserTenant = tenants.first else {
            throw .refused("there is no such tenant: add one with `bookplate-admin tenant add`")
        }
        let id = userID ?? .version7()
        let users = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var user = Parameters.of(id, newUserTenant)
            user.append(text: name ?? "Development Reader")
            try connection.query(
                """
                INSERT INTO users (id, tenant_id, apple_sub, display_name)
                VALUES ($1, $2, 'development.' || $1, $3)
                ON CONFLICT (id) DO NOTHING
                """, user)
            return try connection.query("SELECT tenant_id FROM users WHERE id = $1", .of(id))
                .decode(UUID.self)
        }
        guard let tenantID = users.first else { throw .refused("there is no such user") }
        return (id, tenantID)
    }
}
