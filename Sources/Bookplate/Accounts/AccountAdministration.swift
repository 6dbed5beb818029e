import Postgres

/// An account, as an operator sees it.
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
    /// Sessions that are alive.
    package var sessions: Int
    package var jobs: Int
    /// Whether there is something to revoke at Apple.
    package var hasAppleGrant: Bool

    package static let foundMax = 50

    /// Accounts whose id is the text, or whose e-mail address or display name has it in it; the newest first.
    package static func find(
        _ text: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> [AccountRecord] {
        try administering { () throws(PostgresError) in
            .success(try read(id: UUID(text), containing: text, connection))
        }
    }

    /// - Throws: `.refused` where there is none.
    package static func show(
        _ id: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> AccountRecord {
        try administering { () throws(PostgresError) in
            guard let account = try read(id: id, containing: nil, connection).first else {
                return .failure(.refused("there is no account \(id)"))
            }
            return .success(account)
        }
    }

    private static func read(
        id: UUID?, containing text: String?, _ connection: AdminConnection
    ) throws(PostgresError) -> [AccountRecord] {
        var parameters = Parameters()
        parameters.append(uuid: id)
        parameters.append(text: text)
        parameters.append(int32: Int32(foundMax))
        let rows = try connection.query(
            """
            SELECT u.id, t.slug, u.display_name, u.email, \
            to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), \
            (SELECT count(*) FROM books WHERE user_id = u.id)::int, \
            (SELECT count(*) FROM shelves WHERE user_id = u.id)::int, \
            (SELECT count(*) FROM reviews WHERE user_id = u.id)::int, \
            (SELECT count(*) FROM swipes WHERE user_id = u.id)::int, \
            (SELECT count(*) FROM sessions WHERE user_id = u.id AND revoked_at IS NULL \
            AND expires_at > now())::int, \
            (SELECT count(*) FROM jobs WHERE user_id = u.id)::int, \
            EXISTS (SELECT FROM apple_grants WHERE user_id = u.id) \
            FROM users u JOIN tenants t ON t.id = u.tenant_id \
            WHERE u.id = $1 OR strpos(lower(u.email), lower($2)) > 0 \
            OR strpos(lower(u.display_name), lower($2)) > 0 \
            ORDER BY u.created_at DESC, u.id LIMIT $3
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let tenant = rows.text(row, 1),
                let createdAt = rows.text(row, 4)
            else { return nil }
            func count(_ column: Int) -> Int { Int(rows.int32(row, column) ?? 0) }
            return AccountRecord(
                id: id, tenant: tenant, displayName: rows.text(row, 2), email: rows.text(row, 3),
                createdAt: createdAt, books: count(5), shelves: count(6), reviews: count(7),
                swipes: count(8), sessions: count(9), jobs: count(10),
                hasAppleGrant: rows.bool(row, 11) == true)
        }
    }

    // MARK: - Deletion

    /// What went with an account.
    package struct Deleted: Sendable {
        package let id: UUID
        package let books: Int
        package let reviews: Int
        /// Jobs that the servers finish: what lies outside of the database.
        package let jobs: [UUID]
    }

    /// Deletes an account as its owner would. What lies outside of the database is left to the servers' jobs, which
    /// begin at once.
    ///
    /// - Throws: `.refused` where there is none.
    package static func delete(
        _ id: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> Deleted {
        try administering { () throws(PostgresError) in
            try connection.query("SELECT set_config('app.user_id', $1::text, true)", .of(id))
            var rows: [Rows] = []
            for (statement, parameters) in AccountDeletion.statements(delay: .zero) {
                rows.append(try connection.query(statement.text, parameters))
            }
            guard let deletion = AccountDeletion(rows[...]) else {
                return .failure(.refused("there is no account \(id)"))
            }
            return .success(
                Deleted(
                    id: id, books: deletion.books, reviews: deletion.reviews,
                    jobs: deletion.jobs))
        }
    }

    /// Which of the jobs are not done yet.
    package static func unfinished(
        _ jobs: [UUID], _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        try administering { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(uuids: jobs)
            let rows = try connection.query(
                "SELECT count(*) FROM jobs WHERE id = ANY($1)", parameters)
            return .success(Int(rows.int64(0, 0) ?? 0))
        }
    }
}
