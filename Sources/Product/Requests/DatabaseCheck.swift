import Postgres

/// Checks of a database and of the role that the server uses.
package enum DatabaseCheck {
    /// The query for the reason why the connection's role is not restricted by row-level security; null if it is.
    private static let rolePower =
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

    /// The query with which a connection of the server refuses a role that row-level security does not restrict.
    package static let roleRefusal =
        "SELECT 'the role ' || power || ', so row-level security does not apply to it' FROM (\(rolePower)) AS r (power)"

    /// The expression for the reason why triggers do not fire; null if they do. Without them, devices lose changes.
    private static let disabledTriggers =
        """
        CASE
            WHEN current_setting('session_replication_role') = 'replica'
            THEN 'no trigger fires, because session_replication_role is replica'
            ELSE (
                SELECT
                    'the triggers of ' || string_agg(DISTINCT c.relname, ', ' ORDER BY c.relname)
                        || ' are disabled'
                FROM pg_trigger t
                JOIN pg_class c ON c.oid = t.tgrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'public' AND t.tgenabled IN ('D', 'R')
            )
        END
        """

    /// The query for the reason why the database cannot be written now; null if it can.
    static let writeRefusal =
        """
        SELECT
            CASE
                WHEN current_setting('transaction_read_only')::bool
                THEN 'the database refuses every write, because it is a standby or because default_transaction_read_only is on'
                ELSE \(disabledTriggers)
            END
        """

    /// Returns the reason why triggers do not fire in the connection's session; nil if they do.
    package static func disabledTriggers(
        _ connection: AdminConnection
    ) throws(PostgresError) -> String? {
        try connection.query("SELECT \(disabledTriggers)").text(0, 0)
    }

    /// Returns the reason why the connection's role is not restricted by row-level security; nil if it is.
    package static func rolePower(_ connection: AdminConnection) throws(PostgresError) -> String? {
        try connection.query(rolePower).decode(String.self).first
    }
}
