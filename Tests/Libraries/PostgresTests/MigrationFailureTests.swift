import Testing

@testable import Postgres

/// Repeatable files that fail, or that other sessions delay.
@Suite struct MigrationFailureTests {
    private let fixture: RepeatableFixture

    init() throws {
        fixture = try RepeatableFixture()
    }

    @Test(arguments: [
        "SELECT 1 / 0;", "SELECT pg_terminate_backend(pg_backend_pid());",
        "CREATE OR REPLACE FUNCTION broken() RETURNS int LANGUAGE sql AS $$ SELECT id FROM nowhere $$;",
    ])
    func aFailureRollsBackAllFilesAndTheLastVersionedOne(sql: String) throws {
        try fixture.folder.writeFunctions("middle", "-- requires: audit\n" + sql)
        #expect(throws: MigrationError.self) { try fixture.migrator().up() }
        #expect(
            try fixture.text("SELECT string_agg(name, ',') FROM schema_migrations")
                == "create_books")
        #expect(try fixture.text("SELECT to_regclass('runs') IS NULL") == "true")
        #expect(try fixture.text("SELECT to_regproc('title_of') IS NULL") == "true")
        #expect(try fixture.states() == ["books pending", "audit pending", "middle pending"])
        try fixture.folder.removeFunctions("middle")
        let applied = try fixture.migrator().up()
        #expect(applied.migrations.map(\.name) == ["create_runs"])
        #expect(applied.functions.map(\.name) == ["books", "audit"])
        #expect(try fixture.text(RepeatableFixture.runs) == "1")
    }

    @Test func aFailureIsReportedWithTheNameOfItsFile() throws {
        try fixture.folder.writeFunctions("broken", "SELECT 1 / 0;")
        let error = #expect(throws: MigrationError.self) { try fixture.migrator().up() }
        #expect(error?.description.hasPrefix("functions/broken.sql: division by zero") == true)
        try fixture.folder.writeFunctions("broken", "SELECT 1; COMMIT; SELECT 2;")
        #expect(throws: MigrationError.endedTransaction("functions/broken.sql")) {
            try fixture.migrator().up()
        }
    }

    /// If the last versioned file cannot run in a transaction, the repeatable files have a transaction of their own.
    @Test func continuesAfterAFileWithoutATransaction() throws {
        try fixture.folder.write(
            "20260103000000_index_books",
            "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS books_id ON books (id);")
        try fixture.folder.writeFunctions(
            "terminate", "SELECT pg_terminate_backend(pg_backend_pid());")
        #expect(throws: MigrationError.self) { try fixture.migrator().up() }
        #expect(try fixture.text("SELECT count(*) FROM schema_migrations") == "3")
        #expect(try fixture.text("SELECT count(*) FROM schema_functions") == "0")
        try fixture.folder.removeFunctions("terminate")
        let applied = try fixture.migrator().up()
        #expect(applied.migrations.isEmpty && applied.functions.count == 2)
        #expect(try fixture.migrator().verify().isEmpty)
    }

    /// Dropping a column that an unchanged function uses fails, instead of breaking the function.
    @Test func aFunctionThatNoLongerFitsTheTablesPreventsTheMigration() throws {
        try fixture.migrator().up()
        try fixture.folder.write(
            "20260103000000_drop_title", "ALTER TABLE books DROP COLUMN title;")
        let error = #expect(throws: MigrationError.self) { try fixture.migrator().up() }
        guard case .invalidFunction("title_of(integer)", let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.sqlState == SQLState(rawValue: "42703"))
        #expect(try fixture.text("SELECT count(title) FROM books") == "0")
        #expect(throws: MigrationError.self) { try fixture.migrator().dryRun() }
        try fixture.folder.writeFunctions("books", RepeatableFixture.changedBooks)
        #expect(try fixture.migrator().up().functions.map(\.name) == ["books"])
    }

    @Test func retriesUntilTheLockIsReleased() throws {
        try fixture.migrator().up()
        try fixture.folder.writeFunctions(
            "books",
            RepeatableFixture.books + "DROP POLICY IF EXISTS p ON books; CREATE POLICY p ON books;")
        let reader = try fixture.database.admin()
        try reader.execute("BEGIN; LOCK TABLE books IN ACCESS SHARE MODE")
        var migrator = try fixture.migrator()
        migrator.lockTimeout = .milliseconds(50)
        migrator.lockRetryDelay = .milliseconds(10)
        var retried: [String] = []
        let applied = try migrator.up { _ in
        } onRetry: { fileName, _ in
            retried.append(fileName)
            try? reader.execute("ROLLBACK")
        }
        #expect(retried == ["functions/books.sql"])
        #expect(applied.functions.map(\.name) == ["books"])
    }
}
