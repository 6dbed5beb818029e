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

    /// Returns the reason why the connection's role is not restricted by row-level security; nil if it is.
    package static func rolePower(_ connection: AdminConnection) throws(PostgresError) -> String? {
        try connection.query(rolePower).decode(String.self).first
    }
}
