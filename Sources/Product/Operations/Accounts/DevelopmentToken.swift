import Basics
import Bookplate
import Identity
import Postgres
import Requests

/// A session for a development user.
package struct DevelopmentToken: Sendable {
    package let accessToken: String
    package let refreshToken: String
    package let userID: UUID

    /// Much longer than usual, because an access token that is pasted into a tool is not refreshed.
    private static let accessTokenSeconds: Int64 = 12 * 60 * 60

    /// Opens a session, in the caller's transaction. The user is created if it does not exist.
    ///
    /// - Throws: `.refused` if there is no such tenant.
    package static func issue(
        for user: DevelopmentUser, keys: SessionKeys, _ connection: AdminConnection
    ) throws(AdministrationError) -> DevelopmentToken {
        let (id, tenantID) = try user.find(connection)
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
        scopes: [String], for user: DevelopmentUser, keys: SessionKeys,
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
        let (id, _) = try user.find(connection)
        let issued = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try PersonalAccessToken.issue(
                name: "bookplate-admin", scopes: known, for: id, keys: keys, connection)
        }
        switch issued {
        case .success(let secret): return (secret, id)
        case .failure(let error): throw .refused(error.message)
        }
    }
}
