import Basics
import Postgres

/// An account as the admin CLI shows it.
package struct AccountRecord: Sendable, Equatable {
    package var id: UUID
    /// The slug of its tenant.
    package var tenant: String
    package var displayName: String?
    package var email: String?
    /// RFC 3339.
    package var createdAt: String
    package var books: Int
    package var shelves: Int
    package var reviews: Int
    package var swipes: Int
    /// The number of sessions that are neither revoked nor expired.
    package var sessions: Int
    package var jobs: Int
    /// Whether there is a token to revoke at Apple.
    package var hasAppleGrant: Bool

    /// The maximum number of accounts that `find` returns.
    package static let foundMax = 50

    /// Returns the accounts whose ID is the text, or whose e-mail address or display name contains it, newest first.
    package static func find(
        _ text: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> [AccountRecord] {
        try read(id: UUID(text), containing: text, connection)
    }

    /// Returns one account.
    ///
    /// - Throws: `.refused` if it does not exist.
    package static func show(
        _ id: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> AccountRecord {
        guard let account = try read(id: id, containing: nil, connection).first else {
            throw missing(id)
        }
        return account
    }

    /// Returns the error for an account that does not exist.
    static func missing(_ id: UUID) -> AdministrationError {
        .refused("there is no account \(id): find its ID with bookplate-admin account find")
    }

    private static func read(
        id: UUID?, containing text: String?, _ connection: AdminConnection
    ) throws(AdministrationError) -> [AccountRecord] {
        var parameters = Parameters()
        parameters.append(uuid: id)
        parameters.append(text: text)
        parameters.append(int32: Int32(foundMax))
        return try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query(select, parameters).decode()
        }
    }

    private static let select = """
        SELECT
            u.id, t.slug, u.display_name, u.email,
            to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            (SELECT count(*) FROM books WHERE user_id = u.id)::int,
            (SELECT count(*) FROM shelves WHERE user_id = u.id)::int,
            (SELECT count(*) FROM reviews WHERE user_id = u.id)::int,
            (SELECT count(*) FROM swipes WHERE user_id = u.id AND undone_at IS NULL)::int,
            (
                SELECT count(*)
                FROM sessions
                WHERE user_id = u.id AND revoked_at IS NULL AND expires_at > now()
            )::int,
            (SELECT count(*) FROM jobs WHERE user_id = u.id)::int,
            EXISTS (SELECT FROM apple_grants WHERE user_id = u.id)
        FROM users u
        JOIN tenants t ON t.id = u.tenant_id
        WHERE u.id = $1
            OR strpos(lower(u.email), lower($2)) > 0
            OR strpos(lower(u.display_name), lower($2)) > 0
        ORDER BY u.created_at DESC, u.id
        LIMIT $3
        """
}

extension AccountRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let tenant = row.text() else { return nil }
        self.id = id
        self.tenant = tenant
        displayName = row.text()
        email = row.text()
        guard let createdAt = row.text() else { return nil }
        self.createdAt = createdAt
        books = Int(row.int32() ?? 0)
        shelves = Int(row.int32() ?? 0)
        reviews = Int(row.int32() ?? 0)
        swipes = Int(row.int32() ?? 0)
        sessions = Int(row.int32() ?? 0)
        jobs = Int(row.int32() ?? 0)
        hasAppleGrant = row.bool() == true
    }
}
