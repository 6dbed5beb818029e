import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// The signals that are collected incrementally equal a full recount.
@Suite struct SignalCollectionTests {
    static let readerCount = 12
    private static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(30)) }

    static func makeApp() async throws -> TestApp {
        let app = try await TestApp.start(catalog: TestCatalog.lines(30))
        try await app.database.execute(
            """
            INSERT INTO users (id, tenant_id)
            SELECT md5('r' || r)::uuid, (SELECT id FROM tenants LIMIT 1)
            FROM generate_series(1, \(readerCount)) r
            """)
        return app
    }

    /// Returns the SQL of a random change of signals.
    static func change(using random: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let user = "md5('r\(number(1...readerCount))')::uuid"
        func edition() -> String {
            "(SELECT id FROM editions ORDER BY number OFFSET \(number(0...29)) LIMIT 1)"
        }
        func anyBook(_ offset: Int) -> String {
            "SELECT id FROM books WHERE user_id = \(user) ORDER BY id OFFSET \(offset) LIMIT 1"
        }
        let action = ["LIKE", "SKIP", "DISLIKE", "BUY"].randomElement(using: &random) ?? "LIKE"
        let status =
            ["WANT_TO_READ", "READING", "READ", "DID_NOT_FINISH"].randomElement(using: &random)
            ?? "READ"
        switch number(0...21) {
        case 0...7:
            return """
                INSERT INTO swipes (user_id, edition_id, action, swiped_at)
                SELECT u.id, \(edition()), '\(action)', now() - interval '\(number(0...2000)) hours'
                FROM users u
                WHERE u.id = \(user)
                """
        case 8...9:
            return """
                UPDATE swipes
                SET undone_at = now()
                WHERE user_id = \(user) AND edition_id = \(edition()) AND undone_at IS NULL
                """
        case 10...12:
            return """
                INSERT INTO books (user_id, id, edition_id, title, status)
                SELECT u.id, gen_random_uuid(), \(edition()), 'A book', '\(status)'
                FROM users u
                WHERE u.id = \(user)
                ON CONFLICT DO NOTHING
                """
        case 13...14:
            return """
                UPDATE books
                SET status = '\(status)'
                WHERE user_id = \(user) AND id = (\(anyBook(number(0...3))))
                """
        case 15:
            return
                "DELETE FROM books WHERE user_id = \(user) AND id = (\(anyBook(number(0...3))))"
        case 16:
            return """
                INSERT INTO reviews (user_id, id, book_id, quarter_stars)
                SELECT user_id, gen_random_uuid(), id, \(number(1...20))
                FROM books
                WHERE user_id = \(user)
                ON CONFLICT (user_id, book_id) DO UPDATE
                SET quarter_stars = excluded.quarter_stars, updated_at = now()
                """
        case 17:
            return "DELETE FROM reviews WHERE user_id = \(user)"
        case 18:
            // Editions with the same title and author are records of one work.
            let title = "Title \(number(1...2))"
            return """
                UPDATE editions
                SET title = '\(title)', authors = '{One Author}'
                WHERE id = \(edition())
                """
        case 19:
            return """
                INSERT INTO reads (user_id, id, book_id, finished_on, outcome)
                SELECT user_id, gen_random_uuid(), id, '2025', 'FINISHED'
                FROM books
                WHERE user_id = \(user) AND id = (\(anyBook(number(0...3))))
                """
        case 20:
            return "DELETE FROM reads WHERE user_id = \(user)"
        default:
            return number(0...9) == 0 ? "DELETE FROM users WHERE id = \(user)" : "SELECT 1"
        }
    }

    /// Collects the changed readers, at most two in each transaction, as if the last run was more than 30 minutes ago.
    static func collect(_ app: TestApp) async throws {
        try await app.database.execute(
            """
            SELECT find_readers_to_collect(false);
            UPDATE feed_state SET collected_at = now() + interval '30 minutes'
            """)
        while try await app.database.count("SELECT collect_signals(2)::bigint") > 0 {}
    }

    /// Signals of the view that were not collected, or collected but not in the view.
    private static let wrongSignals = """
        WITH counted AS (
            SELECT s.user_id, e.number, round(s.weight * 100)::smallint AS weight,
                round(greatest(s.voice, 0) * 100)::smallint AS voice, s.at
            FROM reader_signals s
            JOIN editions e ON e.id = s.founder_id
            WHERE s.weight > 0
        ), collected AS (
            SELECT c.user_id, s.*
            FROM collected_signals c
            CROSS JOIN LATERAL unnest(c.works, c.weights, c.voices, c.times) AS s (number, weight, voice, at)
        )
        SELECT count(*)
        FROM (
            (TABLE counted EXCEPT TABLE collected)
            UNION ALL
            (TABLE collected EXCEPT TABLE counted)
        ) wrong
        """

    /// Works whose sums differ from those of all signals.
    private static let wrongSums = """
        SELECT count(*)
        FROM (
            SELECT e.number, count(*) AS signals, sum(v.voice) AS voice, sum(recent_voice(v.voice, s.at)) AS recent
            FROM reader_signals s
            JOIN editions e ON e.id = s.founder_id
            CROSS JOIN LATERAL (SELECT round(greatest(s.voice, 0) * 100)::int AS voice) v
            WHERE s.weight > 0
            GROUP BY e.number
        ) counted
        FULL JOIN work_signals w USING (number)
        WHERE (coalesce(counted.signals, 0), coalesce(counted.voice, 0), coalesce(counted.recent, 0))
            IS DISTINCT FROM (w.signals, w.voice, w.recent)
        """

    /// Editions whose popularity differs from the definition. Differences up to 5% are not written.
    private static let wrongPopularity = """
        SELECT count(*)
        FROM editions e
        LEFT JOIN work_records w ON w.edition_id = e.id
        LEFT JOIN (
            SELECT founder_id, sum(voice * (1 + 2 * power(0.5, extract(epoch FROM now() - at) / 86400 / 14))) AS readers
            FROM reader_signals
            WHERE voice > 0
            GROUP BY founder_id
        ) own ON own.founder_id = coalesce(w.founder_id, e.id)
        CROSS JOIN (SELECT greatest(sum(ratings_count), 1) AS ratings FROM editions) catalog
        WHERE abs(e.ratings_count + coalesce(own.readers, 0) * catalog.ratings / 5000 - e.popularity)
            > 0.0501 * (1 + e.popularity)
        """

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func collectedSignalsEqualARecount(seed: UInt64) async throws {
        let app = try await Self.makeApp()
        var random = SeededGenerator(seed)
        for step in 1...12 {
            for _ in 0..<Int.random(in: 1...25, using: &random) {
                try await app.database.execute(Self.change(using: &random))
            }
            try await Self.collect(app)
            #expect(try await app.database.count(Self.wrongSignals) == 0, "step \(step)")
            #expect(try await app.database.count(Self.wrongSums) == 0, "step \(step)")
        }
        try await app.database.execute("SELECT refresh_feed()")
        #expect(try await app.database.count(Self.wrongPopularity) == 0)
        // Collecting everything again changes nothing.
        let changes = "SELECT coalesce(sum(changes), 0)::bigint FROM work_signals"
        let before = try await app.database.count(changes)
        #expect(before > 0)
        try await app.database.execute("SELECT find_readers_to_collect(true)")
        while try await app.database.count("SELECT collect_signals(200)::bigint") > 0 {}
        #expect(try await app.database.count(changes) == before)
    }

    @Test func onlyReadersWithChangesAreCollected() async throws {
        let app = try await Self.makeApp()
        try await app.database.execute(
            """
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
            SELECT u.id, e.id, 'LIKE', now()
            FROM users u
            CROSS JOIN (SELECT id FROM editions LIMIT 3) e
            """)
        try await Self.collect(app)
        try await app.database.execute(
            """
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
            SELECT md5('r7')::uuid, id, 'BUY', now()
            FROM editions
            LIMIT 1;
            SELECT find_readers_to_collect(false)
            """)
        #expect(
            try await app.database.text(
                "SELECT string_agg(user_id::text, ',') FROM readers_to_collect")
                == app.database.text("SELECT md5('r7')::uuid::text"))
    }

    /// A book that few readers like is learned again after one new like, and one that many like after 5% more.
    @Test func worksAreDueAfterFivePercentOfChanges() async throws {
        let app = try await Self.makeApp()
        func dueCount(signals: Int, changes: Int) async throws -> Int {
            try await app.database.execute(
                """
                DELETE FROM work_signals;
                INSERT INTO work_signals (number, signals, voice, recent, changes, learned_changes)
                VALUES (1, \(signals), 0, 0, 1000 + \(changes), 1000)
                """)
            return try await app.database.count(
                "SELECT count(*) FROM works_to_learn() WHERE is_due")
        }
        #expect(try await dueCount(signals: 20, changes: 0) == 0)
        #expect(try await dueCount(signals: 20, changes: 1) == 1)
        #expect(try await dueCount(signals: 100, changes: 4) == 0)
        #expect(try await dueCount(signals: 100, changes: 5) == 1)
        #expect(try await dueCount(signals: 1_000_000, changes: 99) == 0)
        #expect(try await dueCount(signals: 1_000_000, changes: 100) == 1)
    }

    /// A rating counts once the book was read, also while it is read again. A book that was given up and never finished counts as a
    /// dislike, although its card was liked.
    @Test(arguments: [
        ("READ", false, 1.25), ("READING", true, 1.25), ("DID_NOT_FINISH", true, 1.25),
        ("WANT_TO_READ", false, 1), ("READING", false, 1), ("DID_NOT_FINISH", false, -0.3),
    ])
    func ratingIsASignalOnceTheBookWasRead(
        status: String, hasFinishedRead: Bool, voice: Double
    ) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let card = try await reader.feedCards(1)[0]["id"] ?? .null
        _ = try await reader.swipe("LIKE", [card])
        let book = try await reader.requireValue(
            "{ me { books { nodes { id } } } }", .null, "me", "books", "nodes", 0, "id")
        if hasFinishedRead {
            _ = try await reader.requireValue(
                ReadTests.start, ["id": book, "input": ["finishedOn": "2020"]], "startRead")
        }
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": book, "input": ["status": .string(status)]])
        try await reader.review(book, rating: 5)
        let signals = try await app.database.text(
            """
            SELECT string_agg(round(voice::numeric, 2)::text, ',')
            FROM reader_signals
            WHERE user_id = '\(reader.id.string ?? "")'
            """)
        #expect(Double(signals) == voice)
    }
}
