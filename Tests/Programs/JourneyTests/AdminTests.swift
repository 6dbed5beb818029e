import Glibc
import GraphQL
import TestSupport
import Testing

/// The output and exit codes of the admin CLI.
@Suite struct AdminTests {
    func json(_ outcome: Program.Outcome) throws -> Value {
        #expect(outcome.output.split(separator: "\n").count == 1, "one JSON document per command")
        return try parseJSON(Array(outcome.output.utf8))
    }

    @Test func appliesMigrationsOnceAndVerifiesThem() async throws {
        let installation = try await Installation.bare()
        let before = try await installation.admin(["migrate", "status", "--json"])
        #expect(before.code == 0, "\(before.errors)")
        let pending = try #require(try json(before)["migrations"]?.list)
        #expect(pending.count >= 3)
        #expect(pending.allSatisfy { $0["applied"] == false })
        let functions = try #require(try json(before)["functions"]?.list)
        #expect(functions.count >= 1)
        #expect(functions.allSatisfy { $0["state"] == "pending" })
        #expect(try await installation.admin(["migrate", "verify"]).code == 2)

        let dry = try await installation.admin(
            ["migrate", "up", "--dry-run", "--json"])
        #expect(try json(dry)["pending"]?.list?.count == pending.count + functions.count)
        #expect(
            try await installation.database.count(
                "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0)

        let first = try await installation.admin(["migrate", "up", "--json"])
        #expect(first.code == 0, "\(first.errors)")
        #expect(try json(first)["applied"]?.list?.count == pending.count)
        #expect(try json(first)["functions"]?.list == functions.compactMap { $0["name"] })
        #expect(first.errors.split(separator: "\n").count == pending.count + functions.count)
        let second = try await installation.admin(["migrate", "up", "--json"])
        #expect(second.code == 0)
        #expect(try json(second) == ["applied": [], "functions": []])

        let after = try await installation.admin(["migrate", "status", "--json"])
        #expect(try json(after)["migrations"]?.list?.allSatisfy { $0["applied"] == true } == true)
        #expect(
            try json(after)["functions"]?.list?.allSatisfy { $0["state"] == "applied" } == true)
        #expect(try json(after)["problems"] == [])
        let verified = try await installation.admin(["migrate", "verify", "--json"])
        #expect(verified.code == 0)
        #expect(try json(verified)["findings"] == [])

        // A file that was changed after it was applied is a problem.
        try await installation.database.execute(
            "UPDATE schema_migrations SET checksum = 'other' WHERE version = (SELECT min(version) FROM schema_migrations)"
        )
        let changed = try await installation.admin(["migrate", "verify", "--json"])
        #expect(changed.code == 2)
        #expect(try json(changed)["findings"]?.list?.count == 1)
    }

    /// The program contains the migrations, so it needs no other file.
    @Test func aStrippedCopyOfTheProgramMigrates() async throws {
        let installation = try await Installation.bare()
        let copy = "\(installation.folder)/bookplate-admin"
        let strip = Program(
            name: "strip", environment: [:], folder: installation.folder, path: "/usr/bin/strip")
        let stripped = try await strip.run(
            "-o", copy, "\(try Program.buildFolder())/bookplate-admin")
        #expect(stripped.code == 0, "\(stripped.errors)")
        let program = Program(
            name: "bookplate-admin",
            environment: [
                "BOOKPLATE_ADMIN_DATABASE_URL": try installation.database.url(as: TestCluster.owner)
            ], folder: "/", path: copy)
        let migrated = try await program.run("migrate", "up", "--json")
        #expect(migrated.code == 0, "\(migrated.errors)")
        let compared = try await installation.admin(
            "migrate", "verify", "--migrations", TestCluster.migrations)
        #expect(compared.code == 0, "\(compared.output)")
    }

    @Test func concurrentProcessesApplyEachMigrationOnce() async throws {
        let installation = try await Installation.bare()
        let programs = try (0..<2).map { _ in
            try installation.startAdmin(["migrate", "up", "--json"])
        }
        var counts: [Int] = []
        for program in programs {
            let outcome = try await blocking { try program.wait() }
            #expect(outcome.code == 0, "\(outcome.errors)")
            counts.append(try json(outcome)["applied"]?.list?.count ?? -1)
        }
        #expect(counts.min() == 0 && counts.max() != 0)
    }

    @Test func createsMigrationFiles() async throws {
        let installation = try await Installation.bare()
        let folder = ["--migrations", installation.folder]
        let dry = try await installation.admin(
            ["migrate", "new", "--functions", "covers", "--dry-run", "--json"] + folder)
        let path = "\(installation.folder)/functions/covers.sql"
        #expect(try json(dry) == ["file": .string(path), "dryRun": true])
        #expect(access(path, F_OK) != 0)
        for arguments in [
            ["covers", "--functions"], ["add_covers", "--why", "covers are stored"],
        ] {
            let outcome = try await installation.admin(["migrate", "new"] + arguments + folder)
            #expect(outcome.code == 0, "\(outcome.errors)")
        }
        #expect(access(path, F_OK) == 0)
        let refused = try await installation.admin(
            "migrate", "new", "covers", "--functions", "--why", "x")
        #expect(refused.code == 64)
        let applied = try await installation.admin(["migrate", "up", "--json"] + folder)
        #expect(try json(applied)["applied"]?.list?.count == 1)
        #expect(try json(applied)["functions"] == ["covers"])
    }

    @Test func printsWarningsForUnknownVariables() async throws {
        let installation = try await Installation.ready(catalog: [])
        let outcome = try await installation.admin(
            ["tenant", "list", "--json"],
            [
                "BOOKPLATE_PROT": "1", "BOOKPLATE_SERVICE_HOST": "10.0.0.1",
                "BOOKPLATE_PORT": "tcp://10.0.0.1:8080",
            ])
        #expect(outcome.code == 0)
        #expect(try json(outcome).list?.count == 1)
        #expect(
            outcome.errors
                == "bookplate-admin: warning: BOOKPLATE_PROT is not a known variable and is ignored."
                + " Did you mean BOOKPLATE_PORT?\n")
    }

    @Test func createsAndRotatesKeys() async throws {
        let installation = try await Installation.bare()
        let file = ["BOOKPLATE_SESSION_KEYS": "\(installation.folder)/keys"]
        func rotate(_ more: String...) async throws -> [String?] {
            let outcome = try await installation.admin(["keys", "rotate", "--json"] + more, file)
            #expect(outcome.code == 0, "\(outcome.errors)")
            return try json(outcome)["signingKeys"]?.list?.map(\.string) ?? []
        }
        _ = try await rotate("--dry-run")
        let first = try await rotate()
        #expect(first.count == 1)
        let second = try await rotate()
        #expect(second.count == 2 && second.last == first.first)
        let third = try await rotate("--keep", "1")
        #expect(third.count == 2 && third.last == second.first)
        #expect(try await installation.admin(["keys", "rotate", "--keep", "0"]).code == 64)
    }

    /// An operator who forgot to load the settings does not create keys that no server uses.
    @Test func refusesToCreateAKeyFileWithoutItsPath() async throws {
        let installation = try await Installation.bare()
        let refused = try await installation.admin("keys", "rotate")
        #expect(refused.code == 78)
        #expect(refused.errors.contains("BOOKPLATE_SESSION_KEYS is not set"))
        #expect(access("\(installation.folder)/.bookplate/session-keys", F_OK) != 0)
    }

    @Test func addsATenantOnlyOnce() async throws {
        let installation = try await Installation.ready(catalog: [])
        let add = [
            "tenant", "add", "--json", "--name", "Shop", "--amazon-tag", "shop-20", "--bookshop-id",
            "77",
        ]
        let dry = try await installation.admin(
            add + ["--slug", "shop", "--audience", "com.example.shop", "--dry-run"])
        #expect(dry.code == 0, "\(dry.errors)")
        let described = try await installation.admin(
            "tenant", "add", "--name", "Shop", "--slug", "shop", "--audience", "com.example.shop",
            "--dry-run")
        #expect(described.output.hasPrefix("would add shop ("), "\(described.output)")
        let good = try await installation.admin(
            add + ["--slug", "shop", "--audience", "com.example.shop"])
        #expect(good.code == 0, "\(good.errors)")
        let tenant = try json(good)
        #expect(tenant["slug"] == "shop")
        #expect(tenant["audiences"] == ["com.example.shop"])
        #expect(tenant["amazonTag"] == "shop-20")
        #expect(tenant["bookshopId"] == "77")

        for (slug, audience, sentence) in [
            (
                "shop", "com.example.other",
                "there is a tenant with this slug already: choose another one, or use tenant update"
            ),
            (
                "other", "com.example.shop",
                "an audience belongs to the tenant shop already: remove it there first, or choose another one"
            ),
            (
                "Shop!", "com.example.third",
                "a slug has 1 to 63 lower-case letters, digits and hyphens, and does not start with a hyphen"
            ),
        ] {
            let bad = try await installation.admin(add + ["--slug", slug, "--audience", audience])
            #expect(bad.code == 1)
            #expect(bad.errors == "bookplate-admin: \(sentence)\n")
            #expect(bad.output == "")
        }
        let list = try await installation.admin("tenant", "list", "--json")
        #expect(try parseJSON(Array(list.output.utf8)).values(of: "slug") == ["reader", "shop"])
    }

    @Test func importsACatalogRepeatedly() async throws {
        let installation = try await Installation.ready(catalog: [])
        let file = try installation.write(
            [
                TestCatalog.line(1, genres: ["Fantasy"]), "not json",
                TestCatalog.line(2, genres: []),
                #"{"title":""}"#, "",
            ].joined(separator: "\n"), to: "books.jsonl")
        let dry = try await installation.admin("catalog", "import", "--dry-run", "--json", file)
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(
            try json(dry) == [
                "created": 2, "updated": 0, "unchanged": 0, "failed": 2, "leftOut": 0,
                "dryRun": true,
            ])
        #expect(try await installation.database.count("SELECT count(*) FROM editions") == 0)
        let first = try await installation.admin("catalog", "import", "--json", file)
        #expect(try json(first)["created"] == 2)
        #expect(first.errors.contains("line 2: not JSON"))
        #expect(first.errors.contains("line 4: title is missing (column 10)"))
        #expect(try await installation.database.count("SELECT count(*) FROM editions") == 2)
        let second = try await installation.admin("catalog", "import", "--json", file)
        #expect(
            try json(second) == [
                "created": 0, "updated": 0, "unchanged": 2, "failed": 2, "leftOut": 0,
                "dryRun": false,
            ])
        let missing = try await installation.admin("catalog", "import", "/nowhere/books.jsonl")
        #expect(missing.code == 1)
        #expect(
            missing.errors
                == "bookplate-admin: /nowhere/books.jsonl cannot be read: No such file or directory\n"
        )
        let folder = try await installation.admin("documents", "sync", "/tmp")
        #expect(folder.errors == "bookplate-admin: /tmp cannot be read: Is a directory\n")
    }

    @Test func issuesTokensThatTheServerAccepts() async throws {
        let installation = try await Installation.ready(catalog: [])
        let id = "0198c0de-0000-7000-8000-000000000001"
        let issued = try await installation.admin(
            "token", "issue", "--user", id, "--name", "Ada", "--json")
        #expect(issued.code == 0, "\(issued.errors)")
        let token = try json(issued)
        guard case .object(let members) = token else { return }
        #expect(members.map(\.name) == ["accessToken", "refreshToken", "userId"])
        #expect(token["userId"] == .string(id))
        #expect(token["refreshToken"]?.string?.hasPrefix("bpr_") == true)

        let server = try await installation.startServer()
        let me = try await server.client.execute(
            "{ me { id displayName } }", token: token["accessToken"]?.string)
        #expect(me == ["data": ["me": ["id": .string(id), "displayName": "Ada"]]])
        let refreshed = try await server.client.execute(
            "mutation($t: String!) { refreshSession(refreshToken: $t) { user { id } } }",
            ["t": token["refreshToken"] ?? .null])
        #expect(refreshed["data", "refreshSession", "user", "id"] == .string(id))

        // Without --json, the output is only the access token.
        let plain = try await installation.admin("token", "issue", "--user", id)
        #expect(plain.output.split(separator: ".").count == 3)
    }

    /// Every command has examples and `--json`. Commands that change something have `--dry-run`.
    @Test func allCommandsFollowTheConventions() async throws {
        let readOnly: Set<String> = [
            "check", "completions", "deliveries", "export", "find", "genres", "list", "manual",
            "plan", "print",
            "scopes", "show", "stats", "status", "test", "usage", "verify", "works",
        ]
        func leaves(_ command: Value, _ path: [String]) -> [(path: [String], command: Value)] {
            let children = (command["subcommands"]?.list ?? []).filter {
                $0["commandName"]?.string != "help"
            }
            if children.isEmpty { return [(path, command)] }
            return children.flatMap { leaves($0, path + [$0["commandName"]?.string ?? ""]) }
        }
        let dump = try await Self.installation().admin("--experimental-dump-help")
        let root = try #require(try parseJSON(Array(dump.output.utf8))["command"])
        let commands = leaves(root, [])
        #expect(commands.count >= 12)
        for (path, command) in commands {
            let name = path.joined(separator: " ")
            let options = (command["arguments"]?.list ?? []).flatMap { argument in
                (argument["names"]?.list ?? []).compactMap { $0["name"]?.string }
            }
            #expect(options.contains("json"), "\(name)")
            #expect(
                command["discussion"]?.string?.contains("bookplate-admin \(name)") == true,
                "\(name) has no example")
            #expect(command["abstract"]?.string?.isEmpty == false, "\(name)")
            #expect(
                readOnly.contains(path.last ?? "") != options.contains("dry-run"), "\(name)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func printsCompletions(shell: String) async throws {
        let outcome = try await Self.installation().admin("completions", shell)
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("migrate") && outcome.output.contains("dry-run"))
    }

    @Test func printsTheManual() async throws {
        let outcome = try await Self.installation().admin("manual")
        #expect(outcome.code == 0)
        for line in [
            ".Dt BOOKPLATE-ADMIN 1", ".Ss bookplate\\-admin migrate up", ".Sh EXIT STATUS",
        ] {
            #expect(outcome.output.contains("\n" + line), "\(line)")
        }
    }

    @Test func dryRunReportsLockedTablesAndRollsBack() async throws {
        let installation = try await Self.installation()
        let outcome = try await installation.admin(
            "tenant", "add", "--slug", "tried", "--name", "Tried", "--audience",
            "com.example.tried",
            "--dry-run", "--json")
        #expect(outcome.code == 0, "\(outcome.errors)")
        let result = try json(outcome)
        #expect(result["dryRun"] == true)
        #expect(
            result["locks"]?.list?.contains([
                "table": "tenants", "mode": "RowExclusive", "blocks": "nobody",
            ]) == true)
        let count = try await installation.database.count(
            "SELECT count(*) FROM tenants WHERE slug = 'tried'")
        #expect(count == 0)
        // The dry run executes the statements, so it reports constraint violations.
        let refused = try await installation.admin(
            "tenant", "add", "--slug", "reader", "--name", "Again", "--audience",
            "com.example.again",
            "--dry-run")
        #expect(refused.code == 1)
    }

    @Test func listsRetriesAndPurgesDeadJobs() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await installation.database.execute(
            """
            INSERT INTO jobs (kind, payload, state, attempts, attempts_max, last_error, key) VALUES
            ('test.one', '{"secret": 1}', 'DEAD', 8, 8, 'no answer', 'k'),
            ('test.one', '{}', 'DEAD', 8, 8, 'no answer', 'k'),
            ('test.two', '{}', 'DEAD', 1, 8, 'gave up', NULL), ('test.two', '{}', 'READY', 0, 8, NULL, 'k')
            """)
        func run(_ arguments: String...) async throws -> Value {
            let outcome = try await installation.admin(["jobs"] + arguments + ["--json"])
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(!outcome.output.contains("secret"))
            return try json(outcome)
        }
        let dead = try await run("list", "--state", "dead", "--kind", "test.two")
        #expect(dead["jobs"]?.values(of: "lastError") == ["gave up"])
        #expect(dead["counts"]?.list?.count == 1, "\(dead)")
        let id = try #require(dead["jobs", 0, "id"]?.string)
        #expect(try await run("show", id) == dead["jobs", 0])
        let unknown = try await installation.admin(
            "jobs", "show", "0198c0de-0000-7000-8000-000000000001")
        #expect(unknown.code == 1)
        #expect(try await run("retry", id, "--dry-run")["retried"] == 1)
        #expect(try await run("list", "--state", "ready")["jobs"]?.list?.count == 1)
        #expect(try await run("retry", id)["retried"] == 1)
        #expect(try await run("list", "--state", "ready")["jobs"]?.list?.count == 2)
        // Of two dead jobs with the same key, only one is retried.
        #expect(try await run("retry", "--dead")["retried"] == 1)

        let unconfirmed = try await installation.admin("jobs", "purge", "--dead")
        #expect(unconfirmed.code == 64)
        #expect(unconfirmed.errors.contains("Use --yes to confirm"))
        #expect(try await run("purge", "--dead", "--dry-run")["purged"] == 1)
        #expect(try await run("purge", "--dead", "--older-than", "1", "--yes")["purged"] == 0)
        #expect(try await run("purge", "--dead", "--yes")["purged"] == 1)
        #expect(try await run("list", "--state", "dead")["jobs"] == [])
    }

    @Test(
        arguments: [
            (
                ["token", "issue"],
                ["BOOKPLATE_ENV": "production", "BOOKPLATE_SESSION_KEYS": "keys"], 78
            ),
            (["token", "issue", "--user", "nobody"], [:], 64),
            (["token", "issue", "--tenant", "nobody"], [:], 1),
            (["nonsense"], [:], 64), (["tenant", "add"], [:], 64),
            (["migrate", "up", "--to", "x"], [:], 64), (["jobs", "retry"], [:], 64),
            (["jobs", "purge", "7"], [:], 64), (["jobs", "list", "--state", "done"], [:], 64),
            (
                ["tenant", "list"],
                ["BOOKPLATE_ADMIN_DATABASE_URL": "postgresql://nobody@/x?host=/nowhere"], 69
            ),
            (["tenant", "list"], ["BOOKPLATE_PORT": "many"], 78),
            (["tenant", "list"], ["BOOKPLATE_ADMIN_DATABASE_URL": "nonsense"], 78),
            (["migrate", "up", "--migrations", "/nowhere"], [:], 1),
            (["--help"], [:], 0), (["catalog", "import", "--help"], [:], 0),
        ] as [([String], [String: String], Int32)])
    func exitCodes(arguments: [String], changes: [String: String], code: Int32) async throws {
        let outcome = try await Self.installation().admin(
            arguments, changes.mapValues { .some($0) })
        #expect(outcome.code == code, "\(outcome.errors)")
        // Results are printed to standard output, errors to standard error.
        #expect(outcome.output.isEmpty == (code != 0))
        #expect(outcome.errors.isEmpty == (code == 0))
    }

    static let installation = Shared { try await Installation.ready(catalog: []) }
}
