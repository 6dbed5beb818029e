import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// A background job that has nothing to do costs the same for any number of idle users, and for any size of the catalog.
@Suite struct JobCostTests {
    private static let statements = [
        "SELECT purge_dead_jobs(30)",
        "SELECT * FROM inactive_guests(90, 1000)",
        "SELECT prune_changes(90, 50)",
        "SELECT prune_events(7, 5000)",
        "SELECT prune_undone_swipes(30, 5000)",
        "SELECT purge_deleted_books(500)",
        PruneChanges.forgetSessions.text,
        "SELECT prune_imports(7)",
        "SELECT prune_oauth(30, 1000)",
        "SELECT prune_webhook_deliveries(1000)",
        "SELECT chain_audit_events(2000)",
        "SELECT end_overdue_cover_waits(50, 100)",
        "SELECT * FROM expired_removed_covers(500)",
        "SELECT find_readers_to_collect(false)",
        "SELECT collect_signals(200)",
        "SELECT refresh_feed()",
        "SELECT * FROM works_to_learn(true)",
        "SELECT finish_learning('{}', '{}', false)",
        // A work is learned that one reader likes.
        learnOne, "SELECT finish_learning('{1}', '{0}', false)",
    ]
    private static let learnOne = "SELECT replace_similar(NULL, '{1}', '{2,3}', '{1,1}', '{1,0.5}')"

    /// Returns the number of database pages that each statement reads, when it runs for the second time in a session.
    private static func costs(_ app: TestApp, _ statements: [String] = statements) async throws
        -> [Int]
    {
        try await app.database.withConnection { connection in
            try statements.map { statement in
                _ = try connection.query(statement)
                let plan = try connection.query(
                    "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) " + statement)
                let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
                let buffers = lines.first { $0.contains("Buffers: shared") } ?? ""
                return buffers.matches(of: /(hit|read)=([0-9]+)/).compactMap { Int($0.2) }
                    .reduce(0, +)
            }
        }
    }

    @Test func idleUsersCostNothing() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(20))
        _ = try await app.makeReader().makeBook("Dune")
        try await app.collectSignals()
        let few = try await Self.costs(app)
        try await app.database.execute(
            """
            CREATE TEMPORARY TABLE idle AS SELECT gen_random_uuid() AS id, n FROM generate_series(1, 4000) n;
            INSERT INTO users (id, tenant_id, is_guest, created_at)
            SELECT i.id, t.id, n % 2 = 1, now() - interval '200 days'
            FROM idle i CROSS JOIN (SELECT id FROM tenants LIMIT 1) t;
            INSERT INTO sessions (user_id, id, refresh_hash, expires_at)
            SELECT id, gen_random_uuid(), '\\x00', now() + interval '90 days' FROM idle;
            INSERT INTO changes (user_id, seq, kind, typename, id, at)
            SELECT id, s, 'CREATED', 'Book', gen_random_uuid(), now() - interval '60 days'
            FROM idle CROSS JOIN generate_series(1, 3) s;
            INSERT INTO logs_to_prune (user_id, oldest_at)
            SELECT id, now() - interval '60 days' FROM idle;
            SELECT chain_audit_events(100000);
            """)
        try await app.database.execute("VACUUM ANALYZE")
        // The servers were stopped for a day.
        try await app.database.execute(
            "UPDATE feed_state SET collected_at = now() - interval '1 day'")
        let many = try await Self.costs(app)
        for (statement, (few, many)) in zip(Self.statements, zip(few, many)) {
            // A block range of the BRIN index on the times of changes has 128 pages.
            #expect(many <= few + 200, "\(statement): \(many) pages, and \(few) with one user")
        }
    }

    @Test func aLargeCatalogCostsNothing() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(20))
        let reader = try await app.makeReader()
        _ = try await reader.swipe("LIKE", reader.feedCards(3).map { $0["id"] ?? .null })
        /// Links 50 editions with each edition, collects all signals, and refreshes the feed.
        func prepare() async throws {
            try await app.database.execute(
                """
                INSERT INTO edition_similar (edition_id, similar_ids, scores)
                SELECT f.id, array_agg(t.id), array_agg(1::float4)
                FROM editions f
                CROSS JOIN generate_series(1, 50) k
                JOIN editions t ON t.number = 1 + (f.number + k * k) % (SELECT max(number) FROM editions)
                GROUP BY f.id
                ON CONFLICT (edition_id) DO UPDATE SET similar_ids = excluded.similar_ids;
                SELECT finish_learning('{}', '{}', true)
                """)
            try await app.collectSignals()
            try await app.refreshFeed()
            try await app.database.execute("VACUUM ANALYZE")
        }
        try await prepare()
        let few = try await Self.costs(app)
        try await app.database.importCatalog(TestCatalog.lines(4000))
        // Works with signals that are neither new nor due.
        try await app.database.execute(
            """
            INSERT INTO work_signals (number, signals, voice, recent, changes, learned_changes)
            SELECT number, 1000, 1000, 0, 1010, 1000
            FROM editions
            ON CONFLICT DO NOTHING
            """)
        try await prepare()
        let many = try await Self.costs(app)
        for (statement, (few, many)) in zip(Self.statements, zip(few, many)) {
            // More levels of indexes, and up to 100 editions with links to the learned one instead of 20.
            let more = statement == Self.learnOne ? 1500 : 100
            #expect(many <= few + more, "\(statement): \(many) pages, and \(few) with 20 books")
        }
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_state WHERE catalog_version <> cold_start_version") == 0)
    }

    /// A log whose only entry is old has no mark. Its next entry adds one, so that the old entry is pruned.
    @Test func returningReadersArePruned() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await reader.makeShelf("One")
        func prune() async throws -> Int {
            try await app.database.count("SELECT prune_changes(90, 50)::bigint")
        }
        func age() async throws {
            try await app.database.execute(
                """
                UPDATE changes SET at = at - interval '100 days';
                UPDATE logs_to_prune SET oldest_at = oldest_at - interval '100 days'
                """)
        }
        #expect(try await prune() == 0)
        try await age()
        #expect(try await prune() == 1)
        #expect(try await app.database.count("SELECT count(*) FROM logs_to_prune") == 0)
        #expect(try await prune() == 0)
        _ = try await reader.makeShelf("Two")
        #expect(try await prune() == 1)
        #expect(
            try await app.database.text("SELECT string_agg(seq::text, ' ') FROM changes") == "2")
        #expect(try await app.database.count("SELECT count(*) FROM logs_to_prune") == 1)
        #expect(try await prune() == 0)
    }
}
