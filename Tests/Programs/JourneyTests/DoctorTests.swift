import Glibc
import GraphQL
import MosquittoBroker
import TestSupport
import Testing

/// `bookplate-admin doctor`.
@Suite struct DoctorTests {
    private func runDoctor(
        _ installation: Installation, _ changes: [String: String?] = [:],
        by starter: [String] = [], isOffline: Bool = true
    ) async throws -> (code: Int32?, states: [String: String], lines: [Value]) {
        let outcome = try await installation.admin(
            ["doctor", "--json"] + (isOffline ? ["--offline"] : []), changes, by: starter)
        let result = try parseJSON(Array(outcome.output.utf8))
        let findings = result["findings"]?.list ?? []
        #expect((result["isSound"] == true) == (outcome.code == 0))
        var states: [String: String] = [:]
        for finding in findings where states[finding["check"]?.string ?? ""] != "wrong" {
            states[finding["check"]?.string ?? ""] = finding["state"]?.string
        }
        // Each failed check has a remedy.
        for finding in findings where finding["state"] == "wrong" {
            #expect(finding["remedy"]?.string?.isEmpty == false)
        }
        return (outcome.code, states, findings)
    }

    @Test func allChecksSucceedForASoundInstallation() async throws {
        let installation = try await Installation.ready(catalog: [])
        let (code, states, _) = try await runDoctor(installation)
        #expect(code == 0, "\(states)")
        for check in [
            "configuration", "public URL", "database", "role", "clock", "connections",
            "triggers", "functions", "constraints", "indexes", "columns", "privileges", "policies",
            "row security", "migrations", "tenants", "keys", "storage", "imager", "descriptors",
        ] {
            #expect(states[check] == "ok", "\(check)")
        }
        #expect(states["Open Library"] == "skipped")
        let lines = try await installation.admin(["doctor", "--offline"])
        #expect(lines.output.split(separator: "\n").count == states.count)
    }

    @Test func findsEachProblem() async throws {
        let installation = try await Installation.ready(catalog: [])
        func state(of check: String, _ changes: [String: String?] = [:]) async throws -> String? {
            let (code, states, _) = try await runDoctor(installation, changes)
            #expect(code == 2, "\(check)")
            return states[check]
        }
        let database = installation.database
        #expect(try await state(of: "configuration", ["BOOKPLATE_PORT": "many"]) == "wrong")
        #expect(
            try await state(
                of: "database", ["DATABASE_URL": "postgresql://nobody@/x?host=/nowhere"])
                == "wrong")
        #expect(
            try await state(of: "role", ["DATABASE_URL": try database.url(as: TestCluster.owner)])
                == "wrong")
        #expect(
            try await state(of: "connections", ["BOOKPLATE_DATABASE_CONNECTIONS": "1000"])
                == "wrong"
        )
        #expect(
            try await state(of: "storage", ["BOOKPLATE_STORAGE": "file:/proc/version/nothing"])
                == "wrong")
        #expect(
            try await state(of: "configuration", ["BOOKPLATE_STORAGE": "s3://covers"]) == "wrong")
        for url in [nil, "http://localhost:8080", "https://127.0.0.1"] {
            #expect(
                try await state(
                    of: "public URL",
                    ["BOOKPLATE_ENV": "production", "BOOKPLATE_PUBLIC_URL": url])
                    == "wrong")
        }
        let notAKey = try installation.write("-----BEGIN PRIVATE KEY-----", to: "apple.p8")
        for file in [notAKey, "/nowhere/apple.p8"] {
            #expect(
                try await state(
                    of: "Apple key",
                    [
                        "BOOKPLATE_APPLE_KEY_FILE": file, "BOOKPLATE_APPLE_KEY_ID": "KEY1234567",
                        "BOOKPLATE_APPLE_TEAM_ID": "TEAM123456",
                    ]) == "wrong")
        }
        #expect(
            try await state(
                of: "keys",
                ["BOOKPLATE_ENV": "production", "BOOKPLATE_SESSION_KEYS": "/nowhere/keys"])
                == "wrong")
        let keys = try installation.write("sign a 1 x", to: "open-keys")
        chmod(keys, 0o644)
        #expect(try await state(of: "keys", ["BOOKPLATE_SESSION_KEYS": keys]) == "wrong")

        try await database.execute("CREATE TABLE marks (user_id uuid)")
        #expect(try await state(of: "row security") == "wrong")
        try await database.execute("DROP TABLE marks")
        try await database.execute("UPDATE schema_functions SET checksum = 'other'")
        #expect(try await state(of: "migrations") == "wrong")
        try await database.execute("DELETE FROM schema_functions")
        #expect(try await state(of: "migrations") == "wrong")
        let restored = try await installation.admin(["migrate", "up"])
        #expect(restored.code == 0, "\(restored.errors)")
        #expect(try await runDoctor(installation).states["migrations"] == "ok")
        try await database.execute("UPDATE schema_migrations SET checksum = 'other'")
        #expect(try await state(of: "migrations") == "wrong")
    }

    /// A fault of the database, as the superuser makes it, and the check that finds it.
    struct DatabaseFault: Sendable {
        let check: String
        let sql: String
        /// A part of the message or of the remedy.
        let text: String
        var isFixed = false
        /// A warning does not make the installation unsound.
        var isWarning = false
    }

    @Test(arguments: [
        DatabaseFault(
            check: "triggers", sql: "ALTER TABLE books DISABLE TRIGGER USER",
            text: "disabled: log_changes on public.books", isFixed: true),
        DatabaseFault(
            check: "triggers", sql: "DROP TRIGGER audit_sign_in ON sessions",
            text: "missing: audit_sign_in on public.sessions", isFixed: true),
        DatabaseFault(
            check: "triggers",
            sql: """
                CREATE TRIGGER extra BEFORE UPDATE ON shelves
                FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()
                """,
            text: "unexpected: extra on public.shelves"),
        DatabaseFault(
            check: "functions",
            sql: """
                DO $$ BEGIN
                    EXECUTE replace(pg_get_functiondef('count_jobs'::regproc), 'SELECT', 'SELECT /**/');
                END $$
                """,
            text: "changed: public.count_jobs", isFixed: true),
        DatabaseFault(
            check: "functions", sql: "DROP FUNCTION count_jobs()",
            text: "missing: public.count_jobs", isFixed: true),
        DatabaseFault(
            check: "constraints",
            sql: "ALTER TABLE access_tokens DROP CONSTRAINT access_tokens_grant_fkey",
            text: "ALTER TABLE public.access_tokens ADD CONSTRAINT access_tokens_grant_fkey FOREIGN"
        ),
        DatabaseFault(
            check: "constraints",
            sql: "ALTER DOMAIN book_title DROP CONSTRAINT books_title_check",
            text: "missing: books_title_check on public.book_title"),
        DatabaseFault(
            check: "constraints", sql: "ALTER TABLE access_tokens DISABLE TRIGGER ALL",
            text: "disabled: access_tokens_grant_fkey on public.access_tokens"),
        DatabaseFault(
            check: "indexes", sql: "DROP INDEX access_tokens_kosync_hash",
            text: "CREATE INDEX access_tokens_kosync_hash ON public.access_tokens"),
        DatabaseFault(
            check: "indexes",
            sql: """
                UPDATE pg_index SET indisvalid = false
                WHERE indexrelid = 'access_tokens_kosync_hash'::regclass
                """,
            text: "disabled: access_tokens_kosync_hash on public.access_tokens"),
        DatabaseFault(
            check: "columns", sql: "ALTER TABLE books ALTER title DROP NOT NULL",
            text: "changed: title on public.books"),
        DatabaseFault(
            check: "settings of DATABASE_URL",
            sql: "ALTER ROLE bookplate_app IN DATABASE DB SET default_transaction_read_only = on",
            text: "default_transaction_read_only is on"),
        DatabaseFault(
            check: "settings of DATABASE_URL",
            sql: "ALTER ROLE bookplate_app IN DATABASE DB SET session_replication_role = replica",
            text: "session_replication_role is replica"),
        DatabaseFault(
            check: "jobs",
            sql: """
                INSERT INTO jobs (kind, payload, state, attempts, attempts_max)
                VALUES ('cover.fetch', '{}', 'DEAD', 8, 8)
                """,
            text: "failed for good: 1 cover.fetch", isWarning: true),
        DatabaseFault(
            check: "time zones",
            sql: """
                INSERT INTO users (id, tenant_id, time_zone)
                SELECT gen_random_uuid(), id, 'Europe/Nowhere' FROM tenants LIMIT 1
                """,
            text: "Europe/Nowhere (1 users, treated as UTC)", isWarning: true),
    ])
    func findsFaultsOfTheDatabase(fault: DatabaseFault) async throws {
        let installation = try await Installation.ready(catalog: [])
        let name = installation.database.name
        try await installation.database.withConnection(as: nil) { connection in
            try connection.execute(fault.sql.replacing(" DB ", with: " \(name) "))
        }
        let (code, states, findings) = try await runDoctor(installation)
        #expect(code == (fault.isWarning ? 0 : 2))
        #expect(states[fault.check] == (fault.isWarning ? "warning" : "wrong"))
        let found = findings.filter { $0["check"]?.string == fault.check }.map {
            "\($0["message"]?.string ?? ""): \($0["remedy"]?.string ?? "")"
        }
        #expect(found.contains { $0.contains(fault.text) }, "\(found)")
        // Migrations are verified with the same comparison.
        if ["triggers", "functions", "constraints", "indexes", "columns"].contains(fault.check) {
            let verified = try await installation.admin("migrate", "verify")
            #expect(verified.code == 2, "\(verified.output)")
        }
        let fixed = try await installation.admin("doctor", "--offline", "--fix")
        #expect((fixed.code == 0) == (fault.isFixed || fault.isWarning), "\(fixed.output)")
    }

    /// A fault of the machine: the command that starts `doctor`, the environment, and the check that finds the fault.
    struct MachineFault: Sendable {
        let check: String
        let state: String
        var variables: [String: String] = [:]
        var starter: [String] = []
        var isOffline = true

        static var all: [MachineFault] {
            get throws {
                let production = [
                    "BOOKPLATE_ENV": "production", "BOOKPLATE_TRUSTED_PROXIES": "127.0.0.1",
                ]
                return [
                    MachineFault(
                        check: "clock", state: "wrong",
                        variables: [
                            "LD_PRELOAD": try FaultySystem.clockLibrary(), "FAKETIME": "+3d",
                        ]),
                    MachineFault(
                        check: "clock", state: "warning",
                        variables: [
                            "LD_PRELOAD": try FaultySystem.clockLibrary(), "FAKETIME": "+10s",
                        ]),
                    MachineFault(
                        check: "descriptors", state: "warning",
                        starter: ["prlimit", "--nofile=256:256"]),
                    MachineFault(
                        check: "proxies", state: "wrong",
                        variables: ["BOOKPLATE_ENV": "production"]),
                    MachineFault(
                        check: "proxy at the public URL", state: "wrong",
                        variables: production.merging(
                            ["BOOKPLATE_PUBLIC_URL": "https://books.invalid"]) { $1 },
                        isOffline: false),
                    // The databases of tests are not written to disk.
                    MachineFault(
                        check: "settings of DATABASE_URL", state: "wrong", variables: production),
                ]
            }
        }
    }

    @Test(arguments: try MachineFault.all)
    func findsFaultsOfTheMachine(fault: MachineFault) async throws {
        let installation = try await Installation.ready(catalog: [])
        // No test sends requests to the internet.
        let variables = fault.variables.merging([
            "BOOKPLATE_APPLE_JWKS_URL": "http://127.0.0.1:1/"
        ]) { $1 }
        let (_, states, findings) = try await runDoctor(
            installation, variables, by: fault.starter, isOffline: fault.isOffline)
        #expect(states[fault.check] == fault.state, "\(findings)")
    }

    private static let canMount =
        geteuid() == 0 || access("/proc/self/ns/user", F_OK) == 0

    @Test(.enabled(if: canMount), arguments: [("64k", "wrong"), ("500m", "warning")])
    func findsAFullDisk(size: String, state: String) async throws {
        let installation = try await Installation.ready(catalog: [])
        let folder = "\(installation.folder)/objects"
        mkdir(folder, 0o755)
        let (code, states, findings) = try await runDoctor(
            installation, ["BOOKPLATE_STORAGE": "file:\(folder)"],
            by: Installation.mounting(size, on: folder))
        #expect(states["storage"] == state, "\(findings)")
        let message = findings.first { $0["check"] == "storage" }?["message"]?.string
        #expect(message?.contains(" MiB free in ") == true, "\(message ?? "")")
        #expect(code == (state == "wrong" ? 2 : 0))
    }

    @Test(.enabled(if: canMount)) func findsThatThereAreNoFonts() async throws {
        let installation = try await Installation.ready(catalog: [])
        let (code, states, findings) = try await runDoctor(
            installation, by: Installation.mounting("4k", on: "/usr/share/fonts"))
        #expect(states["imager"] == "wrong", "\(findings)")
        #expect(code == 2)
    }

    /// Root can read the keys of the server, but the user of the server cannot.
    @Test(.enabled(if: geteuid() == 0)) func findsKeysThatTheServerCannotRead() async throws {
        let installation = try await Installation.ready(catalog: [])
        let folder = "\(installation.folder)/state"
        mkdir(folder, 0o700)
        let nobody: uid_t = 65534
        chown(folder, nobody, nobody)
        let file = "\(folder)/keys"
        let variables = [
            "BOOKPLATE_SESSION_KEYS": file, "BOOKPLATE_STORAGE": "file:\(folder)/none",
        ]
        let rotated = try await installation.admin(["keys", "rotate"], variables)
        #expect(rotated.code == 0, "\(rotated.errors)")
        #expect(try await runDoctor(installation, variables).states["keys"] == "ok")
        chown(file, 0, 0)
        let (code, states, findings) = try await runDoctor(installation, variables)
        #expect(states["keys"] == "wrong", "\(findings)")
        #expect(code == 2)
    }

    /// `--fix` restores what is missing. It only reports additions, because they may have a reason.
    @Test func fixesOnlyWhatIsSafe() async throws {
        let installation = try await Installation.ready(catalog: [])
        let database = installation.database
        for statement in [
            "REVOKE DELETE ON shelves FROM bookplate_app",
            "REVOKE EXECUTE ON FUNCTION count_jobs() FROM bookplate_app",
            "ALTER TABLE shelves NO FORCE ROW LEVEL SECURITY",
            "DROP POLICY owner_only ON reviews",
            "ALTER POLICY owner_only ON shelves USING (true)",
        ] {
            try await database.execute(statement)
        }
        let keys = try await installation.admin(
            ["keys", "rotate"], ["BOOKPLATE_SESSION_KEYS": ".bookplate/session-keys"])
        #expect(keys.code == 0, "\(keys.errors)")
        chmod("\(installation.folder)/.bookplate/session-keys", 0o644)
        let checks = ["privileges", "policies", "row security", "keys"]
        let dry = try await installation.admin(["doctor", "--offline", "--fix", "--dry-run"])
        #expect(dry.code == 2)
        let before = try await runDoctor(installation)
        for check in checks {
            #expect(dry.output.contains("wrong   \(check): "), "\(dry.output)")
            #expect(before.states[check] == "wrong", "\(check)")
        }
        #expect(dry.output.contains("\nwould restore 2 of the privileges\n"), "\(dry.output)")

        let fixed = try await installation.admin(["doctor", "--offline", "--fix"])
        #expect(fixed.code == 0, "\(fixed.output)\(fixed.errors)")
        let after = try await runDoctor(installation)
        for check in checks { #expect(after.states[check] == "ok", "\(check)") }

        for (check, change, removal) in [
            (
                "policies", "CREATE POLICY all_rows ON shelves TO bookplate_app USING (true)",
                "DROP POLICY all_rows ON public.shelves"
            ),
            (
                "privileges", "GRANT SELECT ON usage_clients TO bookplate_app",
                "REVOKE SELECT ON TABLE public.usage_clients FROM bookplate_app"
            ),
            (
                "privileges", "GRANT EXECUTE ON FUNCTION delete_changes() TO PUBLIC",
                "REVOKE EXECUTE ON FUNCTION public.delete_changes() FROM PUBLIC"
            ),
        ] {
            try await database.execute(change)
            let outcome = try await installation.admin(["doctor", "--offline", "--fix"])
            #expect(outcome.code == 2)
            #expect(outcome.output.contains("wrong   \(check): unexpected: "), "\(outcome.output)")
            #expect(outcome.output.contains(removal), "\(outcome.output)")
            try await database.execute(removal)
        }
    }

    @Test func reportsThatNoTenantExists() async throws {
        let installation = try await Installation.bare()
        let migrated = try await installation.admin(["migrate", "up"])
        #expect(migrated.code == 0)
        #expect(try await runDoctor(installation).states["tenants"] == "wrong")
    }

    @Test func warnsOfUnknownVariables() async throws {
        let installation = try await Installation.ready(catalog: [])
        let (code, _, findings) = try await runDoctor(
            installation, ["BOOKPLATE_PROT": "1", "BOOKPLATE_SERVICE_HOST": "10.0.0.1"])
        #expect(code == 0)
        let warnings = findings.filter {
            $0["check"] == "configuration" && $0["state"] == "warning"
        }
        #expect(warnings.count == 1)
        #expect(warnings.first?["message"]?.string?.hasPrefix("BOOKPLATE_PROT ") == true)
        #expect(warnings.first?["remedy"] == "did you mean BOOKPLATE_PORT?")
    }

    /// The number of requests, the limit, and the reset are shown for each enabled source. A used-up budget is a warning.
    @Test func showsTheBudgetsOfSources() async throws {
        let installation = try await Installation.ready(catalog: [])
        func budgets(_ text: String) async throws -> [String: (state: String?, message: String)] {
            let (code, _, findings) = try await runDoctor(
                installation,
                [
                    "BOOKPLATE_ISBNDB_KEY": "key", "BOOKPLATE_SOURCE_BUDGETS": text,
                    "BOOKPLATE_OPEN_LIBRARY_URL": "http://127.0.0.1:1",
                ])
            #expect(code == 0)
            var budgets: [String: (state: String?, message: String)] = [:]
            for finding in findings where finding["check"]?.string?.hasSuffix(" budget") == true {
                budgets[finding["check"]?.string ?? ""] = (
                    finding["state"]?.string, finding["message"]?.string ?? ""
                )
            }
            return budgets
        }
        let fresh = try await budgets("isbndb=500")
        #expect(fresh.keys.sorted() == ["isbndb budget", "open-library budget"])
        #expect(fresh["open-library budget"]?.message == "no limit on requests per day")
        #expect(fresh["isbndb budget"]?.message.hasPrefix("0 of 500 requests used today") == true)
        #expect(fresh["isbndb budget"]?.message.contains("resets at 00:00 UTC, in ") == true)
        try await installation.database.execute(
            "INSERT INTO source_usage VALUES ('isbndb', (now() AT TIME ZONE 'UTC')::date, 450, 400)"
        )
        let shared = try await budgets("isbndb=500")
        #expect(shared["isbndb budget"]?.state == "ok")
        #expect(
            shared["isbndb budget"]?.message.hasPrefix(
                "450 of 500 requests used today, 400 of 400 by background work, which is paused until the reset"
            ) == true)
        let exhausted = try await budgets("isbndb=450")
        #expect(exhausted["isbndb budget"]?.state == "warning")
        #expect(
            exhausted["isbndb budget"]?.message.hasPrefix("used up: 450 of 450 requests today")
                == true)
        #expect(try await budgets("isbndb=unlimited")["isbndb budget"]?.state == "ok")
    }

    @Test func connectsToTheConfiguredBroker() async throws {
        let installation = try await Installation.ready(catalog: [])
        let broker = try Mosquitto()
        try broker.start()
        func states(_ port: Int) async throws -> [String] {
            let outcome = try await installation.admin(
                ["doctor", "--json"],
                [
                    "BOOKPLATE_MQTT_URL": "mqtt://127.0.0.1:\(port)", "BOOKPLATE_ISBNDB_URL": "",
                    "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": "",
                    "BOOKPLATE_APPLE_JWKS_URL": "http://127.0.0.1:1/",
                ])
            return try parseJSON(Array(outcome.output.utf8))["findings"]?.list?
                .filter { $0["check"] == "broker" }.compactMap { $0["state"]?.string } ?? []
        }
        #expect(try await states(broker.port) == ["ok"])
        broker.stop()
        #expect(try await states(broker.port) == ["warning"])
    }

    @Test func reportsPendingMigrations() async throws {
        let (code, states, findings) = try await runDoctor(try await Installation.bare())
        #expect(code == 2)
        #expect(states["migrations"] == "wrong")
        #expect(
            findings.contains {
                $0["remedy"]?.string?.contains("bookplate-admin migrate up") == true
            })
    }
}
