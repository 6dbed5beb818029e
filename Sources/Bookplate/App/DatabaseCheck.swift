import Postgres

/// Checks of a database and of the role that the server uses.
package enum DatabaseCheck {
    /// Returns the reason why the connection's role is not restricted by row-level security; nil if it is.
    package static func rolePower(_ connection: AdminConnection) throws(PostgresError) -> String? {
        try connection.query(
            """
            SELECT
                CASE
                    WHEN rolsuper THEN 'is a superuser'
                    WHEN rolbypassrls THEN 'has BYPASSRLS'
                    WHEN EXISTS (
                        SELECT
                        FROM pg_class c
                        JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
                            AND c.relowner = r.oid
                    ) THEN 'owns tables'
                END
            FROM pg_roles r
            WHERE rolname = current_user
            """
        ).decode(String.self).first
    }

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

    /// Returns the version of the newest applied migration; nil if none was applied.
    package static func newestMigration(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Int64? {
        let table = try connection.query("SELECT to_regclass('schema_migrations')::text")
            .decode(String.self)
        guard !table.isEmpty else { return nil }
        return try connection.query("SELECT max(version) FROM schema_migrations")
            .decode(Int64.self).first
    }

    /// Returns the invalid indexes. They slow down every write and are not used by queries.
    package static func invalidIndexes(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [String] {
        try connection.query(
            """
            SELECT i.indexrelid::regclass::text
            FROM pg_index i
            JOIN pg_class c ON c.oid = i.indrelid
            WHERE NOT i.indisvalid AND c.relnamespace = 'public'::regnamespace
            """
        ).decode()
    }
}
