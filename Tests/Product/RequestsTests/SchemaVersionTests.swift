import EventLoops
import FoundationEssentials
import NIOPosix
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// A server is not ready until the database has the schema that it was built for.
@Suite struct SchemaVersionTests {
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    @Test func isTheVersionOfTheLastMigration() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: TestCluster.migrations)
        #expect(names.compactMap { Int64($0.prefix(14)) }.max() == schemaVersion)
    }

    /// Functions are replaced in the transaction of the last migration. If a file committed what an earlier one has dropped, running
    /// servers would lack it until then.
    @Test func filesAfterADropRunInItsTransaction() throws {
        let folder = TestCluster.migrations
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".sql") && $0.first?.isNumber == true }.sorted()
        let texts = try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        let first =
            texts.firstIndex { $0.contains(/DROP (FUNCTION|TRIGGER|POLICY|COLUMN)/) } ?? texts.count
        for (name, text) in zip(names, texts).dropFirst(first + 1) {
            #expect(text.contains("\n-- same-transaction\n"), "\(name)")
        }
    }

    @Test func isTheChecksumOfTheFunctions() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let checksum = try await database.withConnection { connection in
            try Migrator(connection, folder: TestCluster.migrations).status().repeatable.checksum
        }
        #expect(functionsChecksum == checksum)
    }

    /// The statements run on a migrated database. The result is part of the reason; nil if the server is ready.
    @Test(arguments: [
        ("SELECT 1", nil),
        ("DELETE FROM schema_states", "migrations are missing"),
        ("DROP TABLE schema_states", "migrations are missing"),
        ("REVOKE SELECT ON schema_states FROM bookplate_app", "migrations are missing"),
        ("UPDATE schema_states SET version = version - 1", "migrations are missing"),
        ("UPDATE schema_states SET functions = 'older'", "migrations are missing"),
        ("DROP TABLE schema_states, schema_migrations", "migrations are missing"),
        // The database was migrated by a newer release.
        ("INSERT INTO schema_states SELECT version, 'newer' FROM schema_states", nil),
        ("INSERT INTO schema_states SELECT version + 1, 'newer' FROM schema_states", nil),
        ("UPDATE schema_states SET version = version + 1, functions = 'newer'", nil),
        ("ALTER TABLE books DISABLE TRIGGER USER", "the triggers of books are disabled"),
        (
            """
            DO $$ BEGIN
                EXECUTE format(
                    'ALTER DATABASE %I SET default_transaction_read_only = on', current_database());
            END $$
            """, "refuses every write"
        ),
    ])
    func readinessFollowsTheSchemaOfTheDatabase(change: String, reason: String?) async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.execute(change)
        let isSufficient = try await database.withConnection { connection in
            try DatabaseCheck.schema(connection).isSufficient
        }
        // The owner can read the table even if the server's role cannot.
        if !change.hasPrefix("REVOKE") {
            #expect(isSufficient == (reason?.contains("migrations") != true))
        }
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = 1
        let pool = try await ConnectionPool.start(
            configuration, on: EventLoopTaskExecutor(Self.loops.next()))
        let found = await readiness(of: pool)
        await pool.close()
        if let reason {
            #expect(found?.contains(reason) == true, "\(found ?? "ready")")
        } else {
            #expect(found == nil)
        }
    }
}
