import Postgres
import TestSupport
import Testing

/// Triggers do work that a reader of a statement cannot see, so a table has at most one before and one after an event.
@Suite struct TriggerTests {
    @Test func tablesHaveAtMostOneTriggerPerEvent() async throws {
        let app = try await TestApp.start(catalog: [])
        let repeated = try await app.database.withConnection {
            try $0.texts(
                """
                SELECT t.tgrelid::regclass || ' ' || e.name || CASE WHEN t.tgtype & 2 <> 0 THEN ' before' ELSE ' after' END
                FROM pg_trigger t
                JOIN (VALUES ('INSERT', 4), ('DELETE', 8), ('UPDATE', 16), ('TRUNCATE', 32)) AS e (name, bit)
                  ON t.tgtype & e.bit <> 0
                WHERE NOT t.tgisinternal
                GROUP BY t.tgrelid, e.name, t.tgtype & 2
                HAVING count(*) > 1
                """)
        }
        #expect(repeated == [])
    }
}
