import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// `migrations/schema.sql` is the schema of a database that was migrated from empty, without the functions, whose home is
/// `migrations/functions`.
///
/// `BOOKPLATE_UPDATE_SNAPSHOTS=1` writes the file instead.
@Suite struct SchemaDumpTests {
    private static let path = "\(TestCluster.migrations)/\(MigrationFile.dumpName)"
    /// The dumps of other major versions of PostgreSQL differ.
    private static let postgresVersion = 15
    private static let header = """
        -- The schema of a migrated database, as pg_dump of PostgreSQL \(postgresVersion) prints it, without functions. Do not edit: change the
        -- migrations, and run BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter SchemaDumpTests

        """

    @Test func theFileIsTheDumpOfAMigratedDatabase() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        guard let dump = try await Self.dump(database) else { return }
        let text = Self.header + Self.withoutFunctions(dump)
        if getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil {
            try text.write(toFile: Self.path, atomically: false, encoding: .utf8)
            return
        }
        let expected = try String(contentsOfFile: Self.path, encoding: .utf8)
        guard text != expected else { return }
        Issue.record(
            """
            migrations/schema.sql differs. If the change is intended, write the new dump with \
            BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter SchemaDumpTests
            \(lineDifferences(from: expected, to: text))
            """)
    }

    /// The repeatable files are applied to databases that already have their objects.
    @Test func repeatableFilesCanBeAppliedAgain() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        guard let before = try await Self.dump(database) else { return }
        let count = try await database.count("SELECT count(*) FROM schema_functions")
        try await database.execute("DELETE FROM schema_functions")
        let applied = try await database.withConnection { connection in
            try Migrator(connection, folder: TestCluster.migrations).up()
        }
        #expect(applied.functions.count == count)
        let after = try await Self.dump(database)
        if before != after { Issue.record("\(lineDifferences(from: before, to: after ?? ""))") }
    }

    /// Returns the dump of a database's schema; nil if the server is not of the version that the file is for.
    private static func dump(_ database: TestDatabase) async throws -> String? {
        let (version, programs) = try await database.withConnection(as: nil) { connection in
            let rows = try connection.query(
                """
                SELECT current_setting('server_version_num')::int / 10000, setting
                FROM pg_config
                WHERE name = 'BINDIR'
                """)
            return (rows.int32(0, 0), rows.text(0, 1))
        }
        guard version == Int32(postgresVersion), let programs else { return nil }
        // The program of the server's own version.
        let outcome = try await Program(
            name: "pg_dump", environment: ["PATH": "/usr/bin:/bin"],
            folder: try Program.makeFolder(), path: "\(programs)/pg_dump"
        ).run("--schema-only", "--no-owner", try database.url())
        #expect(outcome.code == 0, "\(outcome.errors)")
        return normalized(outcome.output)
    }

    /// Removes the functions and procedures and their comments. Their privileges stay.
    private static func withoutFunctions(_ dump: String) -> String {
        let function =
            /[^\n]*; Type: (FUNCTION|PROCEDURE);|(FUNCTION|PROCEDURE) [^\n]*; Type: COMMENT;/
        return dump.split(separator: "\n-- Name: ", omittingEmptySubsequences: false)
            .filter { $0.prefixMatch(of: function) == nil }
            .joined(separator: "\n-- Name: ")
    }

    /// Removes what differs between minor versions and machines, and uses the name of the owner's role in production.
    private static func normalized(_ dump: String) -> String {
        var lines: [Substring] = []
        for line in dump.split(separator: "\n", omittingEmptySubsequences: false) {
            let isOmitted =
                line.hasPrefix("\\") || line.hasPrefix("-- Dumped ") || line.hasPrefix("SET ")
                || line.hasPrefix("SELECT pg_catalog.set_config(") || line == "--"
                || line.hasPrefix("-- PostgreSQL database dump")
            // Omitted lines leave several empty ones.
            if !isOmitted, !(line.isEmpty && lines.last?.isEmpty ?? true) { lines.append(line) }
        }
        return lines.joined(separator: "\n").replacing(TestCluster.owner, with: "bookplate_owner")
    }
}
