import Postgres
import TestSupport
import Testing

/// Every table that grows with the number of users has its own autovacuum settings.
@Suite struct AutovacuumTests {
    @Test func tablesWithUsersRowsHaveSettings() async throws {
        let app = try await TestApp.start(catalog: [])
        let missing = try await app.database.withConnection {
            try $0.texts(
                """
                SELECT c.relname::text
                FROM pg_class c
                WHERE c.relnamespace = 'public'::regnamespace
                    AND c.relkind = 'r'
                    AND NOT coalesce(c.reloptions::text ~ 'autovacuum_vacuum_scale_factor', false)
                    AND (
                        c.relname = 'users'
                        OR EXISTS (
                            SELECT
                            FROM pg_attribute a
                            WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
                        )
                    )
                ORDER BY 1
                """)
        }
        #expect(missing == [])
    }
}
