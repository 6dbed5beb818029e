import Glibc
import Testing

@testable import Postgres

@Suite struct MigrationFileTests {
    @Test func readsNameAndReason() throws {
        let file = try MigrationFile(
            fileName: "20260114093000_add_cover_digest.sql",
            sql: "-- Why: covers are compared.\nSELECT 1;\n")
        #expect(file.version == 20_260_114_093_000)
        #expect(file.name == "add_cover_digest")
        #expect(file.reason == "covers are compared.")
        #expect(file.isTransactional)
    }

    @Test func noTransactionLineDisablesTheTransaction() throws {
        func isTransactional(_ sql: String) throws -> Bool {
            try MigrationFile(fileName: "20260114093000_a.sql", sql: "-- Why: x\n" + sql)
                .isTransactional
        }
        #expect(try !isTransactional("-- no-transaction\nSELECT 1"))
        #expect(try isTransactional("SELECT '-- no-transaction'"))
    }

    @Test(arguments: [
        "20260114_short.sql", "20260114093000.sql", "20260114093000_.sql", "20260114093000_Big.sql",
        "2026011409300a_a.sql", "20260114093000_a.txt", "+2026011409300_a.sql", "_a.sql", ".sql",
        "",
    ])
    func rejectsInvalidFileNames(name: String) {
        #expect(throws: MigrationError.badName(name)) {
            try MigrationFile(fileName: name, sql: "-- Why: x\n")
        }
    }

    @Test(arguments: ["", "SELECT 1", "-- Why:", "-- Why: ", "--Why: x", "\n-- Why: x"])
    func rejectsAFileWithoutAReason(sql: String) {
        #expect(throws: MigrationError.missingReason("20260114093000_a.sql")) {
            try MigrationFile(fileName: "20260114093000_a.sql", sql: sql)
        }
    }
}

@Suite struct SplitStatementsTests {
    @Test(arguments: [
        ("", []), (" ; ;; ", []), ("-- only a comment;", []), ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", " SELECT 2"]),
        ("SELECT ';', \"a;b\"; SELECT 2", ["SELECT ';', \"a;b\"", " SELECT 2"]),
        ("SELECT 'it''s;'; B", ["SELECT 'it''s;'", " B"]),
        ("SELECT E'\\';'; B", ["SELECT E'\\';'", " B"]),
        ("SELECT E'a''\\';'; B", ["SELECT E'a''\\';'", " B"]),
        ("SELECT name'\\'; B", ["SELECT name'\\'", " B"]),
        ("/* a; /* b; */ c; */ A; B", ["/* a; /* b; */ c; */ A", " B"]),
        ("A -- c;\n; B", ["A -- c;\n", " B"]),
        ("DO $$ a; $$; B", ["DO $$ a; $$", " B"]),
        ("DO $f$ a; $$ b; $f$; B", ["DO $f$ a; $$ b; $f$", " B"]),
        ("SELECT $1; B", ["SELECT $1", " B"]), ("SELECT a$b$; B", ["SELECT a$b$", " B"]),
        ("SELECT 'unclosed; B", ["SELECT 'unclosed; B"]),
        ("SELECT $$ unclosed;", ["SELECT $$ unclosed;"]),
        ("SELECT $", ["SELECT $"]), ("SELECT '", ["SELECT '"]), ("A /* ", ["A /* "]),
        ("A E'\\", ["A E'\\"]),
    ])
    func splitsAtSemicolonsOutsideQuotesAndComments(sql: String, expected: [String]) {
        #expect(splitStatements(sql) == expected)
    }
}

/// Runs migrations against a real database.
@Suite struct MigratorTests {
    let database: TestDatabase
    let folder: MigrationFolder

    init() throws {
        database = try TestDatabase()
        folder = try MigrationFolder()
        try folder.write("20260101000000_make_books", "CREATE TABLE books (id int);")
        try folder.write(
            "20260102000000_index_books",
            "-- no-transaction\nDROP INDEX CONCURRENTLY IF EXISTS books_id;\nCREATE INDEX CONCURRENTLY books_id ON books (id);"
        )
        try folder.write(
            "20260103000000_fill_books",
            "INSERT INTO books VALUES (1); INSERT INTO books VALUES (2);")
    }

    private func migrator(_ admin: AdminConnection? = nil) throws -> Migrator {
        var migrator = try Migrator(try admin ?? database.admin(), folder: folder.path)
        migrator.migrationLockTimeout = .milliseconds(300)
        return migrator
    }

    private func versions() throws -> [Int64] {
        try migrator().status().entries.filter { $0.record != nil }.map(\.version)
    }

    @Test func runsPendingMigrationsOnceAndRecordsThem() throws {
        #expect(try migrator().status().entries.map { $0.record == nil } == [true, true, true])
        #expect(
            try database.admin().query("SELECT to_regclass('schema_migrations') IS NULL").bool(0, 0)
                == true, "status must not change the database")
        var applied: [String] = []
        let records = try migrator().up { applied += $0.migrations.map(\.name) }.migrations
        #expect(records.map(\.name) == ["make_books", "index_books", "fill_books"])
        #expect(applied == records.map(\.name))
        #expect(try migrator().up().isEmpty)
        #expect(try migrator().verify().isEmpty)
        let rows = try database.admin().query(
            """
            SELECT count(*), max(checksum), bool_and(applied_at <= now() AND milliseconds >= 0),
                (SELECT count(*) FROM books), (SELECT indisvalid FROM pg_index WHERE indexrelid = 'books_id'::regclass)
            FROM schema_migrations
            """)
        #expect(rows.int64(0, 0) == 3)
        #expect(rows.text(0, 1)?.count == 64)
        #expect(rows.bool(0, 2) == true)
        #expect(rows.int64(0, 3) == 2)
        #expect(rows.bool(0, 4) == true)
    }

    @Test func checksumIsTheSHA256OfTheFile() throws {
        try migrator().up(to: 20_260_101_000_000)
        let record = try #require(try migrator().status().entries.first?.record)
        var parameters = Parameters()
        parameters.append(text: "-- Why: a test.\nCREATE TABLE books (id int);")
        let rows = try database.admin().query(
            "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')", parameters)
        #expect(record.checksum == rows.text(0, 0))
    }

    @Test func stopsAtTheTarget() throws {
        #expect(
            try migrator().pending(to: 20_260_102_000_000).map(\.name) == [
                "make_books", "index_books",
            ])
        try migrator().up(to: 20_260_101_000_000)
        #expect(try versions() == [20_260_101_000_000])
        #expect(throws: MigrationError.unknownTarget(7)) { try migrator().up(to: 7) }
        try migrator().up()
        #expect(try versions().count == 3)
    }

    @Test func failedMigrationIsRolledBackAndEarlierOnesRemain() throws {
        try folder.write("20260104000000_break", "INSERT INTO books VALUES (3); SELECT 1 / 0;")
        let error = #expect(throws: MigrationError.self) { try migrator().up() }
        guard case .failed("20260104000000_break.sql", .server(let server))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.sqlState == SQLState(rawValue: "22012"))
        #expect(try versions().count == 3)
        #expect(try database.admin().query("SELECT count(*) FROM books").int64(0, 0) == 2)
        try folder.write("20260104000000_break", "INSERT INTO books VALUES (3);")
        #expect(try migrator().up().migrations.count == 1)
    }

    @Test func filesThatJoinThePreviousOneRunInItsTransaction() throws {
        try folder.write("20260104000000_add_titles", "ALTER TABLE books ADD COLUMN title text;")
        try folder.write(
            "20260105000000_fill_titles", "-- same-transaction\nUPDATE books SET title = 'x';")
        try folder.write("20260106000000_break", "-- same-transaction\nSELECT 1 / 0;")
        #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(try versions().count == 3)
        try folder.write("20260106000000_break", "-- same-transaction\nSELECT 1;")
        var commits: [[String]] = []
        try migrator().up { commits.append($0.migrations.map(\.name)) }
        #expect(commits == [["add_titles", "fill_titles", "break"]])
    }

    @Test func runsNothingIfAFileWasChanged() throws {
        try migrator().up(to: 20_260_102_000_000)
        try folder.write("20260101000000_make_books", "CREATE TABLE books (id bigint);")
        let drift = MigrationProblem.drifted("20260101000000_make_books.sql")
        #expect(try migrator().verify() == [drift])
        #expect(throws: MigrationError.mismatch([drift])) { try migrator().up() }
        #expect(try versions().count == 2)
    }

    @Test func runsNothingOnADatabaseOfANewerProgram() throws {
        try migrator().up()
        try folder.remove("20260102000000_index_books")
        let unknown = MigrationProblem.unknown(version: 20_260_102_000_000, name: "index_books")
        #expect(try migrator().verify() == [unknown])
        #expect(throws: MigrationError.mismatch([unknown])) { try migrator().up() }
        #expect(unknown.description.contains("20260102000000_index_books"))
    }

    @Test func refusesAFileThatIsOlderThanTheNewestMigration() throws {
        try migrator().up()
        try folder.write("20260101120000_late", "CREATE TABLE late (id int);")
        try folder.write("20260104000000_newest", "CREATE TABLE newest (id int);")
        let gap = MigrationProblem.gap("20260101120000_late.sql")
        #expect(try migrator().verify() == [gap])
        #expect(throws: MigrationError.mismatch([gap])) { try migrator().up() }
        #expect(throws: MigrationError.mismatch([gap])) { try migrator().dryRun() }
        #expect(try versions().count == 3, "nothing was run")
        #expect(gap.description.contains("rename it to the current UTC time"))
        try folder.remove("20260101120000_late")
        try folder.write("20260105000000_late", "CREATE TABLE late (id int);")
        #expect(try migrator().up().migrations.map(\.name) == ["newest", "late"])
        #expect(try migrator().verify().isEmpty)
    }

    @Test func rejectsDuplicateVersionsAndMissingFolders() throws {
        try folder.write("20260101000000_other", "SELECT 1;")
        #expect(throws: MigrationError.self) { try migrator() }
        #expect(throws: MigrationError.self) {
            try Migrator(try database.admin(), folder: "/nowhere")
        }
    }

    @Test func rejectsAFileThatEndsItsTransaction() throws {
        try folder.write("20260104000000_ends", "INSERT INTO books VALUES (3); COMMIT; SELECT 1;")
        #expect(throws: MigrationError.endedTransaction("20260104000000_ends.sql")) {
            try migrator().up()
        }
        #expect(try versions().count == 3)
    }

    @Test func settingsOfAFileDoNotAffectTheNext() throws {
        try folder.write(
            "20260104000000_dump", "CREATE SCHEMA old; SET search_path = old; CREATE TABLE a ();")
        try folder.write("20260105000000_next", "CREATE TABLE b ();")
        try migrator().up()
        let rows = try database.admin().query(
            "SELECT to_regclass('old.a') IS NOT NULL, to_regclass('public.b') IS NOT NULL")
        #expect(rows.bool(0, 0) == true)
        #expect(rows.bool(0, 1) == true)
        #expect(try versions().count == 5)
    }

    @Test func concurrentMigrationIsLockedOut() throws {
        let other = try database.admin()
        try other.execute("SELECT pg_advisory_lock(\(0x626f_6f6b_706c_6174))")
        let error = #expect(throws: MigrationError.self) { try migrator().up() }
        guard case .locked(let holder)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let pid = try other.query("SELECT pg_backend_pid()").int32(0, 0)
        #expect(holder.contains("bookplate-admin") && holder.contains("process \(pid ?? 0)"))
        try other.execute("SELECT pg_advisory_unlock_all()")
        try migrator().up()
        let held = try database.admin().query(
            """
            SELECT count(*) FROM pg_locks JOIN pg_database ON database = pg_database.oid
            WHERE locktype = 'advisory' AND datname = current_database()
            """)
        #expect(held.int64(0, 0) == 0)
    }

    @Test func failsAfterTheLastLockRetry() throws {
        try migrator().up(to: 20_260_101_000_000)
        let reader = try database.admin()
        try reader.execute("BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE")
        var migrator = try migrator()
        migrator.lockTimeout = .milliseconds(100)
        migrator.lockRetriesMax = 2
        migrator.lockRetryDelay = .milliseconds(10)
        let error = #expect(throws: MigrationError.self) { try migrator.up() }
        guard case .failed(_, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.sqlState == .lockNotAvailable)
        try reader.execute("ROLLBACK")
        try migrator.up()
    }

    @Test func dryRunReportsLocksAndRollsBack() throws {
        try migrator().up(to: 20_260_101_000_000)
        try folder.remove("20260102000000_index_books")
        try folder.write("20260104000000_lock_books", "ALTER TABLE books ADD title text;")
        try folder.write("20260105000000_read_books", "CREATE INDEX books_title ON books (title);")
        let (trials, untried) = try migrator().dryRun()
        #expect(untried.isEmpty)
        #expect(
            trials.map(\.file.fileName) == [
                "20260103000000_fill_books.sql", "20260104000000_lock_books.sql",
                "20260105000000_read_books.sql",
            ])
        #expect(trials.map { $0.locks.map(\.blocks) } == [[.nothing], [.readsAndWrites], []])
        #expect(trials[1].locks.map(\.table) == ["books"])
        #expect(try versions() == [20_260_101_000_000])
        let columns = try database.admin().query(
            "SELECT count(*) FROM pg_attribute WHERE attrelid = 'books'::regclass AND attnum > 0")
        #expect(columns.int64(0, 0) == 1)
        try folder.write("20260106000000_break", "SELECT 1 / 0;")
        #expect(throws: MigrationError.self) { try migrator().dryRun() }
    }

    @Test func dryRunStopsBeforeNonTransactionalFiles() throws {
        let (trials, untried) = try migrator().dryRun()
        #expect(trials.map(\.file.fileName) == ["20260101000000_make_books.sql"])
        #expect(
            untried.map(\.fileName) == [
                "20260102000000_index_books.sql", "20260103000000_fill_books.sql",
            ])
        try folder.write(
            "20260101000001_ends", "INSERT INTO books VALUES (3);\n-- x\n commit; SELECT 1;")
        #expect(throws: MigrationError.endedTransaction("20260101000001_ends.sql")) {
            try migrator().dryRun()
        }
        #expect(try database.admin().query("SELECT to_regclass('books')").isNull(0, 0))
    }

    @Test func rebuildsAnInvalidIndex() throws {
        try migrator().up(to: 20_260_101_000_000)
        try database.admin().execute("INSERT INTO books VALUES (1), (1)")
        try folder.write(
            "20260102000000_index_books",
            "-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS books_id ON books (id);"
        )
        func state() throws -> Bool? {
            let rows = try database.admin().query(
                "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('books_id')")
            return rows.count == 0 ? nil : rows.bool(0, 0)
        }
        // The build fails because of the duplicate, and the migrator drops the invalid index.
        #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(try state() == nil)
        // Leaves an invalid index behind, as if the migrator had been killed during the build.
        #expect(throws: PostgresError.self) {
            try database.admin().execute("CREATE UNIQUE INDEX CONCURRENTLY books_id ON books (id)")
        }
        #expect(try state() == false)
        try database.admin().execute("DELETE FROM books")
        try migrator().up(to: 20_260_102_000_000)
        #expect(try state() == true)
    }

    @Test func retriesUntilTheLockIsReleased() throws {
        try migrator().up(to: 20_260_101_000_000)
        let reader = try database.admin()
        try reader.execute("BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE")
        var migrator = try migrator()
        migrator.lockTimeout = .milliseconds(50)
        migrator.lockRetryDelay = .milliseconds(10)
        var delays: [Duration] = []
        try migrator.up { _ in
        } onRetry: { _, delay in
            delays.append(delay)
            if delays.count == 2 { try? reader.execute("ROLLBACK") }
        }
        #expect(delays == [.milliseconds(10), .milliseconds(20)])
        #expect(try versions().count == 3)
    }

    /// PostgreSQL resolves a deadlock by failing one of the transactions, which may be the migration.
    @Test func retriesAfterADeadlock() throws {
        // A rollback does not reset a sequence, so the third attempt succeeds.
        try database.admin().execute("CREATE SEQUENCE tries")
        try folder.write(
            "20260104000000_deadlock_twice",
            """
            DO $$ BEGIN
              IF nextval('tries') < 3 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;
            END $$;
            """)
        var migrator = try migrator()
        migrator.lockRetryDelay = .milliseconds(1)
        var retries = 0
        try migrator.up { _ in
        } onRetry: { _, _ in
            retries += 1
        }
        #expect(retries == 2)
        #expect(try versions().count == 4)
    }

    @Test(arguments: [
        "INSERT INTO books VALUES (3); SELECT pg_terminate_backend(pg_backend_pid());",
        "-- no-transaction\nDELETE FROM books; INSERT INTO books VALUES (3);\nSELECT pg_terminate_backend(pg_backend_pid());",
    ])
    func continuesAfterTheSessionWasTerminated(sql: String) throws {
        try folder.write("20260104000000_terminate", sql)
        #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(try versions().count == 3)
        let harmless = sql.replacing("SELECT pg_terminate_backend(pg_backend_pid());", with: "")
        try folder.write("20260104000000_terminate", harmless)
        #expect(try migrator().up().migrations.map(\.name) == ["terminate"])
        #expect(try migrator().verify().isEmpty)
        #expect(
            try database.admin().query("SELECT count(*) FROM books WHERE id = 3").int64(0, 0) == 1)
    }
}
