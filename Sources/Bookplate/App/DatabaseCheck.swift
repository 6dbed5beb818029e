import Postgres

/// What must hold of a database and of the role that the server logs in as.
package enum DatabaseCheck {
    /// Why row-level security does not bind the role of this connection; nil where it does.
    package static func rolePower(_ connection: AdminConnection) throws(PostgresError) -> String? {
        let rows = try connection.query(
            """
            SELECT CASE WHEN rolsuper THEN 'is a superuser' WHEN rolbypassrls THEN 'has BYPASSRLS'
            WHEN EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relowner = r.oid) THEN 'owns tables' END
            FROM pg_roles r WHERE rolname = current_user
            """)
        return rows.text(0, 0)
    }

    /// Tables of users' rows, of which row-level security is not enabled and forced, or has no policy.
    package static func openTables(_ connection: AdminConnection) throws(PostgresError) -> [String]
    {
        let rows = try connection.query(
            """
            SELECT c.relname FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
            AND (c.relname = 'users' OR EXISTS (SELECT FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped))
            AND NOT (c.relrowsecurity AND c.relforcerowsecurity
              AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))
            ORDER BY c.relname
            """)
        return (0..<rows.count).compactMap { rows.text($0, 0) }
    }

    /// The newest migration that has been run; nil where none has.
    package static func newestMigration(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Int64? {
        let table = try connection.query("SELECT to_regclass('schema_migrations')")
        guard !table.isNull(0, 0) else { return nil }
        return try connection.query("SELECT max(version) FROM schema_migrations").int64(0, 0)
    }

    /// Indexes that are not valid: they cost every write and serve no query.
    package static func invalidIndexes(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [String] {
        let rows = try connection.query(
            """
            SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
            WHERE NOT i.indisvalid AND c.relnamespace = 'public'::regnamespace
            """)
        return (0..<rows.count).compactMap { rows.text($0, 0) }
    }
}
