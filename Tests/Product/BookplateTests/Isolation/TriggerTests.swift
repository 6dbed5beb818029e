import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Triggers do work that a reader of a statement cannot see, so a table has at most one before and one after an event, and a comment
/// above each one says why it is a trigger.
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

    @Test func aCommentGivesTheReasonForEachTrigger() async throws {
        let app = try await TestApp.start(catalog: [])
        let triggers = try await app.database.withConnection {
            try $0.texts(
                "SELECT tgname || ' ON ' || tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
            )
        }
        let folder = TestCluster.migrations + "/functions"
        var explained: [String] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            explained += Self.explainedTriggers(
                try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8))
        }
        #expect(explained.sorted() == triggers.sorted())
    }

    /// Returns the triggers, such as `log_changes ON books`, that a file creates below a comment.
    private static func explainedTriggers(_ text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            // PostgreSQL cannot replace a constraint trigger, so a block creates it if it is missing.
            $0.trimmingPrefix { $0 == " " }
                .replacing("CREATE CONSTRAINT TRIGGER", with: "CREATE OR REPLACE TRIGGER")
        }
        return zip(lines, lines.indices).compactMap { line, index in
            guard line.hasPrefix("CREATE OR REPLACE TRIGGER "), index > 0,
                lines[index - 1].hasPrefix("-- "), !lines[index - 1].hasPrefix("-- MARK: ")
            else { return nil }
            let words = lines[index...].prefix {
                !$0.hasPrefix("FOR EACH") && !$0.hasPrefix("DEFERRABLE")
            }
            .flatMap { $0.split(separator: " ") }
            guard let on = words.firstIndex(of: "ON"), on + 1 < words.count else { return nil }
            return "\(words[4]) ON \(words[on + 1])"
        }
    }
}
