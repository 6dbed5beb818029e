import NIOPosix
import Testing

@testable import Postgres

/// Applies repeatable files to a real database.
///
/// The folder has two versioned and two repeatable files. `audit` inserts a row into `runs` whenever it is applied.
@Suite struct RepeatableMigrationTests {
    let database: TestDatabase
    let folder: MigrationFolder

    private static let books = """
        CREATE OR REPLACE FUNCTION title_of(book int) RETURNS text
        LANGUAGE sql
        AS $$
            SELECT title FROM books WHERE id = book
        $$;
        """

    init() throws {
        database = try TestDatabase()
        folder = try MigrationFolder()
        try folder.write(
            "20260101000000_create_books", "CREATE TABLE books (id int, title text, secret text);")
        try folder.write("20260102000000_create_runs", "CREATE TABLE runs (file text);")
        try folder.writeFunctions("books", Self.books)
        try folder.writeFunctions("audit", "-- requires: books\nINSERT INTO runs VALUES ('audit');")
    }

    private func migrator() throws -> Migrator {
        var migrator = try Migrator(try database.admin(), folder: folder.path)
        migrator.migrationLockTimeout = .milliseconds(300)
        return migrator
    }

    private func text(_ sql: String) throws -> String {
        try database.admin().query("SELECT (\(sql))::text").text(0, 0) ?? "null"
    }

    private func states() throws -> [String] {
        try migrator().status().repeatable.entries.map { "\($0.name) \($0.state)" }
    }

    private let runs = "SELECT count(*) FROM runs"

    // MARK: What is applied

    @Test func appliesAllFilesWithTheLastVersionedOne() throws {
        #expect(try states() == ["books pending", "audit pending"])
        #expect(
            try migrator().status().pendingFileNames == [
                "20260101000000_create_books.sql", "20260102000000_create_runs.sql",
                "functions/books.sql", "functions/audit.sql",
            ])
        var commits: [[String]] = []
        let applied = try migrator().up {
            commits.append($0.migrations.map(\.name) + $0.functions.map(\.name))
        }
        #expect(commits == [["create_books"], ["create_runs", "books", "audit"]])
        #expect(applied.functions.map(\.name) == ["books", "audit"])
        #expect(try states() == ["books applied", "audit applied"])
        #expect(try migrator().verify().isEmpty)
        // now() is the start of the transaction.
        #expect(
            try text(
                """
                SELECT count(DISTINCT applied_at) FROM (
                    SELECT applied_at FROM schema_functions
                    UNION ALL
                    SELECT applied_at FROM schema_states
                    UNION ALL
                    SELECT applied_at FROM schema_migrations WHERE name = 'create_runs'
                ) t
                """) == "1")
    }

    @Test func appliesNothingTwice() throws {
        try migrator().up()
        let records =
            "SELECT string_agg(name || checksum || applied_at, ',' ORDER BY name) FROM schema_functions"
        let before = try text(records)
        #expect(try migrator().up().isEmpty)
        #expect(try text(records) == before)
        #expect(try text(runs) == "1")
    }

    /// Each kind of object that a repeatable file may define. `%` changes from 1 to 2.
    @Test(arguments: [
        (
            "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT % $$;",
            "SELECT f()::text"
        ),
        (
            """
            CREATE OR REPLACE FUNCTION f() RETURNS trigger
            LANGUAGE plpgsql
            AS $$ BEGIN NEW.id = %; RETURN NEW; END $$;
            DROP TRIGGER IF EXISTS t ON books;
            CREATE TRIGGER t BEFORE INSERT ON books FOR EACH ROW EXECUTE FUNCTION f();
            """,
            """
            WITH b AS (INSERT INTO books VALUES (0) RETURNING id)
            SELECT id::text FROM b
            """
        ),
        (
            """
            CREATE OR REPLACE FUNCTION f() RETURNS trigger
            LANGUAGE plpgsql
            AS $$ BEGIN RETURN NEW; END $$;
            DROP TRIGGER IF EXISTS t1 ON books;
            DROP TRIGGER IF EXISTS t2 ON books;
            CREATE TRIGGER t% BEFORE INSERT ON books FOR EACH ROW EXECUTE FUNCTION f();
            """,
            "SELECT substr(tgname, 2) FROM pg_trigger WHERE tgrelid = 'books'::regclass"
        ),
        (
            "DROP POLICY IF EXISTS p ON books; CREATE POLICY p ON books USING (id = %);",
            "SELECT substring(qual FROM '[0-9]') FROM pg_policies WHERE tablename = 'books'"
        ),
        (
            """
            CREATE TABLE IF NOT EXISTS t1 ();
            CREATE TABLE IF NOT EXISTS t2 ();
            REVOKE ALL ON t1, t2 FROM PUBLIC;
            GRANT SELECT ON t% TO PUBLIC;
            """,
            """
            SELECT substr(relname, 2)
            FROM pg_class
            WHERE relname IN ('t1', 't2') AND relacl::text LIKE '%,=r/%'
            """
        ),
    ])
    func appliesOnlyTheChangedFile(template: String, probe: String) throws {
        func result() throws -> String? { try database.admin().query(probe).text(0, 0) }
        try folder.writeFunctions("changing", template.replacing("%", with: "1"))
        try migrator().up()
        #expect(try result() == "1")
        try folder.writeFunctions("changing", template.replacing("%", with: "2"))
        #expect(try states() == ["books applied", "audit applied", "changing changed"])
        #expect(try migrator().status().pendingFileNames == ["functions/changing.sql"])
        #expect(try migrator().verify().isEmpty)
        let applied = try migrator().up()
        #expect(applied.migrations.isEmpty && applied.functions.map(\.name) == ["changing"])
        #expect(try result() == "2")
        #expect(try text(runs) == "1")
    }

    @Test func appliesFilesInTheOrderOfTheirRequirements() throws {
        try folder.writeFunctions(
            "accounts", "-- requires: users\nSELECT id FROM created_by_users;")
        try folder.writeFunctions("users", "CREATE TABLE IF NOT EXISTS created_by_users (id int);")
        #expect(
            try migrator().up().functions.map(\.name) == ["books", "audit", "users", "accounts"])
    }

    /// The bodies are checked after all files, so functions can use each other.
    @Test func functionsMayUseFunctionsOfLaterFiles() throws {
        try folder.writeFunctions(
            "a", "CREATE OR REPLACE FUNCTION a() RETURNS int LANGUAGE sql AS $$ SELECT z() $$;")
        try folder.writeFunctions(
            "z", "CREATE OR REPLACE FUNCTION z() RETURNS int LANGUAGE sql AS $$ SELECT 7 $$;")
        try migrator().up()
        #expect(try text("SELECT a()") == "7")
    }

    @Test func anEarlierTargetLeavesOutTheRepeatableFiles() throws {
        #expect(try migrator().up(to: 20_260_101_000_000).functions.isEmpty)
        #expect(try states() == ["books pending", "audit pending"])
        #expect(try text("SELECT count(*) FROM schema_states") == "0")
        #expect(try migrator().up(to: 20_260_102_000_000).functions.count == 2)
    }

    @Test func aSettingOfAFileDoesNotAffectTheNext() throws {
        try folder.writeFunctions(
            "a", "CREATE SCHEMA IF NOT EXISTS other; SET search_path = other;")
        try folder.writeFunctions(
            "b", "CREATE OR REPLACE FUNCTION b() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;")
        try migrator().up()
        #expect(try text("SELECT 'public.b'::regproc") == "b")
        #expect(try migrator().up().isEmpty)
    }

    // MARK: Failures

    @Test(arguments: [
        "SELECT 1 / 0;", "SELECT pg_terminate_backend(pg_backend_pid());",
        "CREATE OR REPLACE FUNCTION broken() RETURNS int LANGUAGE sql AS $$ SELECT id FROM nowhere $$;",
    ])
    func aFailureRollsBackAllFilesAndTheLastVersionedOne(sql: String) throws {
        try folder.writeFunctions("middle", "-- requires: audit\n" + sql)
        #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(try text("SELECT string_agg(name, ',') FROM schema_migrations") == "create_books")
        #expect(try text("SELECT to_regclass('runs') IS NULL") == "true")
        #expect(try text("SELECT to_regproc('title_of') IS NULL") == "true")
        #expect(try states() == ["books pending", "audit pending", "middle pending"])
        try folder.removeFunctions("middle")
        let applied = try migrator().up()
        #expect(applied.migrations.map(\.name) == ["create_runs"])
        #expect(applied.functions.map(\.name) == ["books", "audit"])
        #expect(try text(runs) == "1")
    }

    @Test func aFailureIsReportedWithTheNameOfItsFile() throws {
        try folder.writeFunctions("broken", "SELECT 1 / 0;")
        let error = #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(error?.description.hasPrefix("functions/broken.sql: division by zero") == true)
        try folder.writeFunctions("broken", "SELECT 1; COMMIT; SELECT 2;")
        #expect(throws: MigrationError.endedTransaction("functions/broken.sql")) {
            try migrator().up()
        }
    }

    /// If the last versioned file cannot run in a transaction, the repeatable files have a transaction of their own.
    @Test func continuesAfterAFileWithoutATransaction() throws {
        try folder.write(
            "20260103000000_index_books",
            "-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS books_id ON books (id);")
        try folder.writeFunctions(
            "terminate", "SELECT pg_terminate_backend(pg_backend_pid());")
        #expect(throws: MigrationError.self) { try migrator().up() }
        #expect(try text("SELECT count(*) FROM schema_migrations") == "3")
        #expect(try text("SELECT count(*) FROM schema_functions") == "0")
        try folder.removeFunctions("terminate")
        let applied = try migrator().up()
        #expect(applied.migrations.isEmpty && applied.functions.count == 2)
        #expect(try migrator().verify().isEmpty)
    }

    /// Dropping a column that an unchanged function uses fails, instead of breaking the function.
    @Test func aFunctionThatNoLongerFitsTheTablesPreventsTheMigration() throws {
        try migrator().up()
        try folder.write("20260103000000_drop_title", "ALTER TABLE books DROP COLUMN title;")
        let error = #expect(throws: MigrationError.self) { try migrator().up() }
        guard case .invalidFunction("title_of(integer)", let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.sqlState == SQLState(rawValue: "42703"))
        #expect(try text("SELECT count(title) FROM books") == "0")
        #expect(throws: MigrationError.self) { try migrator().dryRun() }
        try folder.writeFunctions("books", Self.books.replacing("title FROM", with: "secret FROM"))
        #expect(try migrator().up().functions.map(\.name) == ["books"])
    }

    @Test func retriesUntilTheLockIsReleased() throws {
        try migrator().up()
        try folder.writeFunctions(
            "books", Self.books + "DROP POLICY IF EXISTS p ON books; CREATE POLICY p ON books;")
        let reader = try database.admin()
        try reader.execute("BEGIN; LOCK TABLE books IN ACCESS SHARE MODE")
        var migrator = try migrator()
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

    // MARK: Other sessions and programs

    @Test func concurrentRunsApplyEachFileOnce() async throws {
        let (path, url) = (folder.path, database.url)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await NIOThreadPool.singleton.runIfActive {
                        let applied = try Migrator(try AdminConnection(url), folder: path).up()
                        return applied.migrations.count + applied.functions.count
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 0, 0, 4])
        #expect(try text(runs) == "1")
    }

    @Test func aRemovedFileIsReportedUntilTheNextRun() throws {
        try migrator().up()
        try folder.removeFunctions("audit")
        let problem = MigrationProblem.missingFunctions("audit")
        #expect(try states() == ["books applied", "audit missing"])
        #expect(try migrator().verify() == [problem])
        #expect(problem.description.contains("functions/audit.sql"))
        #expect(try migrator().up().isEmpty)
        #expect(try states() == ["books applied"])
        #expect(try migrator().verify().isEmpty)
    }

    /// The folder of an older program must not replace the functions of a newer one.
    @Test(arguments: [false, true])
    func refusesFunctionsOfAnOlderProgram(isRemoved: Bool) throws {
        if isRemoved { try folder.removeFunctions("audit") }
        try migrator().up()
        let newer = Self.books.replacing("title FROM", with: "secret FROM")
        try folder.writeFunctions("audit", "-- requires: books\nINSERT INTO runs VALUES ('audit');")
        if !isRemoved { try folder.writeFunctions("books", newer) }
        try migrator().up()
        // The older program.
        try folder.writeFunctions("books", Self.books)
        if isRemoved { try folder.removeFunctions("audit") }
        let error = MigrationError.mismatch([.earlierFunctions])
        #expect(try migrator().verify() == [.earlierFunctions])
        #expect(throws: error) { try migrator().up() }
        #expect(throws: error) { try migrator().dryRun() }
        var allowing = try migrator()
        allowing.allowsEarlierFunctions = true
        #expect(try allowing.up().functions.map(\.name) == (isRemoved ? [] : ["books"]))
        #expect(try migrator().verify().isEmpty)
    }

    /// A newer release may contain the functions of an older one again.
    @Test func acceptsEarlierFunctionsWithANewVersion() throws {
        try migrator().up()
        try folder.writeFunctions("books", Self.books.replacing("title FROM", with: "secret FROM"))
        try migrator().up()
        try folder.writeFunctions("books", Self.books)
        try folder.write("20260103000000_create_shelves", "CREATE TABLE shelves (id int);")
        #expect(try migrator().up().functions.map(\.name) == ["books"])
    }

    @Test func aDryRunChangesNothing() throws {
        let (first, untried) = try migrator().dryRun()
        #expect(untried.isEmpty)
        #expect(
            first.map(\.file.fileName) == [
                "20260101000000_create_books.sql", "20260102000000_create_runs.sql",
                "functions/books.sql", "functions/audit.sql",
            ])
        #expect(
            try text("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
                == "0")
        try migrator().up()
        try folder.writeFunctions(
            "books", Self.books + "DROP POLICY IF EXISTS p ON books; CREATE POLICY p ON books;")
        let (second, _) = try migrator().dryRun()
        #expect(second.map(\.file.fileName) == ["functions/books.sql"])
        #expect(second[0].locks.map(\.table) == ["books"])
        #expect(second[0].locks.map(\.blocks) == [.readsAndWrites])
        #expect(try text("SELECT count(*) FROM pg_policies") == "0")
        try folder.write(
            "20260103000000_index", "-- no-transaction\nCREATE INDEX CONCURRENTLY ON books (id);")
        #expect(
            try migrator().dryRun().untried.map(\.fileName) == [
                "20260103000000_index.sql", "functions/books.sql",
            ])
    }

    /// The baseline cannot be applied to a database of the migrations that it replaced.
    @Test func refusesADatabaseOfTheReplacedChain() throws {
        let admin = try database.admin()
        try admin.execute(
            """
            CREATE TABLE schema_migrations (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                milliseconds bigint NOT NULL
            );
            INSERT INTO schema_migrations (version, name, checksum, milliseconds)
            VALUES (20261121080000, 'create_tenants_and_users', 'x', 1), (20261123040100, 'limit', 'x', 1)
            """)
        for run in [
            { _ = try $0.status() }, { _ = try $0.verify() }, { _ = try $0.up() },
            { _ = try $0.dryRun() }, { _ = try $0.pending() },
        ] as [(Migrator) throws -> Void] {
            let error = #expect(throws: MigrationError.replacedChain) { try run(try migrator()) }
            #expect(error?.description.contains("importLibrary") == true)
        }
        #expect(try text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "1")
        // Another database that is newer than the program is still reported as such.
        try admin.execute("DELETE FROM schema_migrations WHERE name = 'create_tenants_and_users'")
        #expect(
            throws: MigrationError.mismatch([.unknown(version: 20_261_123_040_100, name: "limit")])
        ) {
            try migrator().up()
        }
    }
}
