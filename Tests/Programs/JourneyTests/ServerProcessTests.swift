import Glibc
import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// The server process: starting, refusing to start, and stopping.
@Suite struct ServerProcessTests {
    static let installation = Shared { try await Installation.ready(catalog: []) }

    @Test(arguments: [SIGTERM, SIGINT])
    func signalsStopTheServerWithExitCode0(signal: Int32) async throws {
        let server = try await Self.installation().startServer()
        #expect(try await server.client.send("GET", "/health/live").status == 200)
        server.program.send(signal)
        let outcome = try await blocking { try server.program.wait() }
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func systemdLearnsThatTheServerIsReadyAliveAndStopping() async throws {
        let installation = try await Self.installation()
        let socket = try NotifySocket(folder: try Program.makeFolder())
        let server = try await installation.startServer([
            "NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "100000",
        ])
        var messages: [String] = []
        while !(messages.contains("READY=1") && messages.contains("WATCHDOG=1")) {
            messages.append(try await socket.next())
        }
        server.program.send(SIGTERM)
        while messages.last != "STOPPING=1" { messages.append(try await socket.next()) }
        #expect(Set(messages) == ["READY=1", "WATCHDOG=1", "STOPPING=1"])
        #expect(try await blocking { try server.program.wait() }.code == 0)
    }

    @Test func runningRequestsCompleteBeforeTheServerStops() async throws {
        let installation = try await Self.installation()
        let server = try await installation.startServer()
        let token = try await server.signIn("late")["accessToken"]?.string
        // The lock makes the request wait in the database until the server has begun to shut down.
        let response = try await installation.database.withConnection { connection in
            try connection.execute("BEGIN; LOCK TABLE shelves")
            let response = Task {
                try await server.client.execute("{ me { shelves { id } } }", token: token)
            }
            try waitUntilBlocking("the request waits for the lock") {
                try connection.query("SELECT FROM pg_locks WHERE NOT granted").count > 0
            }
            server.program.send(SIGTERM)
            // A server that is shutting down accepts no new connections.
            try waitUntilBlocking("the server is shutting down") {
                (try? StreamClient(port: server.client.port)) == nil
            }
            try connection.execute("COMMIT")
            return response
        }
        #expect(try await response.value == ["data": ["me": ["shelves": []]]])
        #expect(try await blocking { try server.program.wait() }.code == 0)
    }

    @Test(arguments: [
        ["BOOKPLATE_PORT": "many"], ["BOOKPLATE_PORT": "70000"],
        ["BOOKPLATE_ENV": "staging"], ["DATABASE_URL": "nonsense"], ["DATABASE_URL": ""],
        ["BOOKPLATE_ENV": "production"],
    ])
    func invalidSettingsPrintOneLineAndExitWith78(changes: [String: String]) async throws {
        let outcome = try await Self.installation().serverOutcome(changes)
        #expect(outcome.code == 78)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(outcome.errors)")
        let variable =
            changes.keys.first == "BOOKPLATE_ENV" && changes.values.first == "production"
            ? "BOOKPLATE_SESSION_KEYS" : changes.keys.first ?? ""
        #expect(lines.first?.hasPrefix("bookplate: \(variable) ") == true, "\(outcome.errors)")
        #expect(outcome.output == "")
    }

    /// The server checks files before it connects to the database, which does not exist here.
    @Test func unusableSettingsOfProductionPrintOneLineAndExitWith78() async throws {
        let installation = try await Self.installation()
        let created = try await installation.admin(
            ["keys", "rotate"], ["BOOKPLATE_SESSION_KEYS": "keys"])
        #expect(created.code == 0)
        let notAKey = try installation.write("not a key", to: "apple.p8")
        for (variable, changes) in [
            ("BOOKPLATE_PUBLIC_URL", ["BOOKPLATE_PUBLIC_URL": nil]),
            ("BOOKPLATE_STORAGE", ["BOOKPLATE_STORAGE": "s3://covers"]),
            ("BOOKPLATE_APPLE_KEY_FILE", ["BOOKPLATE_APPLE_KEY_FILE": notAKey]),
            ("BOOKPLATE_APPLE_KEY_FILE", ["BOOKPLATE_APPLE_KEY_FILE": "/nowhere/apple.p8"]),
        ] as [(String, [String: String?])] {
            let production: [String: String?] = [
                "BOOKPLATE_ENV": "production", "BOOKPLATE_SESSION_KEYS": "keys",
                "BOOKPLATE_APPLE_KEY_ID": changes["BOOKPLATE_APPLE_KEY_FILE"] == nil ? nil : "K",
                "BOOKPLATE_APPLE_TEAM_ID": changes["BOOKPLATE_APPLE_KEY_FILE"] == nil ? nil : "T",
                "DATABASE_URL": "postgresql://nobody@/x?host=/nowhere",
            ]
            let outcome = try await installation.serverOutcome(production.merging(changes) { $1 })
            #expect(outcome.code == 78, "\(variable)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("bookplate: \(variable) "), "\(outcome.errors)")
        }
    }

    /// Kubernetes sets such variables if the namespace has a Service named `bookplate`. The last one is misspelled.
    @Test func unknownVariablesDoNotPreventStarting() async throws {
        let installation = try await Installation.ready(catalog: [])
        _ = try installation.write("BOOKPLATE_PORT=0\n", to: ".env")
        let server = try await installation.startServer([
            "BOOKPLATE_PORT": "tcp://10.0.0.1:8080", "BOOKPLATE_SERVICE_HOST": "10.0.0.1",
            "BOOKPLATE_SERVICE_PORT": "8080", "BOOKPLATE_SERVICE_PORT_HTTP": "8080",
            "BOOKPLATE_PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "BOOKPLATE_PORT_8080_TCP_ADDR": "10.0.0.1", "BOOKPLATE_PORT_8080_TCP_PORT": "8080",
            "BOOKPLATE_PORT_8080_TCP_PROTO": "tcp", "BOOKPLATE_INTROSPECTOIN": "off",
        ])
        // The server used `BOOKPLATE_PORT=0` from the file, so the system chose the port.
        #expect(server.client.port != 8080)
        let warnings = server.program.errors.split(separator: "\n").filter {
            $0.contains("is not a known variable")
        }
        #expect(warnings.count == 1, "\(server.program.errors)")
        #expect(
            warnings.first?.contains(
                "BOOKPLATE_INTROSPECTOIN is not a known variable and is ignored. "
                    + "Did you mean BOOKPLATE_INTROSPECTION?") == true)
    }

    @Test func rolesThatBypassRowLevelSecurityAreRefused() async throws {
        let installation = try await Self.installation()
        for role in [nil, TestCluster.owner] {
            let outcome = try await installation.serverOutcome([
                "DATABASE_URL": try installation.database.url(as: role)
            ])
            #expect(outcome.code == 78)
            #expect(
                outcome.errors.contains("row-level security does not apply to it"),
                "\(outcome.errors)")
        }
    }

    @Test func aDatabaseWithDisabledTriggersIsRefused() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await installation.database.execute("ALTER TABLE books DISABLE TRIGGER USER")
        let outcome = try await installation.serverOutcome([:])
        #expect(outcome.code == 78)
        #expect(
            outcome.errors.contains(
                "the triggers of books are disabled. Run bookplate-admin doctor"),
            "\(outcome.errors)")
        // A start that fails leaves no files.
        #expect(access("\(installation.folder)/.bookplate", F_OK) != 0)
    }

    @Test func theServerIsNotReadyBeforeItsMigrationsHaveRun() async throws {
        let installation = try await Installation.bare()
        let first = try #require(try MigrationFiles(folder: TestCluster.migrations).versioned.first)
            .version
        let migrated = try await installation.admin(
            "migrate", "up", "--to", "\(first)", "--migrations", TestCluster.migrations)
        #expect(migrated.code == 0, "\(migrated.errors)")
        let program = try await installation.startServer(readiness: 503)
        let ready = try await program.client.send("GET", "/health/ready")
        #expect(ready.status == 503)
        #expect(ready.body.contains("bookplate-admin migrate up"))
        #expect(try await program.client.send("GET", "/health/live").status == 200)
        let rest = try await installation.admin(
            "migrate", "up", "--migrations", TestCluster.migrations)
        #expect(rest.code == 0)
        #expect(try await program.client.send("GET", "/health/ready").status == 200)
    }
}
