import Glibc
import GraphQL
import MosquittoBroker
import TestSupport
import Testing

/// `bookplate-admin doctor`.
@Suite struct DoctorTests {
    private func runDoctor(
        _ installation: Installation, _ changes: [String: String?] = [:]
    ) async throws -> (code: Int32?, states: [String: String], lines: [Value]) {
        let outcome = try await installation.admin(
            ["doctor", "--offline", "--json"], changes)
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
            "privileges", "policies", "row security", "migrations", "tenants", "keys", "storage",
            "imager",
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
