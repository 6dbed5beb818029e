import FoundationEssentials
import GraphQL
import GraphQLServing
import Identity
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import ObjectStorage

/// An account moves to another database with all its rows, and is never in both.
@Suite struct AccountMoveTests {
    /// A user of the source with at least one row in each table, and two installations with the same keys.
    private struct World {
        let source: TestApp
        let target: TestApp
        let fixture: IsolationFixture

        var reader: TestReader { fixture.reader }
        var user: String { fixture.reader.id.string ?? "" }

        /// Returns a copy of one world, because creating the account takes longer than most tests.
        static func make(targetCatalog: [String]? = nil) async throws -> World {
            let world = try await copies.next()
            if let targetCatalog {
                try await world.target.database.importCatalog(targetCatalog)
            }
            return world
        }

        /// Starts apps with copies of the template's databases and covers.
        private static func copy() async throws -> World {
            let template = try await template()
            async let source = template.source.copy()
            async let target = template.target.copy()
            var fixture = template.fixture
            fixture.reader = fixture.reader.at(try await source)
            return World(source: try await source, target: try await target, fixture: fixture)
        }

        private static let copies = Copies()

        /// Makes the next copy while a test runs.
        private actor Copies {
            private var following: Task<World, any Error>?

            func next() async throws -> World {
                let task = following ?? Task { try await World.copy() }
                following = Task { try await World.copy() }
                return try await task.value
            }
        }

        private static let template = Shared {
            let keyring = SessionKeyring(.generate())
            let source = try await Installation.make(catalog: TestCatalog.lines(6), keyring)
            let target = try await Installation.make(catalog: [], keyring)
            // The databases of tests are copies of one. The move creates the tenant of the account.
            try await target.app.database.execute(
                "UPDATE installation SET id = gen_random_uuid(); DELETE FROM tenants")
            try await source.app.allowGuests()
            let fixture = try await IsolationFixture.fill(try await source.app.makeReader())
            try await fillOtherTables(source.app, user: fixture.reader.id.string ?? "")
            for app in [source.app, target.app] { await app.close() }
            return (source: source, target: target, fixture: fixture)
        }

        /// An app whose covers are in a known folder.
        private struct Installation {
            let app: TestApp
            let folder: String

            static func make(
                catalog: [String], _ keyring: SessionKeyring
            ) async throws -> Installation {
                let folder = try TestApp.makeFolder()
                return Installation(
                    app: try await TestApp.start(
                        store: try FileStore(folder), catalog: catalog, keyring: keyring),
                    folder: folder)
            }

            /// Starts an app with copies of the database and the covers. This app must be closed.
            func copy() async throws -> TestApp {
                let copied = try TestApp.makeFolder()
                let files = FileManager.default
                for name in try files.contentsOfDirectory(atPath: folder)
                where !name.hasPrefix(".") {
                    try files.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copied)/\(name)")
                }
                return try await TestApp.start(
                    copy: try await TestCluster.shared.copy(app.database),
                    store: try FileStore(copied), keyring: app.services.accounts.keyring)
            }
        }

        /// Adds rows to the tables that no request of the fixture fills.
        private static func fillOtherTables(_ app: TestApp, user: String) async throws {
            try await app.database.execute(
                """
                INSERT INTO webhooks (id, tenant_id, url, event_types, sealed_secret)
                SELECT gen_random_uuid(), tenant_id, 'https://hooks.example', '{*}', 'x' FROM users WHERE id = '\(user)';
                UPDATE books SET updated_at = now() + interval '1 second' WHERE user_id = '\(user)';
                INSERT INTO webhook_deliveries (user_id, webhook_id, type, event_at, expires_at)
                SELECT '\(user)', id, 'book.updated', now(), now() + interval '1 day' FROM webhooks;
                INSERT INTO apple_grants VALUES ('\(user)', 'com.example', '\\x0001ff');
                INSERT INTO oauth_requests (id, tenant_id, client_id, user_code, scopes, expires_at, user_id, is_allowed, device_hash)
                SELECT gen_random_uuid(), c.tenant_id, c.id, 'CODECODE', '{FEED}', now() + interval '1 hour', '\(user)', true, sha256('d')
                FROM oauth_clients c JOIN oauth_grants g ON g.client_id = c.id WHERE g.user_id = '\(user)' LIMIT 1;
                INSERT INTO jobs (user_id, kind, payload, attempts_max, state, attempts, worker, lease_until)
                VALUES ('\(user)', 'test.run', '{"a": 1.50}', 3, 'RUNNING', 1, 'w', now() + interval '1 hour');
                INSERT INTO removed_covers (user_id, book_id, version)
                SELECT user_id, id, repeat('a', 32) FROM books WHERE user_id = '\(user)' LIMIT 1
                """)
        }

        /// Opens new connections, as a new run of the command does.
        func move(newURL: String? = nil) async throws -> AccountMove {
            guard let id = UUID(user) else { throw TestFailure(description: user) }
            return AccountMove(
                of: id,
                from: try AdminConnection(try source.database.url(as: TestCluster.owner)),
                to: try AdminConnection(try target.database.url(as: TestCluster.owner)),
                sourceStore: source.covers.store, targetStore: target.covers.store,
                drainSeconds: 0, newURL: newURL)
        }

        /// Opens new connections for a move from one database to another one.
        func move(from: TestApp, to: TestApp) throws -> AccountMove {
            guard let id = UUID(user) else { throw TestFailure(description: user) }
            return AccountMove(
                of: id, from: try AdminConnection(try from.database.url(as: TestCluster.owner)),
                to: try AdminConnection(try to.database.url(as: TestCluster.owner)),
                sourceStore: from.covers.store, targetStore: to.covers.store, drainSeconds: 0)
        }

        /// Moves the account from the target to the source.
        func moveBack() async throws {
            _ = try await move(from: target, to: source).run()
        }

        /// Starts an empty third installation.
        func startThird() async throws -> TestApp {
            let third = try await TestApp.start(
                catalog: [], keyring: source.services.accounts.keyring)
            try await third.database.execute(
                "UPDATE installation SET id = gen_random_uuid(); DELETE FROM tenants")
            return third
        }

        func compare(_ here: TestApp, _ there: TestApp) throws -> AccountMove.Comparison {
            let move = try move(from: here, to: there)
            return try AccountMove.compare(move.source, move.target)
        }

        /// Makes the moves of a database older, and deletes the parcels that are not needed any more.
        func waitADay(_ app: TestApp) async throws {
            try await app.database.execute(
                """
                UPDATE account_moves SET ended_at = ended_at - interval '26 hours';
                SELECT prune_account_parcels(1, 1000000)
                """)
        }

        /// Changes a database as if it had been restored from a backup of the time before the account arrived.
        func loseArrival() async throws {
            try await target.database.execute(
                """
                BEGIN;
                SET LOCAL app.moving = 'on';
                DELETE FROM users WHERE id = '\(user)';
                DELETE FROM account_moves;
                COMMIT
                """)
        }

        /// Changes the source as if it had been restored from a backup of the time before the move.
        func restoreSource() async throws {
            try await source.database.execute(
                """
                SELECT return_account(user_id, move_id) FROM account_moves;
                DELETE FROM account_moves;
                DELETE FROM account_parcels
                """)
        }

        func parcelCount(_ app: TestApp) async throws -> Int {
            try await app.database.count("SELECT count(*) FROM account_parcels")
        }

        /// Returns the rows of the account as JSON, by table.
        func rows(_ app: TestApp) async throws -> [String: [String]] {
            try await app.database.withConnection { [user] connection in
                var rows: [String: [String]] = [:]
                let tables = try connection.query(
                    "SELECT name, key FROM moved_tables() ORDER BY number")
                for index in 0..<tables.count {
                    let (name, key) = (tables.text(index, 0) ?? "", tables.text(index, 1) ?? "")
                    rows[name] = try connection.texts(
                        "SELECT (to_jsonb(t) - '\(name == "events" ? "id" : "")')::text FROM \(name) t WHERE \(key) = '\(user)' ORDER BY 1"
                    )
                }
                return rows
            }
        }

        /// Returns the number of rows of the account in all tables, except those of moves.
        func rowCount(_ app: TestApp) async throws -> Int {
            try await rows(app).values.reduce(0) { $0 + $1.count }
        }

        func tenant() async throws -> String {
            try await source.database.text("SELECT id FROM tenants WHERE slug = 'alpha'")
        }

        /// Returns the states of all moves that a database knows, the oldest first.
        func states(_ app: TestApp) async throws -> [String] {
            try await app.database.withConnection {
                try $0.texts("SELECT state::text FROM account_moves ORDER BY number, started_at")
            }
        }

        /// Sweeps the store of a database, as if all its files were old.
        @discardableResult
        func sweep(_ app: TestApp) async throws -> StorageSweep.Summary {
            let connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
            return try await StorageSweep(
                app.covers.store, graceSeconds: 0, isDryRun: false, connection
            ).run()
        }

        /// Returns how many variants of the fixture's cover a store has.
        func coverFiles(_ app: TestApp) async throws -> Int {
            try await app.covers.store.list(user, of: .bookCovers).objects.count
        }

        func everything(_ app: TestApp) async throws -> Value {
            var fixture = fixture
            fixture.reader = fixture.reader.at(app)
            return try await fixture.everything()
        }

        func code(_ app: TestApp, _ query: String = "{ me { id } }") async throws -> Value? {
            try await reader.at(app).execute(query).json["errors", 0, "extensions", "code"]
        }
    }

    private struct TestFailure: Error { let description: String }

    /// Runs the move until a step is done, as if the process were killed then.
    private func run(
        _ world: World, until last: AccountMove.Step, hasArrived: Bool = false
    ) async throws {
        let move = try await world.move()
        do throws(AccountMoveError) {
            _ = try await move.run(hasArrived: hasArrived) { step throws(AccountMoveError) in
                if step == last { throw .interrupted }
            }
        } catch .interrupted {}
    }

    /// Expects that an operation is refused, with a message that contains the text.
    private func refuses(
        _ text: String, sourceLocation: Testing.SourceLocation = #_sourceLocation,
        _ work: () async throws -> Void
    ) async {
        do {
            try await work()
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch {
            let message: String
            switch error {
            case let error as AccountMoveError: message = error.message
            case AdministrationError.refused(let text): message = text
            default: message = "\(error)"
            }
            #expect(message.contains(text), "\(message)", sourceLocation: sourceLocation)
        }
    }

    /// Returns whether the move could be undone.
    private func undo(_ world: World) async throws -> Bool {
        let move = try await world.move()
        do throws(AccountMoveError) {
            try await move.undo()
            return true
        } catch .refused {
            return false
        }
    }

    // MARK: - Tables

    @Test func everyTableWithUsersRowsIsMovedOrRebuilt() async throws {
        let app = try await TestApp.start(catalog: [])
        let missing = try await app.database.withConnection {
            try $0.texts(
                """
                SELECT c.relname::text
                FROM pg_class c
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                    AND c.relname NOT IN (SELECT name FROM moved_tables())
                    AND c.relname NOT IN (SELECT * FROM rebuilt_tables())
                    AND c.relname NOT IN (SELECT * FROM remaining_tables())
                ORDER BY 1
                """)
        }
        #expect(missing == [], "add the tables to moved_tables or rebuilt_tables in moves.sql")
        let unordered = try await app.database.withConnection {
            try $0.texts(
                """
                SELECT k.conname::text
                FROM pg_constraint k
                JOIN moved_tables() referring ON referring.name::regclass = k.conrelid
                JOIN moved_tables() referred ON referred.name::regclass = k.confrelid
                WHERE k.contype = 'f' AND referring.number < referred.number
                """)
        }
        #expect(unordered == [])
    }

    // MARK: - Moving

    @Test func movesEveryRowUnchanged() async throws {
        let world = try await World.make()
        var before = try await world.rows(world.source)
        for (table, rows) in before { #expect(!rows.isEmpty, "no row of \(table) is tested") }
        let shown = try await world.everything(world.source)

        let summary = try await world.move().run()
        before["changes"] = nil
        #expect(summary.rows == before.values.reduce(0) { $0 + $1.count })
        #expect(summary.covers == 1 && summary.damagedCovers == 0)
        var after = try await world.rows(world.target)
        // The job is given back by the worker that ran it.
        #expect(after["jobs"]?.count == before["jobs"]?.count)
        (before["jobs"], after["jobs"]) = (nil, nil)
        for (table, rows) in before { #expect(after[table] == rows, "\(table)") }
        #expect(
            try await world.target.database.text(
                "SELECT DISTINCT state || ' ' || attempts FROM jobs WHERE kind = 'test.run'")
                == "READY 0")
        #expect(try await world.rowCount(world.source) == 0)

        // The session is valid there, and shows the same.
        #expect(try await world.everything(world.target) == shown)
        #expect(try await world.code(world.source) == "ACCOUNT_MOVED")
        let audited = try await world.source.database.withConnection {
            try $0.texts("SELECT kind FROM audit_events ORDER BY id DESC LIMIT 1")
        }
        #expect(audited == ["ACCOUNT_LEFT"])
        #expect(
            try await world.target.database.withConnection {
                try $0.texts("SELECT kind FROM audit_events")
            } == ["ACCOUNT_ARRIVED"])
    }

    /// The clock of the target may show an earlier time than that of the source, and receivers of webhooks know the numbers of changes.
    @Test func devicesFetchTheLibraryAgainAndContinue() async throws {
        let world = try await World.make()
        try await world.source.database.execute(
            "UPDATE changes SET at = at + interval '1 hour'")
        let newest = try await world.source.database.count("SELECT max(seq) FROM changes")
        let cursors = (1...newest).map { ChangeCursor(seq: Int64($0), at: 0).text }
        let current = try await world.reader.requireValue(
            Self.changes, .null, "changes", "cursor")
        _ = try await world.move().run()
        let reader = world.reader.at(world.target)
        var cursor = Value.null
        for text in cursors.map({ Value.string($0) }) + [current] {
            let response = try await reader.execute(Self.changes, ["after": text])
            #expect(response["changes", "resetRequired"] == true, "\(response.json)")
            cursor = response["changes", "cursor"] ?? .null
        }
        // Each transaction logs its change, although earlier entries are later by the source's clock.
        for title in ["One", "Two"] {
            let updated = try await reader.execute(
                "mutation($id: ID!, $title: String!) { updateBook(id: $id, input: {title: $title}) { id } }",
                ["id": world.fixture.book, "title": .string(title)])
            #expect(updated.errors.isEmpty, "\(updated.json)")
            let changes = try await reader.requireValue(
                Self.changes, ["after": cursor], "changes")
            #expect(changes["changes"] == [["kind": "UPDATED", "nodeId": world.fixture.book]])
            cursor = changes["cursor"] ?? .null
        }
        #expect(
            try await world.target.database.count("SELECT min(seq) FROM changes") == newest + 1000)
        #expect(
            try await world.target.database.count(
                "SELECT count(*) FROM changes WHERE at > now() + interval '1 minute'") == 0)
    }

    private static let changes =
        "query($after: String) { changes(after: $after) { changes { kind nodeId } cursor resetRequired } }"

    @Test func eventsOfWebhooksAreSentByTheSource() async throws {
        let world = try await World.make()
        let user = world.user
        _ = try await world.reader.makeShelf("Announced")
        #expect(
            try await world.source.database.count("SELECT count(*) FROM webhook_positions") == 1)
        let before = try await world.source.database.count(
            "SELECT count(*) FROM webhook_deliveries WHERE state = 'WAITING'")
        try await world.target.database.execute(
            """
            INSERT INTO tenants (id, slug, name, audiences) VALUES ('\(try await world.tenant())', 'alpha', 'Alpha', '{x}');
            INSERT INTO webhooks (id, tenant_id, url, event_types, sealed_secret)
            SELECT gen_random_uuid(), id, 'https://other.example', '{*}', 'x' FROM tenants
            """)
        _ = try await world.move().run()
        #expect(
            try await world.source.database.count(
                """
                SELECT count(*) FROM webhook_deliveries
                WHERE user_id = '\(user)' AND state = 'WAITING' AND type = 'shelf.created'
                """) >= 1)
        #expect(
            try await world.source.database.count(
                "SELECT count(*) FROM webhook_deliveries WHERE state = 'WAITING'") > before)
        // The target announces new changes only, and has no webhook of the source.
        #expect(
            try await world.target.database.count("SELECT count(*) FROM webhook_positions") == 0)
        #expect(try await world.target.database.count("SELECT count(*) FROM webhooks") == 1)
    }

    @Test func accountCanMoveBackAndBeDeletedThere() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        _ = try await world.move().run()
        try await world.moveBack()
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.rowCount(world.target) == 0)
        #expect(try await world.code(world.target) == "ACCOUNT_MOVED")
        // The rows of the first move cannot return any more.
        #expect(try await undo(world) == false)
        let first = try await world.source.database.text(
            "SELECT move_id FROM account_moves WHERE state = 'LEFT'")
        await refuses("has come back since the move") {
            try await world.source.database.execute(
                "SELECT return_account('\(world.user)', '\(first)')")
        }
        let deleted = try await world.reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { books } }",
            ["id": world.reader.id])
        #expect(deleted.json["errors"] == nil, "\(deleted.json)")
        // The newest move says where the account is.
        #expect(try await world.code(world.source) == "UNAUTHENTICATED")
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        let id = try #require(UUID(world.user))
        await refuses("there is no account") { _ = try AccountRecord.show(id, connection) }
        #expect(try await world.states(world.source) == ["LEFT", "ARRIVED"])
        #expect(try await world.states(world.target) == ["ARRIVED", "LEFT"])
        #expect(try await world.parcelCount(world.source) == 0)
    }

    @Test func rehearsalChangesNothingAndWaitsForNothing() async throws {
        let world = try await World.make()
        let before = try await world.rows(world.source)
        // Requests of the reader, and another run, hold locks.
        let holder = try AdminConnection(try world.source.database.url(as: TestCluster.owner))
        try holder.execute(
            """
            BEGIN;
            SELECT lock_user('\(world.user)');
            SELECT pg_advisory_lock(hashtextextended('\(world.user)', 2));
            SELECT FROM users WHERE id = '\(world.user)' FOR UPDATE;
            SET LOCAL statement_timeout = 0
            """)
        let summary = try await world.move().rehearse()
        try holder.execute("ROLLBACK")
        var counted = before
        counted["changes"] = nil
        #expect(summary.rows == counted.values.reduce(0) { $0 + $1.count } && summary.covers == 1)
        #expect(try await world.rows(world.source) == before)
        #expect(try await world.rowCount(world.target) == 0)
        for app in [world.source, world.target] {
            #expect(
                try await app.database.count(
                    "SELECT (SELECT count(*) FROM account_moves) + (SELECT count(*) FROM account_parcels)"
                ) == 0)
        }
    }

    // MARK: - Interruptions

    @Test(arguments: AccountMove.Step.allCases)
    func moveContinuesAfterEachStep(step: AccountMove.Step) async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        try await run(world, until: step)
        // The account is in at most one of the databases.
        let counts = [
            try await world.source.database.count("SELECT count(*) FROM users"),
            try await world.target.database.count("SELECT count(*) FROM users"),
        ]
        #expect(counts.reduce(0, +) <= 1)
        _ = try await world.move().run()
        #expect(try await world.everything(world.target) == shown)
        #expect(try await world.rowCount(world.source) == 0)
        #expect(try await world.parcelCount(world.target) == 0)
        #expect(try await world.parcelCount(world.source) > 0)
        #expect(try await world.states(world.source) == ["LEFT"])
        #expect(try await world.states(world.target) == ["ARRIVED"])
        // Running it once more changes nothing.
        _ = try await world.move().run()
        #expect(try await world.everything(world.target) == shown)
    }

    @Test(arguments: AccountMove.Step.allCases)
    func moveCanBeUndoneUntilTheAccountHasArrived(step: AccountMove.Step) async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let before = try await world.rowCount(world.source)
        let cursor = try await world.reader.requireValue(Self.changes, .null, "changes", "cursor")
        try await run(world, until: step)
        let canUndo = ![.arrived, .finished, .checkedCovers].contains(step)
        #expect(try await undo(world) == canUndo)
        guard canUndo else { return }
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.rowCount(world.source) == before)
        #expect(try await world.rowCount(world.target) == 0)
        for app in [world.source, world.target] {
            #expect(try await app.database.count("SELECT count(*) FROM account_parcels") == 0)
        }
        #expect(try await world.states(world.target) == ["CANCELLED"])
        // Devices have missed nothing.
        #expect(
            try await world.reader.execute(Self.changes, ["after": cursor])[
                "changes", "resetRequired"] == false)
        #expect(try await undo(world) == false)
        _ = try await world.move().run()
        #expect(try await world.everything(world.target) == shown)
    }

    @Test func requestsAreToldToTryAgainDuringTheMove() async throws {
        let world = try await World.make()
        let token = try await world.reader.requireValue(
            #"mutation { createAccessToken(input: {name: "T", scopes: [LIBRARY_READ]}) { secret } }"#,
            .null, "createAccessToken", "secret")
        for step in [AccountMove.Step.closed, .packed, .copiedRows] {
            try await run(world, until: step)
            let app = world.source
            #expect(try await world.code(app) == "SERVICE_UNAVAILABLE", "\(step)")
            #expect(
                try await world.code(app, #"mutation { createShelf(input: {name: "x"}) { id } }"#)
                    == "SERVICE_UNAVAILABLE")
            let refreshed = try await app.execute(
                "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
                ["token": .string(world.reader.refreshToken)])
            #expect(
                refreshed.json["errors", 0, "extensions", "code"] == "SERVICE_UNAVAILABLE",
                "\(refreshed.json)")
            let signedIn = try await app.signIn(subject: world.reader.subject)
            #expect(
                signedIn.json["errors", 0, "extensions", "code"] == "SERVICE_UNAVAILABLE",
                "\(signedIn.json)")
            let byToken = try await app.execute("{ me { id } }", token: token.string)
            #expect(
                byToken.json["errors", 0, "extensions", "code"] == "SERVICE_UNAVAILABLE",
                "\(byToken.json)")
        }
    }

    /// An app that gets UNAUTHENTICATED signs its user out.
    @Test func appsAreToldThatTheAccountHasMoved() async throws {
        let world = try await World.make()
        let app = world.source
        // Servers know a token after its first use.
        let kobo = try await EReader(world.reader)
        #expect(await kobo.authorize().status == 200)
        let unused = try await EReader(world.reader)
        let link = try await world.reader.requireValue(
            "mutation { exportLibrary { url } }", .null, "exportLibrary", "url")
        _ = try await world.move(newURL: "https://new.example").run()
        func expectMoved(_ response: TestResponse, url: Value = "https://new.example") {
            #expect(
                response.json["errors", 0, "extensions"]
                    == ["code": "ACCOUNT_MOVED", "url": url], "\(response.json)")
        }
        expectMoved(try await world.reader.execute("{ me { id } }"))
        expectMoved(
            try await world.reader.execute(#"mutation { createShelf(input: {name: "x"}) { id } }"#))
        expectMoved(
            try await app.execute(
                "mutation($token: String!) { refreshSession(refreshToken: $token) { accessToken } }",
                ["token": .string(world.reader.refreshToken)]))
        // A sign-in must not create a second account.
        expectMoved(try await app.signIn(subject: world.reader.subject))
        #expect(try await app.database.count("SELECT count(*) FROM users") == 0)
        for reader in [kobo, unused] {
            expectMoved(try await app.execute("{ me { id } }", token: reader.secret))
            #expect(await reader.authorize().status == 410)
            #expect(await reader.progression(of: world.fixture.book).status == 410)
        }
        let subscription = try await app.subscribe(
            "subscription { changes { kind } }", token: world.reader.token)
        #expect(
            await subscription.next()["errors", 0, "extensions", "code"] == "ACCOUNT_MOVED")

        // The other endpoints have an HTTP status of their own.
        let (pool, services) = (app.pool, app.services)
        let exported = link.string?.split(separator: "/").last?.dropLast(4) ?? ""
        let error: BookplateError? = await Task(executorPreference: pool.executor) {
            do throws(BookplateError) {
                _ = try await ExportEndpoint(database: pool, services: services)
                    .open(token: exported, requestID: "test")
                return nil
            } catch {
                return error
            }
        }.value
        guard case .accountMoved("https://new.example", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.map { OAuthError($0).status } == 410)
        #expect(error.map { ConnectionAuthenticationError($0) } != .unauthenticated)
        let id = try #require(UUID(world.user))
        for call in [
            "exchange_oauth_code(gen_random_uuid(), sha256('d'), true, NULL, NULL, gen_random_uuid(), 'x', gen_random_uuid(), sha256('t'), 'abcd', 60, 1)",
            "refresh_oauth_grant(gen_random_uuid(), '\(id)', gen_random_uuid(), 'x', 'y', 1, NULL, gen_random_uuid(), 'x', 'abcd', 60)",
            "end_oauth_grant(gen_random_uuid(), '\(id)', gen_random_uuid())",
        ] {
            await refuses("was moved to another database") {
                try await app.database.execute("SELECT \(call)")
            }
        }

        // The address can be changed later.
        _ = try await world.move(newURL: "https://newer.example").run()
        expectMoved(
            try await world.reader.execute("{ me { id } }"), url: "https://newer.example")
        // Another account cannot get the identity.
        let other = try await app.makeGuest()
        let linked = try await other.execute(
            "mutation($input: SignInInput!) { linkIdentity(input: $input) { id } }",
            [
                "input": [
                    "apple": [
                        "identityToken": .string(app.identityToken(subject: world.reader.subject))
                    ]
                ]
            ])
        #expect(linked.code == "CONFLICT", "\(linked.json)")
    }

    /// A change that commits while the account is being closed waits neither before nor after the move.
    @Test func changesOfCredentialsWhileTheAccountIsClosedAreMoved() async throws {
        let world = try await World.make()
        let app = world.source
        let other = try await app.signIn(subject: world.reader.subject)
        let ended = try #require(other["signIn", "refreshToken"]?.string)
        let holder = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try holder.execute(
            """
            BEGIN;
            UPDATE sessions SET revoked_at = now() WHERE refresh_hash = decode('\(hash(ended))', 'hex');
            UPDATE sessions SET device_name = 'Renamed' WHERE revoked_at IS NULL;
            UPDATE access_tokens SET last_used_at = '2020-01-01';
            DELETE FROM oauth_grants
            """)
        let task = Task { _ = try await world.move().run() }
        try await waitUntil("the account is being closed") {
            try await app.database.count(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT close_account%' AND datname = current_database()"
            ) == 1
        }
        try holder.execute("COMMIT")
        try await task.value
        #expect(
            try await world.target.database.text(
                """
                SELECT (SELECT string_agg(DISTINCT device_name, ',') FROM sessions WHERE revoked_at IS NULL) || ' '
                    || (SELECT count(*) FROM sessions WHERE revoked_at IS NOT NULL) || ' '
                    || (SELECT count(*) FROM access_tokens WHERE last_used_at <> '2020-01-01') || ' '
                    || (SELECT count(*) FROM oauth_grants)
                """) == "Renamed 1 0 0")
    }

    private func hash(_ refreshToken: String) -> String {
        RefreshTicket(refreshToken).map { lowercaseHex($0.hash) } ?? ""
    }

    /// The revocation of a stolen session must not be confirmed and then be lost.
    @Test func revocationByAReusedTokenWaitsForTheMove() async throws {
        let world = try await World.make()
        let app = world.source
        let refresh =
            "mutation($token: String!) { refreshSession(refreshToken: $token) { refreshToken } }"
        var token = world.reader.refreshToken
        for _ in 1...2 {
            let response = try await app.execute(refresh, ["token": .string(token)])
            token = try #require(response["refreshSession", "refreshToken"]?.string)
        }
        let holder = try AdminConnection(try app.database.url(as: TestCluster.owner))
        try holder.execute("BEGIN; SELECT lock_user('\(world.user)')")
        func waiting(_ count: Int) async throws {
            try await waitUntil("\(count) transactions wait for the lock") {
                try await app.database.count(
                    "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()"
                ) == count
            }
        }
        let closing = Task { try await run(world, until: .closed) }
        try await waiting(1)
        let reused = Task {
            try await app.execute(refresh, ["token": .string(world.reader.refreshToken)])
        }
        try await waiting(2)
        try holder.execute("COMMIT")
        try await closing.value
        let response = try await reused.value
        #expect(response.code == "SERVICE_UNAVAILABLE", "\(response.json)")
        _ = try await world.move().run()
        let repeated = try await world.target.execute(
            refresh, ["token": .string(world.reader.refreshToken)])
        #expect(repeated.code == "UNAUTHENTICATED")
        #expect(
            try await world.target.execute(refresh, ["token": .string(token)]).code
                == "UNAUTHENTICATED")
    }

    /// The numbers of moves of different accounts are not comparable.
    @Test func lastMoveOfAnIdentityDecides() async throws {
        let world = try await World.make()
        _ = try await world.move(newURL: "https://new.example").run()
        /// Adds a move of another account that had the identity.
        func insert(_ state: String, _ number: Int, _ end: String) async throws {
            try await world.source.database.execute(
                """
                INSERT INTO account_moves
                    (move_id, user_id, state, number, other_installation, new_url, known_hashes, ended_at)
                SELECT
                    gen_random_uuid(), gen_random_uuid(), '\(state)', \(number), other_installation, 'https://x.example',
                    known_hashes, \(end)
                FROM account_moves
                WHERE number = 1
                """)
        }
        func response() async throws -> Value? {
            try await world.source.signIn(subject: world.reader.subject).json[
                "errors", 0, "extensions"]
        }
        try await insert("LEFT", 5, "now() - interval '1 hour'")
        #expect(try await response() == ["code": "ACCOUNT_MOVED", "url": "https://new.example"])
        try await insert("ARRIVING", 0, "NULL")
        #expect(try await response()?["code"] == "SERVICE_UNAVAILABLE")
    }

    // MARK: - Lost databases

    @Test func accountReturnsIfTheTargetHasLostIt() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let before = try await world.rowCount(world.source)
        for step in [AccountMove.Step.arrived, .checkedCovers] {
            try await run(world, until: step)
            try await world.loseArrival()
            await refuses(
                step == .arrived ? "does not expect this move" : "run the command with --undo"
            ) {
                _ = try await world.move().run()
            }
            #expect(try await undo(world))
            #expect(try await world.everything(world.source) == shown)
            #expect(try await world.rowCount(world.source) == before)
            #expect(try await world.parcelCount(world.source) == 0)
            try await world.target.database.execute("DELETE FROM account_moves")
        }
        _ = try await world.move().run()
        #expect(try await world.everything(world.target) == shown)
        try await world.loseArrival()
        try await world.waitADay(world.source)
        await refuses("has left more than a day ago") { try await world.move().undo() }
    }

    @Test(arguments: [AccountMove.Step.closed, .packed, .finished])
    func accountReturnsWithoutALostTarget(step: AccountMove.Step) async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let user = try #require(UUID(world.user))
        let lost = try await world.target.database.text("SELECT id FROM installation")
        func undo(lost: String) async throws {
            let connection = try AdminConnection(
                try world.source.database.url(as: TestCluster.owner))
            try await AccountMove.undo(user, lost: try #require(UUID(lost)), connection)
        }
        await refuses("is not being moved") { try await undo(lost: lost) }
        try await run(world, until: step)
        await refuses("the installation ID \(lost), not") {
            try await undo(lost: world.user)
        }
        try await undo(lost: lost)
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.states(world.source) == ["CANCELLED"])
    }

    @Test(arguments: [nil, AccountMove.Step.closed, .packed])
    func restoredSourceGivesTheAccountUpAgain(interruption: AccountMove.Step?) async throws {
        let world = try await World.make()
        _ = try await world.move().run()
        let shown = try await world.everything(world.target)
        try await world.restoreSource()
        #expect(try await world.code(world.source) == nil)
        let id = try #require(UUID(world.user))
        func compare() async throws -> AccountMove.Comparison {
            let move = try await world.move()
            return try AccountMove.compare(move.source, move.target)
        }
        #expect(try await compare() == .init(inBoth: [id]))
        await refuses("--already-arrived") { _ = try await world.move().run() }
        let deliveries = try await world.source.database.count(
            "SELECT count(*) FROM webhook_deliveries WHERE type = 'user.deleted'")
        if let interruption {
            try await run(world, until: interruption, hasArrived: true)
            #expect(try await undo(world) == false)
        }
        _ = try await world.move().run(hasArrived: true)
        #expect(try await compare() == .init())
        #expect(try await world.rowCount(world.source) == 0)
        #expect(try await world.code(world.source) == "ACCOUNT_MOVED")
        #expect(try await world.everything(world.target) == shown)
        #expect(
            try await world.source.database.count("SELECT count(*) FROM account_tombstones") == 0)
        #expect(
            try await world.source.database.count(
                "SELECT count(*) FROM webhook_deliveries WHERE type = 'user.deleted'")
                == deliveries)
        try await world.loseArrival()
        #expect(try await compare() == .init(inNeither: [id]))
    }

    /// The source is restored from a backup from before both moves, and the only current copy is the parcel of the second one.
    @Test func olderCopyDoesNotReplaceAnAccountOnItsWayBack() async throws {
        let world = try await World.make()
        let (source, target) = (world.source, world.target)
        let id = try #require(UUID(world.user))
        _ = try await world.move().run()
        _ = try await world.reader.at(target).makeBook("Added there")
        let shown = try await world.everything(target)
        try await world.moveBack()
        try await source.database.execute(
            "DELETE FROM account_moves; DELETE FROM account_parcels; DELETE FROM books WHERE title = 'Added there'"
        )
        for comparison in [
            try world.compare(source, target), try world.compare(target, source),
        ] {
            #expect(comparison == .init(undelivered: [id]))
        }
        let parcel = try await world.parcelCount(target)
        let text = "has an older copy of the account"
        await refuses(text) { _ = try await world.move().run() }
        await refuses(text) { _ = try await world.move().run(hasArrived: true) }
        await refuses(text) { _ = try await world.move().rehearse() }
        // The databases check it, too, whatever the program does.
        let arrival = "SELECT check_arrival('\(world.user)', gen_random_uuid(), 1, NULL, '', '{}')"
        await refuses("knows a later move") { try await target.database.execute(arrival) }
        #expect(try await world.parcelCount(target) == parcel)

        try await world.move(from: target, to: source).undo()
        #expect(try await world.everything(target) == shown)
        #expect(try world.compare(source, target) == .init(inBoth: [id]))
        await refuses("--already-arrived") { _ = try await world.move().run() }
        _ = try await world.move().run(hasArrived: true)
        #expect(try await world.rowCount(source) == 0)
        #expect(try await world.code(source) == "ACCOUNT_MOVED")
        #expect(try await world.everything(target) == shown)
        #expect(try world.compare(source, target) == .init())
        // The account can move again.
        try await world.moveBack()
        #expect(try await world.everything(source) == shown)
        #expect(try world.compare(source, target) == .init())
    }

    @Test func accountDoesNotMoveOnToAThirdInstallation() async throws {
        let world = try await World.make()
        let (source, target) = (world.source, world.target)
        let third = try await world.startThird()
        _ = try await world.move().run()
        let shown = try await world.everything(target)
        let text = "an account can move only between two installations"
        await refuses(text) { _ = try await world.move(from: target, to: third).run() }
        await refuses(text) { _ = try await world.move(from: target, to: third).rehearse() }
        #expect(try await world.everything(target) == shown)
        #expect(try await world.rowCount(third) == 0)
        // It can return.
        try await world.moveBack()
        #expect(try await world.everything(source) == shown)
    }

    @Test func moveFromALostSourceCanBeEnded() async throws {
        let world = try await World.make()
        try await run(world, until: .packed)
        let user = try #require(UUID(world.user))
        let connection = try AdminConnection(
            try world.target.database.url(as: TestCluster.owner))
        let lost = try await world.source.database.text("SELECT id FROM installation")
        await refuses("the installation ID \(lost), not") {
            try await AccountMove.cancel(user, lost: user, connection)
        }
        let lostID = try #require(UUID(lost))
        try await AccountMove.cancel(user, lost: lostID, connection)
        #expect(try await world.states(world.target) == ["CANCELLED"])
        #expect(try await world.parcelCount(world.target) == 0)
        #expect(try AccountMove.unfinished(connection) == [])
        await refuses("is not arriving") {
            try await AccountMove.cancel(user, lost: lostID, connection)
        }
    }

    /// The copy may be the last one.
    @Test func copyFromALostSourceIsKept() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let user = try #require(UUID(world.user))
        let lost = try #require(
            UUID(try await world.source.database.text("SELECT id FROM installation")))
        func connect() throws -> AdminConnection {
            try AdminConnection(try world.target.database.url(as: TestCluster.owner))
        }
        try await run(world, until: .packed)
        await refuses("were not copied to this database") {
            _ = try await AccountMove.receive(user, lost: lost, try connect())
        }
        try await run(world, until: .copiedRows)
        await refuses("run the command without --undo") {
            try await AccountMove.cancel(user, lost: lost, try connect())
        }
        await refuses("the installation ID \(lost), not") {
            _ = try await AccountMove.receive(user, lost: user, try connect())
        }
        // The message names the database in which the command runs.
        let tenant = "VALUES (gen_random_uuid(), 'alpha', 'Other', '{x}')"
        try await world.target.database.execute(
            "INSERT INTO tenants (id, slug, name, audiences) \(tenant)")
        await refuses("this database has another tenant with the slug alpha") {
            _ = try await AccountMove.receive(user, lost: lost, try connect())
        }
        try await world.target.database.execute("DELETE FROM tenants")
        let rows = try await AccountMove.receive(user, lost: lost, try connect())
        #expect(try await world.rowCount(world.target) == rows + 1)
        #expect(try await world.everything(world.target) == shown)
        #expect(try await world.coverFiles(world.target) == ObjectVariant.allCases.count)
        #expect(try AccountMove.unfinished(try connect()) == [])
        // If the source was not lost, it can finish the move.
        _ = try await world.move().run()
        #expect(try await world.states(world.source) == ["LEFT"])
        #expect(try world.compare(world.source, world.target) == .init())
    }

    @Test func completeCopyIsDeletedOnlyOnRequest() async throws {
        let world = try await World.make()
        try await run(world, until: .copiedRows)
        let user = try #require(UUID(world.user))
        let lost = try #require(
            UUID(try await world.source.database.text("SELECT id FROM installation")))
        try await AccountMove.cancel(
            user, lost: lost, deletesCopy: true,
            try AdminConnection(try world.target.database.url(as: TestCluster.owner)))
        #expect(try await world.states(world.target) == ["CANCELLED"])
        #expect(try await world.parcelCount(world.target) == 0)
    }

    /// After a day, the older copy is the only one.
    @Test func olderCopyIsKeptAndCanMoveAgain() async throws {
        let world = try await World.make()
        let (source, target) = (world.source, world.target)
        let id = try #require(UUID(world.user))
        await refuses("is not an older copy") { try await world.move().keepOlderCopy() }
        _ = try await world.move().run()
        try await world.moveBack()
        await refuses("is not an older copy") { try await world.move().keepOlderCopy() }
        try await source.database.execute(
            "DELETE FROM account_moves; DELETE FROM account_parcels")
        await refuses("run the command with --undo") { try await world.move().keepOlderCopy() }
        try await world.waitADay(target)
        await refuses("run the command with --keep-older-copy") {
            _ = try await world.move().run()
        }
        #expect(try world.compare(source, target) == .init(undelivered: [id]))
        let shown = try await world.everything(source)
        try await world.move().keepOlderCopy()
        #expect(try world.compare(source, target) == .init())
        #expect(try await world.everything(source) == shown)
        _ = try await world.move().run()
        #expect(try await world.everything(target) == shown)
        try await world.moveBack()
        #expect(try await world.everything(source) == shown)
        #expect(try world.compare(source, target) == .init())
    }

    /// The backup was made while the account was being moved, before it came back.
    @Test(arguments: [false, true])
    func olderCopyThatWasBeingMovedIsKept(isPacked: Bool) async throws {
        let world = try await World.make()
        let (source, target) = (world.source, world.target)
        _ = try await world.move().run()
        let move = try await target.database.text(
            "SELECT move_id FROM account_moves WHERE state = 'ARRIVED'")
        let other = try await target.database.text("SELECT id FROM installation")
        try await world.moveBack()
        try await world.waitADay(target)
        let shown = try await world.everything(source)
        try await source.database.execute(
            "DELETE FROM account_moves; DELETE FROM account_parcels")
        try await source.database.execute(
            "SELECT close_account('\(world.user)', '\(move)', '\(other)', 1)")
        if isPacked {
            try await source.database.execute("SELECT pack_account('\(world.user)', '\(move)')")
        }
        await refuses("run the command with --keep-older-copy") {
            _ = try await world.move().run()
        }
        try await world.move().keepOlderCopy()
        #expect(try await world.everything(source) == shown)
        #expect(try world.compare(source, target) == .init())
        _ = try await world.move().run()
        #expect(try await world.everything(target) == shown)
    }

    /// The source was restored from a backup of the time between two moves, and more than a day has passed.
    @Test func accountInNeitherDatabaseIsForgotten() async throws {
        let world = try await World.make()
        let (source, target) = (world.source, world.target)
        let id = try #require(UUID(world.user))
        await refuses("there is no account to forget") { try await world.move().forget() }
        _ = try await world.move().run()
        await refuses("the other database has the account") { try await world.move().forget() }
        let hashes = try await source.database.text(
            "SELECT known_hashes::text FROM account_moves")
        try await world.moveBack()
        try await source.database.execute(
            """
            BEGIN;
            SET LOCAL app.moving = 'on';
            DELETE FROM users WHERE id = '\(world.user)';
            DELETE FROM account_moves WHERE state = 'ARRIVED';
            UPDATE account_moves SET known_hashes = '\(hashes)';
            COMMIT
            """)
        try await world.waitADay(source)
        // The target can still return the account.
        await refuses("less than a day ago") { try await world.move().forget() }
        try await world.waitADay(target)
        #expect(try world.compare(source, target) == .init(inNeither: [id]))
        for app in [source, target] {
            #expect(try await world.code(app) == "ACCOUNT_MOVED")
            #expect(
                try await app.signIn(subject: world.reader.subject).code == "ACCOUNT_MOVED")
        }
        try await world.move().forget()
        for app in [source, target] {
            #expect(try await world.states(app).allSatisfy { $0 == "CANCELLED" })
            #expect(
                try await app.database.count(
                    "SELECT count(*) FROM audit_events WHERE kind = 'ACCOUNT_FORGOTTEN'") == 1)
            #expect(try await world.code(app) == "UNAUTHENTICATED")
            #expect(try await app.signIn(subject: world.reader.subject).code == nil)
        }
        #expect(try world.compare(source, target) == .init())
        await refuses("there is no account to forget") { try await world.move().forget() }
    }

    @Test func accountOfALostDatabaseIsForgotten() async throws {
        let world = try await World.make()
        let user = try #require(UUID(world.user))
        let lost = try #require(
            UUID(try await world.target.database.text("SELECT id FROM installation")))
        func forget(_ lost: Postgres.UUID) async throws {
            try await AccountMove.forget(
                user, lost: lost,
                try AdminConnection(try world.source.database.url(as: TestCluster.owner)))
        }
        await refuses("has not left this database") { try await forget(lost) }
        _ = try await world.move().run()
        await refuses("less than a day ago") { try await forget(lost) }
        try await world.waitADay(world.source)
        await refuses("the installation ID \(lost), not") { try await forget(user) }
        try await forget(lost)
        #expect(try await world.states(world.source) == ["CANCELLED"])
        #expect(try await world.source.signIn(subject: world.reader.subject).code == nil)
    }

    /// The other database was restored from a backup after the account had left it, however long ago.
    @Test func olderCopyInTheTargetIsNamed() async throws {
        let world = try await World.make()
        _ = try await world.move().run()
        try await world.restoreSource()
        await refuses("the other database has an older copy of the account") {
            try await world.moveBack()
        }
        await refuses("run the command with --already-arrived") {
            _ = try await world.move(from: world.target, to: world.source).rehearse()
        }
        _ = try await world.move().run(hasArrived: true)
        try await world.moveBack()
        #expect(try await world.code(world.source) == nil)
    }

    @Test func migrationsWaitUntilNoAccountCanReturn() async throws {
        let world = try await World.make()
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        #expect(try AccountMove.returnable(connection) == nil)
        _ = try await world.move().run()
        let returnable = try #require(try AccountMove.returnable(connection))
        #expect(returnable.count == 1 && returnable.user.description == world.user)
        // The move cannot be undone after the account has come back.
        try await world.moveBack()
        #expect(try await world.parcelCount(world.source) > 0)
        #expect(try AccountMove.returnable(connection) == nil)
        let there = try AdminConnection(try world.target.database.url(as: TestCluster.owner))
        #expect(try AccountMove.returnable(there)?.count == 1)
        try await world.waitADay(world.target)
        #expect(try AccountMove.returnable(there) == nil)
    }

    /// `migrate up` refuses a database with an unfinished move, but the other one may have none any more, or none yet.
    @Test(arguments: [AccountMove.Step.arrived, .announced], [true, false])
    func moveEndsBetweenDatabasesOfTwoReleases(
        step: AccountMove.Step, isSourceOfOtherRelease: Bool
    ) async throws {
        let world = try await World.make()
        try await run(world, until: step)
        let app = isSourceOfOtherRelease ? world.source : world.target
        try await app.database.execute(
            "INSERT INTO schema_states (version, functions) VALUES (99999999999999, 'later')")
        if step == .arrived {
            _ = try await world.move().run()
            #expect(try await world.states(world.source) == ["LEFT"])
        } else {
            await refuses("does not have the schema of this program") {
                _ = try await world.move().run()
            }
            try await world.move().undo()
            #expect(try await world.states(world.target) == ["CANCELLED"])
        }
    }

    @Test func incompleteCopyIsRefused() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let move = try await world.move()
        await refuses("but its copy has") {
            _ = try await move.run { step throws(AccountMoveError) in
                guard step == .copiedRows else { return }
                try AccountMove.database { () throws(PostgresError) in
                    try move.target.execute(
                        "DELETE FROM account_parcels WHERE table_name = 'swipes'")
                }
            }
        }
        #expect(try await world.everything(world.source) == shown)
    }

    @Test func signInWaitsForAnArrivingAccount() async throws {
        let world = try await World.make()
        try await world.target.database.execute(
            """
            INSERT INTO tenants (id, slug, name, audiences)
            VALUES ('\(try await world.tenant())', 'alpha', 'Alpha', '{\(TestApp.Tenant.alpha.audience)}')
            """)
        func signIn() async throws -> String? {
            try await world.target.signIn(subject: world.reader.subject).code
        }
        for step in [AccountMove.Step.announced, .closed, .copiedRows] {
            try await run(world, until: step)
            #expect(try await signIn() == "SERVICE_UNAVAILABLE", "\(step)")
        }
        #expect(try await undo(world))
        try await run(world, until: .arrived)
        #expect(try await signIn() == nil)
        #expect(try await world.target.database.count("SELECT count(*) FROM users") == 1)
    }

    /// The account may have arrived from a third database after that.
    @Test func earlierMoveDoesNotRemoveTheAccount() async throws {
        let world = try await World.make()
        func insert(_ number: Int, from other: String, _ app: TestApp) async throws {
            try await app.database.execute(
                """
                INSERT INTO account_moves (move_id, user_id, state, number, other_installation, ended_at)
                VALUES (gen_random_uuid(), '\(world.user)', 'ARRIVED', \(number), '\(other)', now())
                """)
        }
        let installation = "SELECT id FROM installation"
        try await insert(
            2, from: try await world.target.database.text(installation), world.source)
        try await insert(
            1, from: try await world.source.database.text(installation), world.target)
        try await insert(3, from: "\(UUID.version7())", world.target)
        await refuses("has not arrived") { _ = try await world.move().run(hasArrived: true) }
        #expect(try await world.code(world.source) == nil)
    }

    @Test func onlyARestoredAccountIsRemoved() async throws {
        let world = try await World.make()
        await refuses("has not arrived") { _ = try await world.move().run(hasArrived: true) }
        #expect(try await world.code(world.source) == nil)
        _ = try await world.move().run()
        try await world.moveBack()
        await refuses("has not arrived") { _ = try await world.move().run(hasArrived: true) }
        #expect(try await world.code(world.source) == nil)
    }

    @Test func commitsWaitForTheStandby() async throws {
        let world = try await World.make()
        for app in [world.source, world.target] {
            try await app.database.execute(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$"
            )
        }
        let move = try await world.move()
        #expect(try move.target.texts("SHOW synchronous_commit") == ["off"])
        _ = try await move.run()
        for connection in [move.source, move.target] {
            #expect(try connection.texts("SHOW synchronous_commit") == ["on"])
        }
    }

    @Test func parcelsAreDeletedADayAfterTheMove() async throws {
        let world = try await World.make()
        _ = try await world.move().run()
        let count = try await world.parcelCount(world.source)
        try await world.source.database.execute("SELECT prune_account_parcels(1, 1000)")
        #expect(try await world.parcelCount(world.source) == count)
        try await world.source.database.execute(
            "UPDATE account_moves SET ended_at = ended_at - interval '26 hours'")
        let worker = try await TestWorker.start(world.source.database, [PruneChanges()])
        try await waitUntil("the parcel is deleted") {
            try await world.parcelCount(world.source) == 0
        }
        await worker.stop()
        #expect(try await world.code(world.source) == "ACCOUNT_MOVED")
    }

    @Test func migrationsAndMovesExcludeEachOther() async throws {
        let world = try await World.make()
        let move = try await world.move()
        _ = try await move.prepare(isDryRun: false)
        for app in [world.source, world.target] {
            let connection = try AdminConnection(try app.database.url(as: TestCluster.owner))
            var migrator = try Migrator(connection, folder: TestCluster.migrations)
            migrator.migrationLockTimeout = .zero
            #expect(throws: MigrationError.self) { try migrator.up() }
        }
        let other = try await World.make()
        let connection = try AdminConnection(
            try other.target.database.url(as: TestCluster.owner))
        var migrator = try Migrator(connection, folder: TestCluster.migrations)
        var message = ""
        migrator.refusal = { _ throws(PostgresError) in
            message = "locked"
            return message
        }
        // Nothing is pending.
        try migrator.up()
        #expect(message.isEmpty)
        try connection.execute(
            """
            UPDATE schema_states SET functions = 'x';
            UPDATE schema_functions SET checksum = '' WHERE name = 'moves'
            """)
        #expect(throws: MigrationError.refused("locked")) { try migrator.up() }
        try connection.execute("SELECT pg_advisory_lock(\(0x626f_6f6b_706c_6174 as Int64))")
        await refuses("a migration of a database is running") { _ = try await other.move().run() }
        #expect(try await other.states(other.source) == [])
    }

    @Test func onlyOneRunMovesAnAccount() async throws {
        let world = try await World.make()
        let other = try await world.move()
        _ = try await other.prepare(isDryRun: false)
        await #expect(throws: AccountMoveError.self) { _ = try await world.move().run() }
        #expect(try await world.code(world.source) == nil)
    }

    // MARK: - The catalog

    @Test func booksFindTheirEditionsInTheOtherCatalog() async throws {
        // The other catalog has other ids, and lacks most editions.
        let world = try await World.make(targetCatalog: [TestCatalog.line(1, genres: ["Horror"])])
        let isbns = """
            SELECT string_agg(e.isbn13, ',' ORDER BY e.isbn13)
            FROM books b JOIN editions e ON e.id = b.edition_id WHERE b.user_id = '\(world.user)'
            """
        _ = try await world.reader.swipe(
            "LIKE", try await world.reader.feedCards(3).compactMap { $0["id"] })
        let before = try await world.source.database.text(isbns)
        #expect(before.split(separator: ",").count >= 2)
        _ = try await world.move().run()
        #expect(try await world.target.database.text(isbns) == before)
        #expect(
            try await world.target.database.count(
                "SELECT count(*) FROM swipes s JOIN editions e ON e.id = s.edition_id") >= 3)
        // The new editions have works, and can be found.
        #expect(
            try await world.target.database.count(
                """
                SELECT count(*) FROM editions e
                WHERE NOT EXISTS (SELECT FROM search_words w WHERE w.word = ANY(tsvector_to_array(e.search_vector)))
                """) == 0)
    }

    // MARK: - Refusals

    @Test func returnsTheAccountIfTheOtherDatabaseRefusesIt() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        // Another account has the same identity.
        try await world.target.database.execute(
            """
            INSERT INTO tenants (id, slug, name, audiences)
            VALUES ('\(try await world.source.database.text("SELECT tenant_id FROM users"))', 'alpha', 'Alpha', '{x}');
            INSERT INTO users (id, tenant_id, apple_sub)
            SELECT gen_random_uuid(), id,
              '\(try await world.source.database.text("SELECT subject FROM identities"))' FROM tenants
            """)
        let move = try await world.move()
        do throws(AccountMoveError) {
            _ = try await move.run()
            Issue.record("the account has moved")
        } catch {
            #expect(error.message.contains("another account with the same identity"))
        }
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.rowCount(world.target) == 0)
    }

    @Test func refusesATenantWithTheSameSlug() async throws {
        let world = try await World.make()
        try await world.target.database.execute(
            "INSERT INTO tenants (slug, name, audiences) VALUES ('alpha', 'Other', '{x}')")
        await refuses("another tenant with the slug alpha") {
            _ = try await world.move().rehearse()
        }
        await refuses("another tenant with the slug alpha") { _ = try await world.move().run() }
        #expect(try await world.code(world.source) == nil)
        #expect(try await world.states(world.source) == [])
    }

    @Test func refusesDatabasesThatShareAStore() async throws {
        let world = try await World.make()
        let id = try #require(UUID(world.user))
        let move = AccountMove(
            of: id, from: try AdminConnection(try world.source.database.url(as: TestCluster.owner)),
            to: try AdminConnection(try world.target.database.url(as: TestCluster.owner)),
            sourceStore: world.source.covers.store, targetStore: world.source.covers.store,
            drainSeconds: 0)
        await #expect(throws: AccountMoveError.self) { _ = try await move.run() }
        #expect(try await world.code(world.source) == nil)
    }

    // MARK: - Covers

    private static let unfinished: [AccountMove.Step] = [
        .closed, .packed, .copiedRows, .arrived, .finished,
    ]

    @Test(arguments: unfinished)
    func sweepOfTheSourceKeepsCoversUntilADayAfterTheMove(step: AccountMove.Step) async throws {
        let world = try await World.make()
        let files = try await world.coverFiles(world.source)
        #expect(files == ObjectVariant.allCases.count)
        try await run(world, until: step)
        #expect(try await world.sweep(world.source).orphans == 0)
        #expect(try await world.coverFiles(world.source) == files)
        _ = try await world.move().run()
        #expect(try await world.sweep(world.source).orphans == 0)
        #expect(try await world.coverFiles(world.source) == files)
        try await world.waitADay(world.source)
        try await world.sweep(world.source)
        #expect(try await world.coverFiles(world.source) == 0)
        #expect(try await world.coverFiles(world.target) == files)
    }

    @Test(arguments: [AccountMove.Step.copiedCovers, .closed, .packed, .copiedRows])
    func sweepOfTheTargetKeepsCoversBeforeTheirRows(step: AccountMove.Step) async throws {
        let world = try await World.make()
        try await run(world, until: step)
        #expect(try await world.sweep(world.target).orphans == 0)
        #expect(try await world.coverFiles(world.target) == ObjectVariant.allCases.count)
        #expect(try await undo(world))
        #expect(try await world.sweep(world.target).orphans == 1)
        #expect(try await world.coverFiles(world.target) == 0)
    }

    /// Requests are refused meanwhile, so covers that were copied before are not compared.
    @Test func coversAreNotComparedWhileTheAccountIsClosed() async throws {
        let world = try await World.make()
        let store = try #require(world.target.covers.store as? FileStore)
        let path = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(store.root.descriptor)")
        func fileCount() -> Int {
            let files = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
            return files.count { $0.contains(world.user) && $0.hasSuffix(".jpg") }
        }
        var counts: [AccountMove.Step: Int] = [:]
        let move = try await world.move()
        let summary = try await move.run { step throws(AccountMoveError) in
            counts[step] = fileCount()
            guard step == .copiedCovers else { return }
            for bucket in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                try? FileManager.default.removeItem(atPath: "\(path)/\(bucket)/\(world.user)")
            }
            counts[.announced] = fileCount()
        }
        #expect(counts[.copiedCovers] ?? 0 > 0)
        #expect(counts[.announced] == 0)
        #expect(counts[.arrived] == 0)
        #expect(summary.damagedCovers == 0)
        #expect(try await world.coverFiles(world.target) == ObjectVariant.allCases.count)
    }

    @Test(arguments: [AccountMove.Step.copiedRows, .arrived, .finished])
    func coversThatTheTargetHasLostAreCopiedAgain(step: AccountMove.Step) async throws {
        let world = try await World.make()
        try await run(world, until: step)
        _ = try await world.target.covers.store.removeFolder(world.user, of: .bookCovers)
        let summary = try await world.move().run()
        #expect(summary.covers == 1 && summary.damagedCovers == 0)
        #expect(try await world.coverFiles(world.target) == ObjectVariant.allCases.count)
        // Files that neither store has are reported.
        for app in [world.source, world.target] {
            _ = try await app.covers.store.removeFolder(world.user, of: .bookCovers)
        }
        #expect(try await world.move().run().damagedCovers == 1)
    }

    // MARK: - Known moves

    @Test func noMoveDeliversAnAccountTwice() async throws {
        let world = try await World.make()
        try await run(world, until: .arrived)
        // The account is deleted in the target before the source knows that it has arrived.
        let deleted = try await world.reader.at(world.target).execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { books } }",
            ["id": world.reader.id])
        #expect(deleted.errors.isEmpty, "\(deleted.json)")
        #expect(try await undo(world) == false)
        _ = try await world.move().run()
        #expect(try await world.rowCount(world.target) == 0)
        #expect(try await world.rowCount(world.source) == 0)
        #expect(try await world.states(world.source) == ["LEFT"])
        let move = try await world.target.database.text("SELECT move_id FROM account_moves")
        let origin = try await world.source.database.text("SELECT id FROM installation")
        await refuses("does not expect the move") {
            try await world.target.database.execute(
                "SELECT receive_account('\(world.user)', '\(move)', '\(origin)', 0)")
        }
        // The identity can be used again after the next run.
        #expect(
            try await world.source.signIn(subject: world.reader.subject).code == "ACCOUNT_MOVED")
        #expect(try await world.move().run().isDeleted)
        #expect(try await world.parcelCount(world.source) == 0)
        #expect(try await world.source.signIn(subject: world.reader.subject).code == nil)
    }

    @Test func runThatWasBelievedDeadCannotDeliverAfterAnUndo() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        try await run(world, until: .copiedRows)
        let move = try await world.target.database.text("SELECT move_id FROM account_moves")
        let origin = try await world.source.database.text("SELECT id FROM installation")
        #expect(try await undo(world))
        for (function, rest) in [("receive_account", ", 0"), ("begin_parcel_copy", "")] {
            await refuses("does not expect the move") {
                try await world.target.database.execute(
                    "SELECT \(function)('\(world.user)', '\(move)', '\(origin)'\(rest))")
            }
        }
        await refuses("is not closed") {
            try await world.source.database.execute(
                "SELECT pack_account('\(world.user)', '\(move)')")
        }
        await refuses("is not leaving") {
            try await world.source.database.execute(
                "SELECT finish_leaving('\(world.user)', '\(move)', NULL)")
        }
        #expect(try await world.everything(world.source) == shown)
    }

    @Test func undoIsCompletedBeforeAnotherMove() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        try await run(world, until: .packed)
        let move = try await world.target.database.text("SELECT move_id FROM account_moves")
        let origin = try await world.source.database.text("SELECT id FROM installation")
        // The undo was killed after its first transaction.
        try await world.target.database.execute(
            "SELECT cancel_arrival('\(world.user)', '\(move)', '\(origin)')")
        await refuses("run the command with --undo") { _ = try await world.move().run() }
        #expect(try await undo(world))
        #expect(try await world.everything(world.source) == shown)
    }

    /// For example, one database was restored from a copy that contains the account on its way to a third database.
    @Test(arguments: ["CLOSING", "LEAVING", "ARRIVING"])
    func refusesUnfinishedMovesOfTheOtherSide(state: String) async throws {
        let world = try await World.make()
        let statement = """
            INSERT INTO account_moves (move_id, user_id, tenant_id, state, number, other_installation)
            VALUES (gen_random_uuid(), '\(world.user)', gen_random_uuid(), '\(state)', 1, gen_random_uuid());
            INSERT INTO account_parcels SELECT move_id, 'users', 1, '{"id": "kept"}' FROM account_moves
            """
        try await world.target.database.execute(statement)
        await refuses("finish or undo that move first") { _ = try await world.move().run() }
        await refuses("finish or undo that move first") { try await world.move().undo() }
        await refuses("finish or undo that move first") { _ = try await world.move().rehearse() }
        #expect(try await world.code(world.source) == nil)
        #expect(
            try await world.target.database.count("SELECT count(*) FROM account_parcels") == 1)
        // The same is true for the source.
        try await world.target.database.execute(
            "DELETE FROM account_moves; DELETE FROM account_parcels")
        try await world.source.database.execute(statement)
        await refuses(state == "ARRIVING" ? "is arriving in this database" : "another database") {
            _ = try await world.move().run()
        }
    }

    @Test func interruptedAnnouncementIsUsedAgain() async throws {
        let world = try await World.make()
        for _ in 1...2 { try await run(world, until: .announced) }
        #expect(try await world.code(world.source) == nil)
        _ = try await world.move().run()
        #expect(try await world.states(world.target) == ["ARRIVED"])
    }

    @Test func refusesAnAccountThatWasDeletedInTheOtherDatabase() async throws {
        let world = try await World.make()
        try await world.target.database.execute(
            """
            INSERT INTO account_tombstones (user_hash, books, reviews, covers)
            VALUES (sha256(uuid_send('\(world.user)'::uuid)), 0, 0, 0)
            """)
        await refuses("was deleted in the other database") { _ = try await world.move().run() }
        #expect(try await world.code(world.source) == nil)
    }

    /// For example, the target was restored from a backup, and its copy of the account was deleted after that.
    @Test func deletedAccountDoesNotReturn() async throws {
        let world = try await World.make()
        _ = try await world.move().run()
        try await world.loseArrival()
        try await world.target.database.execute(
            """
            INSERT INTO account_tombstones (user_hash, books, reviews, covers)
            VALUES (sha256(uuid_send('\(world.user)'::uuid)), 0, 0, 0)
            """)
        await refuses("so it cannot return") { try await world.move().undo() }
        #expect(try await world.rowCount(world.source) == 0)
        #expect(try await world.states(world.source) == ["LEFT"])
    }

    @Test func refusesAnotherSchema() async throws {
        let world = try await World.make()
        try await run(world, until: .packed)
        try await world.target.database.execute(
            "INSERT INTO schema_states (version, functions) VALUES (99999999999999, 'later')")
        let text = "the other database does not have the schema of this program"
        await refuses(text) { _ = try await world.move().run() }
        // It cannot be migrated now.
        await refuses("with the release of bookplate-admin that has migrated it") {
            _ = try await world.move().run()
        }
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        #expect(try AccountMove.unfinished(connection).map(\.description) == [world.user])
    }

    /// A column that was added meanwhile gets its default, so that the account is not stuck.
    @Test func moveIsUndoneAfterAMigration() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        try await run(world, until: .packed)
        try await world.source.database.execute(
            """
            ALTER TABLE shelves ADD COLUMN color text NOT NULL DEFAULT 'red';
            ALTER TABLE import_failures RENAME COLUMN field TO other
            """)
        await refuses("import_failures lacks the column field") { try await world.move().undo() }
        try await world.source.database.execute(
            "ALTER TABLE import_failures RENAME COLUMN other TO field")
        #expect(try await undo(world))
        #expect(try await world.everything(world.source) == shown)
        #expect(
            try await world.source.database.text("SELECT DISTINCT color FROM shelves") == "red")
    }

    // MARK: - Guests and sign-ins

    private struct GuestWorld {
        let world: World
        let guest: TestReader

        static func make() async throws -> GuestWorld {
            let world = try await World.make()
            let guest = try await world.source.makeGuest()
            _ = try await guest.makeBook("Of the guest")
            return GuestWorld(world: world, guest: guest)
        }

        func move() async throws -> AccountMove {
            let move = try await world.move()
            guard let id = UUID(guest.id.string ?? "") else {
                throw TestFailure(description: "no guest")
            }
            return AccountMove(
                of: id, from: move.source, to: move.target, sourceStore: move.sourceStore,
                targetStore: move.targetStore, drainSeconds: 0)
        }

        func run(until last: AccountMove.Step) async throws {
            let move = try await move()
            do throws(AccountMoveError) {
                _ = try await move.run { step throws(AccountMoveError) in
                    if step == last { throw .interrupted }
                }
            } catch .interrupted {}
        }
    }

    @Test func closedGuestIsNotInactive() async throws {
        let guests = try await GuestWorld.make()
        let (app, id) = (guests.world.source, guests.guest.id.string ?? "")
        try await app.database.execute(
            "UPDATE users SET created_at = now() - interval '1 year' WHERE id = '\(id)'")
        try await guests.run(until: .closed)
        #expect(
            try await app.database.withConnection {
                try $0.texts("SELECT unnest(guests)::text FROM inactive_guests(90, NULL, 10)")
            } == [])
        #expect(
            try await app.database.text(
                """
                WITH begun AS MATERIALIZED (SELECT begin_guest_deletion('\(id)', 90)::text AS done)
                SELECT coalesce(nullif(done, ''), current_setting('app.user_id')) FROM begun
                """) == "")
        _ = try await guests.move().run()
        #expect(
            try await guests.guest.at(guests.world.target).execute(
                "{ me { isGuest books { totalCount } } }")["me", "books", "totalCount"] == 1)
    }

    @Test func signInDoesNotLeaveAMovedGuestBehind() async throws {
        let guests = try await GuestWorld.make()
        let app = guests.world.source
        func signIn(_ subject: String) async throws -> String? {
            try await app.signIn(
                token: app.identityToken(subject: subject), as: guests.guest
            ).code
        }
        for step in [AccountMove.Step.closed, .packed, .arrived] {
            try await guests.run(until: step)
            #expect(try await signIn("new") == "SERVICE_UNAVAILABLE", "\(step)")
            #expect(try await signIn(guests.world.reader.subject) == "SERVICE_UNAVAILABLE")
        }
        _ = try await guests.move().run()
        #expect(try await signIn("new") == "ACCOUNT_MOVED")
        #expect(try await app.database.count("SELECT count(*) FROM users") == 1)
        #expect(try await guests.world.code(app) == nil)
    }

    /// The guest would be merged into the account after its sessions were packed.
    @Test func guestIsNotMergedIntoALeavingAccount() async throws {
        let guests = try await GuestWorld.make()
        let world = guests.world
        try await run(world, until: .closed)
        let response = try await world.source.signIn(
            token: world.source.identityToken(subject: world.reader.subject), as: guests.guest)
        #expect(response.code == "SERVICE_UNAVAILABLE", "\(response.json)")
        #expect(
            try await guests.guest.execute("{ me { books { totalCount } } }")[
                "me", "books", "totalCount"] == 1)
    }

    @Test func limitOfGuestsDoesNotConcernAMove() async throws {
        let guests = try await GuestWorld.make()
        _ = try await guests.guest.makeBook("Another one")
        try await guests.world.target.database.execute(
            """
            INSERT INTO tenants (id, slug, name, audiences, guest_books_max)
            VALUES ('\(try await guests.world.tenant())', 'alpha', 'Alpha', '{x}', 1)
            """)
        #expect(try await guests.move().run().rows > 0)
    }

    @Test func accountCanBeDeletedInTheDatabaseAfterItWasClosed() async throws {
        let world = try await World.make()
        try await run(world, until: .closed)
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        let id = try #require(UUID(world.user))
        // Commands refuse it.
        await refuses("the account is being moved to another database") {
            _ = try AccountRecord.delete(id, connection)
        }
        try await world.source.database.execute("DELETE FROM users WHERE id = '\(world.user)'")
        #expect(
            try await world.source.database.count("SELECT count(*) FROM account_parcels") == 0)
        #expect(try await world.states(world.source) == ["CANCELLED"])
        await refuses("there is no account") { _ = try await world.move().run() }
        #expect(try await undo(world))
        #expect(try await world.states(world.target) == ["CANCELLED"])
    }

    @Test func noOtherCommandCreatesAMovedAccount() async throws {
        let world = try await World.make()
        for step in [AccountMove.Step.packed, .finished] {
            try await run(world, until: step)
            for statement in [
                "INSERT INTO users (id, tenant_id) VALUES ('\(world.user)', '\(try await world.tenant())')",
                """
                SELECT import_readers('\(try await world.tenant())', '[{"subject": "\(world.reader.subject)",
                    "preferredGenres": [], "shelves": [], "books": []}]')
                """,
            ] {
                await refuses("moved to another") {
                    try await world.source.database.execute(statement)
                }
            }
        }
    }

    // MARK: - Credentials

    @Test func revocationsWaitForTheMove() async throws {
        let world = try await World.make()
        let id = try #require(UUID(world.user))
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        let token = try #require(
            UUID(try await world.source.database.text("SELECT id FROM access_tokens LIMIT 1")))
        let (grant, client) = (
            world.fixture.app.string ?? "",
            try await world.source.database.text("SELECT client_id FROM oauth_grants LIMIT 1")
        )
        for step in [AccountMove.Step.closed, .packed, .copiedRows] {
            try await run(world, until: step)
            let text = "the account is being moved to another database"
            await refuses(text) { _ = try SessionRecord.revoke(nil, of: id, connection) }
            await refuses(text) { _ = try AccessTokenRecord.revoke([token], of: nil, connection) }
            await refuses(text) {
                try connection.execute(
                    "SELECT end_oauth_grant('\(client)', '\(id)', '\(grant)')")
            }
            await refuses(text) {
                try connection.execute(
                    """
                    SELECT revoke_oauth_token('\(client)', (row ->> 'token_hash')::bytea)
                    FROM account_parcels WHERE table_name = 'access_tokens' LIMIT 1
                    """)
            }
            await refuses("has access to an account that is being moved") {
                try connection.execute("DELETE FROM oauth_clients WHERE id = '\(client)'")
            }
            await refuses("an account of the tenant is being moved") {
                try connection.execute("DELETE FROM tenants WHERE slug = 'alpha'")
            }
        }
        _ = try await world.move().run()
        let there = try AdminConnection(try world.target.database.url(as: TestCluster.owner))
        #expect(try SessionRecord.revoke(nil, of: id, there).count == 1)
        #expect(try await world.code(world.target) == "UNAUTHENTICATED")
    }

    @Test func closedAccountGetsNoCredentials() async throws {
        let world = try await World.make()
        let client = try await world.source.database.text("SELECT id FROM oauth_clients LIMIT 1")
        try await run(world, until: .closed)
        for statement in [
            """
            INSERT INTO sessions (user_id, id, refresh_hash, expires_at)
            VALUES ('\(world.user)', gen_random_uuid(), '', now() + interval '1 day')
            """,
            """
            INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters)
            VALUES ('\(world.user)', gen_random_uuid(), 'Late', '{FEED}', sha256('late'), '', 'abcd')
            """,
            """
            INSERT INTO oauth_grants (user_id, id, client_id, scopes, refresh_hash, expires_at)
            VALUES ('\(world.user)', gen_random_uuid(), '\(client)', '{FEED}', 'x', now() + interval '1 day')
            """,
            """
            SELECT exchange_oauth_code(
                '\(client)', sha256('d'), true, NULL, NULL, gen_random_uuid(), 'x', gen_random_uuid(), sha256('t'),
                'abcd', 60, 1
            )
            """,
        ] {
            await refuses("the account is being moved to another database") {
                try await world.source.database.execute(statement)
            }
        }
    }

    @Test(arguments: ["consent-revoked", "account-deleted", "email-disabled"])
    func appleSendsNotificationsAgainUntilTheAccountHasLeft(type: String) async throws {
        let world = try await World.make()
        let app = world.source
        let payload = TestApp.issuer.notification(
            type: type, subject: world.reader.subject, audience: TestApp.Tenant.alpha.audience,
            id: "\(UInt64.random(in: 0...UInt64.max))", now: unixSecondsNow())
        func receive() async -> AppleNotifications.Outcome {
            await AppleNotifications.receive(
                Array(#"{"payload":"\#(payload ?? "")"}"#.utf8), database: app.pool,
                services: app.services, requestID: "r")
        }
        for step in [AccountMove.Step.closed, .packed, .arrived] {
            try await run(world, until: step)
            #expect(await receive() == .unavailable, "\(step)")
        }
        _ = try await world.move().run()
        #expect(await receive() == .accepted)
        #expect(try await world.code(world.target) == nil)
    }

    @Test func serverCannotClaimToMoveAccounts() async throws {
        let world = try await World.make()
        let server = try AdminConnection(try world.source.database.url(as: TestCluster.app))
        try server.execute("SET app.moving = 'on'")
        #expect(try server.texts("SELECT is_moving_account()::text") == ["false"])
        for table in ["account_moves", "account_parcels"] {
            #expect(throws: PostgresError.self) { try server.query("SELECT FROM \(table)") }
        }
        let owner = try AdminConnection(try world.source.database.url(as: TestCluster.owner))
        try owner.execute("SET app.moving = 'on'")
        #expect(try owner.texts("SELECT is_moving_account()::text") == ["true"])
    }

    // MARK: - Shared rows

    @Test func clientsOfMovedGrantsAreKept() async throws {
        let world = try await World.make()
        try await world.source.database.execute(
            "UPDATE oauth_clients SET is_self_registered = true, created_at = now() - interval '1 year'"
        )
        for step in [AccountMove.Step.closed, .packed] {
            try await run(world, until: step)
            try await world.source.database.execute("SELECT prune_oauth(1, 100)")
            #expect(
                try await world.source.database.count("SELECT count(*) FROM oauth_clients") == 1)
        }
        #expect(try await undo(world))
        #expect(try await world.source.database.count("SELECT count(*) FROM oauth_grants") == 1)
        // The account could return for a day.
        _ = try await world.move().run()
        try await world.source.database.execute("SELECT prune_oauth(1, 100)")
        #expect(try await world.source.database.count("SELECT count(*) FROM oauth_clients") == 1)
        try await world.waitADay(world.source)
        try await world.source.database.execute("SELECT prune_oauth(1, 100)")
        #expect(try await world.source.database.count("SELECT count(*) FROM oauth_clients") == 0)
    }

    @Test(arguments: [true, false])
    func grantsWithoutTheirClientAreDropped(isUndone: Bool) async throws {
        let world = try await World.make()
        try await world.source.database.execute(
            """
            INSERT INTO access_tokens (user_id, id, name, scopes, token_hash, seed, last_characters, grant_id)
            SELECT user_id, gen_random_uuid(), 'App', '{FEED}', sha256('app'), '', 'abcd', id FROM oauth_grants
            """)
        try await run(world, until: .packed)
        try await world.source.database.execute(
            """
            ALTER TABLE oauth_clients DISABLE TRIGGER keep_client_in_parcel;
            DELETE FROM oauth_clients;
            DELETE FROM account_parcels WHERE table_name = 'oauth_clients' AND NOT \(isUndone)
            """)
        let app = isUndone ? world.source : world.target
        if isUndone {
            #expect(try await undo(world))
        } else {
            _ = try await world.move().run()
        }
        #expect(try await world.code(app) == nil)
        #expect(
            try await app.database.count(
                """
                SELECT (SELECT count(*) FROM oauth_grants) + (SELECT count(*) FROM oauth_clients)
                    + (SELECT count(*) FROM access_tokens WHERE grant_id IS NOT NULL)
                """) == 0)
        #expect(try await app.database.count("SELECT count(*) FROM access_tokens") >= 1)
    }

    @Test func undoDoesNotRestoreSharedRows() async throws {
        let world = try await World.make()
        _ = try await world.reader.swipe(
            "LIKE", try await world.reader.feedCards(2).compactMap { $0["id"] })
        let books = try await world.source.database.count("SELECT count(*) FROM books")
        try await run(world, until: .packed)
        try await world.source.database.execute(
            "DELETE FROM editions; UPDATE tenants SET name = 'Renamed' WHERE slug = 'alpha'")
        #expect(try await undo(world))
        #expect(try await world.source.database.count("SELECT count(*) FROM editions") == 0)
        #expect(try await world.source.database.count("SELECT count(*) FROM books") == books)
        #expect(
            try await world.source.database.count(
                "SELECT count(*) FROM books WHERE edition_id IS NOT NULL") == 0)
        #expect(
            try await world.source.database.text("SELECT name FROM tenants WHERE slug = 'alpha'")
                == "Renamed")
    }

    @Test func swipesOfEditionsThatAreOneThereAreOne() async throws {
        let world = try await World.make()
        _ = try await world.reader.swipe(
            "DISLIKE", try await world.reader.feedCards(2).compactMap { $0["id"] })
        let ids = try await world.source.database.withConnection {
            try $0.texts("SELECT edition_id::text FROM swipes ORDER BY edition_id")
        }
        #expect(ids.count >= 3)
        try await world.target.database.execute(
            """
            INSERT INTO editions (id, title) VALUES ('\(ids[0])', 'Kept');
            INSERT INTO removed_editions VALUES ('\(ids[1])', '\(ids[0])')
            """)
        _ = try await world.move().run()
        #expect(
            try await world.target.database.count("SELECT count(*) FROM swipes")
                == ids.count - 1)
    }

    @Test func deletedBooksFindTheirEditions() async throws {
        let world = try await World.make(targetCatalog: [TestCatalog.line(1, genres: ["Horror"])])
        try await world.source.database.execute(
            """
            UPDATE deleted_books
            SET book = book || jsonb_build_object('edition_id', e.id, 'linked_by', 'CARD')
            FROM editions e
            WHERE e.isbn13 = (SELECT min(isbn13) FROM editions)
            """)
        let isbn = try await world.source.database.text("SELECT min(isbn13) FROM editions")
        _ = try await world.move().run()
        #expect(
            try await world.target.database.text(
                "SELECT DISTINCT e.isbn13 FROM deleted_books d JOIN editions e ON e.id = (d.book ->> 'edition_id')::uuid"
            ) == isbn)
    }

    /// The other catalog may have editions that this one lacks.
    @Test(arguments: [true, false])
    func booksWithoutAnEditionAreLinkedAgain(isUndone: Bool) async throws {
        let world = try await World.make()
        _ = try await world.reader.makeBook("Unknown here")
        try await run(world, until: .packed)
        let app = isUndone ? world.source : world.target
        if isUndone {
            #expect(try await undo(world))
        } else {
            _ = try await world.move().run()
        }
        let waiting = try await app.database.count("SELECT count(*) FROM books_to_link")
        #expect(
            try await app.database.count("SELECT count(*) FROM books WHERE edition_id IS NULL")
                == waiting)
        #expect(waiting > 0)
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'library.link'")
                == 1)
    }

    @Test func tenantIsKeptUntilItsMovesHaveEnded() async throws {
        let world = try await World.make()
        let connection = try AdminConnection(
            try world.source.database.url(as: TestCluster.owner))
        let record = try #require(try TenantRecord.all(connection).first { $0.slug == "alpha" })
        for step in [AccountMove.Step.closed, .packed] {
            try await run(world, until: step)
            await refuses("an account of the tenant is being moved") {
                try record.removeWithAccounts(connection, beforeAccount: {}, onAccount: {})
            }
        }
        let tenant = try await world.tenant()
        try await world.target.database.execute(
            "INSERT INTO tenants (id, slug, name, audiences) VALUES ('\(tenant)', 'alpha', 'Alpha', '{x}')"
        )
        await refuses("an account of the tenant is being moved") {
            try await world.target.database.execute("DELETE FROM tenants")
        }
        _ = try await world.move().run()
        #expect(try await world.parcelCount(world.source) > 0)
        try await world.source.database.execute("DELETE FROM tenants WHERE id = '\(tenant)'")
        #expect(try await world.parcelCount(world.source) == 0)
        #expect(
            try await world.source.database.text("SELECT known_hashes::text FROM account_moves")
                == "{}")
    }

    @Test func providersOfATenantAreNotAdded() async throws {
        let world = try await World.make()
        let tenant = try await world.tenant()
        try await world.source.database.execute(
            """
            INSERT INTO identity_providers (tenant_id, issuer, jwks_url, name)
            VALUES ('\(tenant)', 'https://id.example', 'https://id.example/keys', 'Removed there')
            """)
        try await world.target.database.execute(
            "INSERT INTO tenants (id, slug, name, audiences) VALUES ('\(tenant)', 'alpha', 'Alpha', '{x}')"
        )
        _ = try await world.move().run()
        #expect(
            try await world.target.database.count("SELECT count(*) FROM identity_providers") == 0)
        #expect(
            try await world.target.database.text("SELECT audiences::text FROM tenants") == "{x}")
    }

    /// Nested loops over the JSON of all rows would take minutes.
    @Test func editionsAreFoundInLinearTime() async throws {
        let app = try await TestApp.start(catalog: [])
        let move = UUID.version7()
        try await app.database.execute(
            """
            ALTER TABLE editions DISABLE TRIGGER USER;
            INSERT INTO editions (id, title)
            SELECT md5(n::text)::uuid, 'Title ' || n FROM generate_series(1, 10000) AS n;
            INSERT INTO account_parcels
            SELECT '\(move)', t.name, n, t.row || jsonb_build_object('edition_id', md5(n::text)::uuid, 'id', md5(n::text)::uuid)
            FROM generate_series(1, 10000) AS n
            CROSS JOIN (
                VALUES ('editions', '{}'::jsonb), ('edition_sources', '{"source": "a", "key": "b"}'), ('books', '{}'),
                    ('swipes', '{}'), ('edition_work_keys', '{}')
            ) AS t (name, row);
            ANALYZE account_parcels
            """)
        let time = try await ContinuousClock().measure {
            try await app.database.execute(
                "SET statement_timeout = '60s'; SELECT unpack_editions('\(move)', true)")
        }
        #expect(time < .seconds(30), "\(time)")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM account_parcels WHERE table_name = 'edition_sources'") == 0)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM account_parcels WHERE table_name = 'books'") == 10000)
    }
}
