import Basics
import Postgres
import Requests

/// A session of an account as the admin CLI shows it.
package struct SessionRecord: RowDecodable, Equatable {
    package let id: UUID
    package let deviceName: String?
    /// RFC 3339.
    package let createdAt: String
    /// When the session was last extended, in RFC 3339.
    package let refreshedAt: String
    package let expiresAt: String

    package init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        deviceName = row.text()
        guard let createdAt = row.timestamptz(), let refreshedAt = row.timestamptz(),
            let expiresAt = row.timestamptz()
        else { return nil }
        self.createdAt = Instant(microseconds: createdAt).text
        self.refreshedAt = Instant(microseconds: refreshedAt).text
        self.expiresAt = Instant(microseconds: expiresAt).text
    }

    /// Returns the sessions of an account that are neither revoked nor expired, the newest first.
    package static func list(
        of account: UUID, _ connection: AdminConnection
    ) throws(PostgresError) -> [SessionRecord] {
        try connection.query(
            """
            SELECT id, device_name, created_at, rotated_at, expires_at
            FROM sessions
            WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
            ORDER BY created_at DESC, id
            """, .of(account)
        ).decode()
    }

    /// Ends sessions of an account, as signing out does. Servers close their WebSockets.
    ///
    /// Waits for the account's transactions in progress, so that none of them adds a token that remains.
    ///
    /// - Parameter ids: The sessions; nil for all of the account, with its personal access tokens and the access of apps.
    /// - Returns: The ids of the sessions that were ended.
    package static func revoke(
        _ ids: [UUID]?, of account: UUID, _ connection: AdminConnection
    ) throws(PostgresError) -> [UUID] {
        try connection.query("SELECT lock_user($1)", .of(account))
        var parameters = Parameters.of(account)
        if let ids {
            parameters.append(uuids: ids)
        } else {
            parameters.appendNull(.uuid.array)
        }
        let ended: [UUID] = try connection.query(
            """
            UPDATE sessions
            SET revoked_at = now()
            WHERE user_id = $1 AND ($2::uuid[] IS NULL OR id = ANY ($2))
                AND revoked_at IS NULL AND expires_at > now()
            RETURNING id
            """, parameters
        ).decode()
        if ids == nil {
            // Waits for an exchange in progress, whose grant the next statement then sees.
            try connection.query(
                "DELETE FROM oauth_requests WHERE user_id = $1 AND grant_id IS NULL", .of(account))
            try connection.query("DELETE FROM oauth_grants WHERE user_id = $1", .of(account))
            try connection.query("DELETE FROM access_tokens WHERE user_id = $1", .of(account))
        }
        return ended
    }
}
