import Postgres
import Requests

/// Checks of the tables.
extension DatabaseCheck {
    /// Returns the tables of users' rows on which row-level security is not enabled and forced, or which have no policy.
    package static func openTables(_ connection: AdminConnection) throws(PostgresError) -> [String]
    {
        try connection.query(
            """
            SELECT c.relname
            FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace
                AND c.relkind IN ('r', 'p')
                AND (
                    c.relname = 'users'
                    OR EXISTS (
                        SELECT
                        FROM pg_attribute a
                        WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
                    )
                )
                AND NOT (
                    c.relrowsecurity
                    AND c.relforcerowsecurity
                    AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)
                )
            ORDER BY c.relname
            """
        ).decode()
    }

    /// The schema that a database has, as far as it matters to this program.
    package struct Schema: RowDecodable {
        /// The newest version whose migrations are complete; 0 if there is none.
        package let version: Int64
        /// Whether the database has, or has had, the schema that this program needs.
        package let isSufficient: Bool

        package init(version: Int64, isSufficient: Bool) {
            self.version = version
            self.isSufficient = isSufficient
        }

        package init?(_ row: inout RowReader) {
            version = row.int64() ?? 0
            isSufficient = row.bool() ?? false
        }
    }

    /// Returns the schema of the database, from the records of the migrator.
    package static func schema(_ connection: AdminConnection) throws(PostgresError) -> Schema {
        let empty = Schema(version: 0, isSufficient: false)
        let table = try connection.query("SELECT to_regclass('schema_states')::text")
            .decode(String.self)
        guard !table.isEmpty else { return empty }
        var parameters = Parameters()
        parameters.append(int64: schemaVersion)
        parameters.append(text: functionsChecksum)
        return try connection.query(
            """
            SELECT
                max(version),
                bool_or(version > $1 OR (version = $1 AND functions = $2))
            FROM schema_states
            """, parameters
        ).decode(Schema.self).first ?? empty
    }

    /// Returns the stored time zones that PostgreSQL does not know, with the number of their users, the most frequent first.
    package static func unknownTimeZones(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [String] {
        try connection.query(
            """
            SELECT z.time_zone || ' (' || z.users || ' users, treated as ' || known_zone(z.time_zone) || ')'
            FROM (SELECT time_zone, count(*) AS users FROM users GROUP BY time_zone) z
            WHERE known_zone(z.time_zone) <> z.time_zone
            ORDER BY z.users DESC, z.time_zone
            """
        ).decode(String.self)
    }
}
