import GraphQL
import ObjectStorage
import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// An account moves to another database with all its rows, and is never in both.
@Suite struct AccountMoveTests {
    /// A user of the source with at least one row in each table, and two installations with the same keys.
    private struct World {
        let source: TestApp
        let target: TestApp
        let fixture: IsolationFixture

        var reader: TestReader { fixture.reader }
        var user: String { fixture.reader.id.string ?? "" }

        static func make(targetCatalog: [String] = []) async throws -> World {
            let keyring = SessionKeyring(.generate())
            let source = try await TestApp.start(catalog: TestCatalog.lines(6), keyring: keyring)
            let target = try await TestApp.start(catalog: targetCatalog, keyring: keyring)
            // The databases of tests are copies of one. The move creates the tenant of the account.
            try await target.database.execute(
                "UPDATE installation SET id = gen_random_uuid(); DELETE FROM tenants")
            let reader = try await source.makeReader()
            let world = World(
                source: source, target: target, fixture: try await IsolationFixture.fill(reader))
            try await world.fillOtherTables()
            return world
        }

        /// Adds rows to the tables that no request of the fixture fills.
        private func fillOtherTables() async throws {
            try await source.database.execute(
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
                INSERT INTO books_to_link SELECT user_id, id FROM books WHERE user_id = '\(user)';
                INSERT INTO removed_covers (user_id, book_id, version)
                SELECT user_id, id, repeat('a', 32) FROM books WHERE user_id = '\(user)' LIMIT 1
                """)
        }

        /// Opens new connections, as a new run of the command does.
        func move() async throws -> AccountMove {
            guard let id = UUID(user) else { throw TestFailure(description: user) }
            return AccountMove(
                of: id,
                from: try AdminConnection(try source.database.url(as: TestCluster.owner)),
                to: try AdminConnection(try target.database.url(as: TestCluster.owner)),
                sourceStore: source.covers.store, targetStore: target.covers.store,
                drainSeconds: 0)
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
                        "SELECT to_jsonb(t)::text FROM \(name) t WHERE \(key) = '\(user)' ORDER BY 1"
                    )
                }
                return rows
            }
        }

        /// Returns the number of rows of the account in all tables, except those of moves.
        func rowCount(_ app: TestApp) async throws -> Int {
            try await rows(app).values.reduce(0) { $0 + $1.count }
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
    private func run(_ world: World, until last: AccountMove.Step) async throws {
        let move = try await world.move()
        do throws(AccountMoveError) {
            _ = try await move.run { step throws(AccountMoveError) in
                if step == last { throw .interrupted }
            }
        } catch .interrupted {}
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
                    AND c.relname NOT IN ('account_moves', 'account_parcels')
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
        let cursor = try await world.reader.requireValue(
            "{ changes(first: 1) { cursor } }", .null, "changes", "cursor")
        let version = try await world.source.database.text(
            "SELECT version FROM covers WHERE user_id = '\(world.user)'")

        let summary = try await world.move().run()
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
        #expect(try await world.code(world.source) == "UNAUTHENTICATED")
        // A device continues with its cursor, and sees a change that it makes there.
        let reader = world.reader.at(world.target)
        let changes = try await reader.requireValue(
            "query($after: String) { changes(after: $after, first: 500) { changes { kind } cursor hasMore } }",
            ["after": cursor], "changes")
        #expect(
            changes["changes"]?.list?.count == (before["changes"]?.count ?? 0) - 1)
        let shelf = try await reader.makeShelf("Made there")
        let next = try await reader.requireValue(
            "query($after: String) { changes(after: $after) { changes { kind nodeId } } }",
            ["after": changes["cursor"] ?? .null], "changes", "changes")
        #expect(next == [["kind": "CREATED", "nodeId": shelf]])
        // The files of the cover are in the other store only.
        for variant in ObjectVariant.allCases {
            let key = try #require(
                ObjectKey(
                    .bookCovers, folder: world.user, name: world.fixture.book.string ?? ""))
            let path = try #require(ObjectPath(key, version: version, variant))
            #expect(try await world.target.covers.store.read(path) != nil)
            #expect(try await world.source.covers.store.read(path) == nil)
        }
        // New rows with numbers of a sequence follow the old ones.
        #expect(
            try await world.target.database.count(
                """
                INSERT INTO events (user_id, kind, payload) VALUES ('\(world.user)', 'x', '{}')
                RETURNING (id > (SELECT max(id) FROM events WHERE user_id = '\(world.user)'))::int::int8
                """) == 1)
        let audited = try await world.source.database.withConnection {
            try $0.texts("SELECT kind FROM audit_events ORDER BY id DESC LIMIT 1")
        }
        #expect(audited == ["ACCOUNT_LEFT"])
        #expect(
            try await world.target.database.withConnection {
                try $0.texts("SELECT kind FROM audit_events")
            } == ["ACCOUNT_ARRIVED"])
    }

    @Test func accountCanMoveBackAndBeDeletedThere() async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        _ = try await world.move().run()
        let id = try #require(UUID(world.user))
        let back = AccountMove(
            of: id, from: try AdminConnection(try world.target.database.url(as: TestCluster.owner)),
            to: try AdminConnection(try world.source.database.url(as: TestCluster.owner)),
            sourceStore: world.target.covers.store, targetStore: world.source.covers.store,
            drainSeconds: 0)
        _ = try await back.run()
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.rowCount(world.target) == 0)
        let deleted = try await world.reader.execute(
            "mutation($id: String!) { deleteAccount(confirm: $id) { books } }",
            ["id": world.reader.id])
        #expect(deleted.json["errors"] == nil, "\(deleted.json)")
        #expect(try await world.source.database.count("SELECT count(*) FROM account_moves") == 0)
    }

    @Test func rehearsalChangesNothing() async throws {
        let world = try await World.make()
        let before = try await world.rows(world.source)
        let summary = try await world.move().rehearse()
        #expect(summary.rows == before.values.reduce(0) { $0 + $1.count } && summary.covers == 1)
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
        for app in [world.source, world.target] {
            #expect(try await app.database.count("SELECT count(*) FROM account_parcels") == 0)
        }
        // Running it once more changes nothing.
        _ = try await world.move().run()
        #expect(try await world.everything(world.target) == shown)
    }

    @Test(arguments: AccountMove.Step.allCases)
    func moveCanBeUndoneUntilTheAccountHasArrived(step: AccountMove.Step) async throws {
        let world = try await World.make()
        let shown = try await world.everything(world.source)
        let before = try await world.rowCount(world.source)
        try await run(world, until: step)
        let canUndo = [.closed, .drained, .packed, .copiedRows].contains(step)
        #expect(try await undo(world) == canUndo)
        guard canUndo || step == .copiedCovers else { return }
        #expect(try await world.everything(world.source) == shown)
        #expect(try await world.rowCount(world.source) == before)
        #expect(try await world.rowCount(world.target) == 0)
        for app in [world.source, world.target] {
            #expect(
                try await app.database.count(
                    "SELECT (SELECT count(*) FROM account_moves) + (SELECT count(*) FROM account_parcels)"
                ) == 0)
        }
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
        _ = try await world.move().run()
        // A sign-in must not create a second account.
        let signedIn = try await world.source.signIn(subject: world.reader.subject)
        #expect(signedIn.json["errors", 0, "extensions", "code"] == "CONFLICT")
        #expect(try await world.source.database.count("SELECT count(*) FROM users") == 0)
    }

    @Test func onlyOneRunMovesAnAccount() async throws {
        let world = try await World.make()
        let other = try await world.move()
        _ = try await other.prepare(changesStores: false)
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
        let cursor = try await world.source.database.count(
            "SELECT max(seq) FROM changes WHERE user_id = '\(world.user)'")
        _ = try await world.move().run()
        #expect(try await world.target.database.text(isbns) == before)
        #expect(
            try await world.target.database.count(
                "SELECT count(*) FROM swipes s JOIN editions e ON e.id = s.edition_id") >= 3)
        // Devices fetch the books again whose edition has another id.
        let changed = try await world.target.database.count(
            "SELECT count(*) FROM changes WHERE seq > \(cursor) AND kind = 'UPDATED' AND typename = 'Book'"
        )
        let mapped = try await world.target.database.count(
            """
            SELECT count(*) FROM books b JOIN editions e ON e.id = b.edition_id
            WHERE b.user_id = '\(world.user)' AND e.isbn13 = '\(TestCatalog.isbn(1))'
            """)
        #expect(changed == mapped)
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
        await #expect(throws: AccountMoveError.self) { _ = try await world.move().rehearse() }
        await #expect(throws: AccountMoveError.self) { _ = try await world.move().run() }
        #expect(try await world.code(world.source) == nil)
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
}
