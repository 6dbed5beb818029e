import Testing

@testable import Postgres

/// Applies repeatable files to a real database.
@Suite struct RepeatableMigrationTests {
    private let fixture: RepeatableFixture

    init() throws {
        fixture = try RepeatableFixture()
    }

    @Test func appliesAllFilesWithTheLastVersionedOne() throws {
        #expect(try fixture.states() == ["books pending", "audit pending"])
        #expect(
            try fixture.migrator().status().pendingFileNames == [
                "20260101000000_create_books.sql", "20260102000000_create_runs.sql",
                "functions/books.sql", "functions/audit.sql",
            ])
        var commits: [[String]] = []
        let applied = try fixture.migrator().up {
            commits.append($0.migrations.map(\.name) + $0.functions.map(\.name))
        }
        #expect(commits == [["create_books"], ["create_runs", "books", "audit"]])
        #expect(applied.functions.map(\.name) == ["books", "audit"])
        #expect(try fixture.states() == ["books applied", "audit applied"])
        #expect(try fixture.migrator().verify().isEmpty)
        // now() is the start of the transaction.
        #expect(
            try fixture.text(
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
        try fixture.migrator().up()
        let records =
            "SELECT string_agg(name || checksum || applied_at, ',' ORDER BY name) FROM schema_functions"
        let before = try fixture.text(records)
        #expect(try fixture.migrator().up().isEmpty)
        #expect(try fixture.text(records) == before)
        #expect(try fixture.text(RepeatableFixture.runs) == "1")
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
        func result() throws -> String? { try fixture.database.admin().query(probe).text(0, 0) }
        try fixture.folder.writeFunctions("changing", template.replacing("%", with: "1"))
        try fixture.migrator().up()
        #expect(try result() == "1")
        try fixture.folder.writeFunctions("changing", template.replacing("%", with: "2"))
        #expect(try fixture.states() == ["books applied", "audit applied", "changing changed"])
        #expect(try fixture.migrator().status().pendingFileNames == ["functions/changing.sql"])
        #expect(try fixture.migrator().verify().isEmpty)
        let applied = try fixture.migrator().up()
        #expect(applied.migrations.isEmpty && applied.functions.map(\.name) == ["changing"])
        #expect(try result() == "2")
        #expect(try fixture.text(RepeatableFixture.runs) == "1")
    }

    @Test func appliesFilesInTheOrderOfTheirRequirements() throws {
        try fixture.folder.writeFunctions(
            "accounts", "-- requires: users\nSELECT id FROM created_by_users;")
        try fixture.folder.writeFunctions(
            "users", "CREATE TABLE IF NOT EXISTS created_by_users (id int);")
        #expect(
            try fixture.migrator().up().functions.map(\.name) == [
                "books", "audit", "users", "accounts",
            ])
    }

    /// The bodies are checked after all files, so functions can use each other.
    @Test func functionsMayUseFunctionsOfLaterFiles() throws {
        try fixture.folder.writeFunctions(
            "a", "CREATE OR REPLACE FUNCTION a() RETURNS int LANGUAGE sql AS $$ SELECT z() $$;")
        try fixture.folder.writeFunctions(
            "z", "CREATE OR REPLACE FUNCTION z() RETURNS int LANGUAGE sql AS $$ SELECT 7 $$;")
        try fixture.migrator().up()
        #expect(try fixture.text("SELECT a()") == "7")
    }

    @Test func anEarlierTargetLeavesOutTheRepeatableFiles() throws {
        #expect(try fixture.migrator().up(to: 20_260_101_000_000).functions.isEmpty)
        #expect(try fixture.states() == ["books pending", "audit pending"])
        #expect(try fixture.text("SELECT count(*) FROM schema_states") == "0")
        #expect(try fixture.migrator().up(to: 20_260_102_000_000).functions.count == 2)
    }

    @Test func aSettingOfAFileDoesNotAffectTheNext() throws {
        try fixture.folder.writeFunctions(
            "a", "CREATE SCHEMA IF NOT EXISTS other; SET search_path = other;")
        try fixture.folder.writeFunctions(
            "b", "CREATE OR REPLACE FUNCTION b() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;")
        try fixture.migrator().up()
        #expect(try fixture.text("SELECT 'public.b'::regproc") == "b")
        #expect(try fixture.migrator().up().isEmpty)
    }
}
