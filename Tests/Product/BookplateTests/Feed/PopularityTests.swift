import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// The popularity, the genres, and the main language after incremental refreshes equal a full recount.
@Suite struct PopularityTests {
    /// Returns the SQL of a random change of the catalog. Editions with the same title and author are records of one work.
    private static func change(_ step: Int, using random: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let edition = "(SELECT id FROM editions ORDER BY number OFFSET \(number(0...29)) LIMIT 1)"
        let genres =
            ["{Fantasy}", "{Horror,Romance}", "{}", "{Fantasy,Unknown}"]
            .randomElement(using: &random) ?? "{}"
        let language =
            ["'en'", "'en-GB'", "'de'", "'fr'", "NULL"].randomElement(using: &random) ?? ""
        switch number(0...9) {
        case 0...2:
            let count = number(1...5)
            return """
                INSERT INTO editions (id, title, authors, genres, language, ratings_count, popularity)
                SELECT gen_random_uuid(), 'Title \(number(1...4))', '{One Author}', '\(genres)', \(language), r, r
                FROM (SELECT \(number(0...3000)) AS r FROM generate_series(1, \(count))) new
                """
        case 3...4:
            return "UPDATE editions SET ratings_count = \(number(0...3000)) WHERE id = \(edition)"
        case 5:
            return "UPDATE editions SET popularity = \(number(0...3000)) WHERE id = \(edition)"
        case 6:
            return """
                UPDATE editions
                SET genres = '\(genres)', language = \(language)
                WHERE id = \(edition) OR number % 7 = \(number(0...6))
                """
        case 7:
            return """
                DELETE FROM editions
                WHERE id = (SELECT id FROM editions WHERE number > 30 ORDER BY number LIMIT 1)
                """
        case 8:
            // Half of the ratings of the catalog.
            return
                "UPDATE editions SET ratings_count = ratings_count / 2 WHERE ratings_count > 3000"
        default:
            return "UPDATE editions SET title = 'Own title \(step)' WHERE id = \(edition)"
        }
    }

    /// Editions whose popularity differs from the definition by more than 5%, which are not written, and by more than what a change of
    /// 1% of the catalog's ratings makes.
    private static let wrongPopularity = """
        SELECT count(*)
        FROM editions e
        LEFT JOIN work_records w ON w.edition_id = e.id
        LEFT JOIN editions f ON f.id = w.founder_id
        LEFT JOIN work_signals s ON s.number = coalesce(f.number, e.number)
        CROSS JOIN (SELECT greatest(sum(ratings_count), 1) AS ratings FROM editions) c
        CROSS JOIN LATERAL (
            SELECT coalesce((s.voice + 2 * s.recent::float8 / half_life_power(now())) / 100, 0) * c.ratings / 5000 AS own
        ) o
        WHERE abs(e.ratings_count + o.own - e.popularity) > 0.0501 * (1 + e.popularity) + 0.0102 * o.own
        """

    /// Genres and languages whose counts differ from those of the editions.
    private static let wrongCounts = """
        SELECT count(*)
        FROM (
            (
                SELECT name, editions, readers
                FROM genres
                EXCEPT
                SELECT g.name, count(e.id), coalesce(sum(e.ratings_count), 0)
                FROM genres g
                LEFT JOIN editions e ON g.name = ANY(e.genres)
                GROUP BY g.name
            )
            UNION ALL
            (
                SELECT coalesce(split_part(language, '-', 1), ''), count(*), sum(ratings_count)
                FROM editions
                GROUP BY 1
                EXCEPT
                SELECT language, editions, ratings
                FROM catalog_languages
            )
            UNION ALL
            SELECT language, editions, ratings
            FROM catalog_languages
            WHERE editions > 0 AND language NOT IN (SELECT coalesce(split_part(language, '-', 1), '') FROM editions)
            UNION ALL
            SELECT main_language, 0, 0
            FROM feed_state
            WHERE main_language <> (
                SELECT split_part(language, '-', 1)
                FROM editions
                WHERE language IS NOT NULL
                GROUP BY 1
                ORDER BY count(*) DESC, 1
                LIMIT 1
            )
        ) wrong
        """

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func incrementalRefreshesEqualARecount(seed: UInt64) async throws {
        let app = try await SignalCollectionTests.makeApp()
        // The changes below use ratings of the same size.
        try await app.database.execute(
            "UPDATE editions SET ratings_count = 100 * number, popularity = 100 * number")
        var random = SeededGenerator(seed)
        func check(_ step: Int) async throws {
            try await app.database.execute("SELECT refresh_feed()")
            #expect(try await app.database.count(Self.wrongPopularity) == 0, "step \(step)")
            #expect(try await app.database.count(Self.wrongCounts) == 0, "step \(step)")
        }
        for step in 1...12 {
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                try await app.database.execute(SignalCollectionTests.change(using: &random))
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                try await app.database.execute(Self.change(step, using: &random))
            }
            try await SignalCollectionTests.collect(app)
            try await check(step)
        }
        // If the last step changed the main language, editions have moved to other works, which the next refresh counts.
        try await app.database.execute("SELECT refresh_feed()")
        // Nothing is written twice, and the refreshes do not log their own changes.
        let version = "SELECT catalog_version FROM feed_state"
        let before = try await app.database.count(version)
        try await app.database.execute("SELECT refresh_feed()")
        #expect(try await app.database.count(version) == before)
        // Days pass without new signals.
        for step in 13...24 {
            let days = Int.random(in: 1...6, using: &random)
            try await app.database.execute(
                """
                UPDATE work_signals
                SET recent = round((recent::float8 / power(2, \(days) / 14.0))::numeric, 6),
                    refresh_at = refresh_at - interval '\(days) days'
                """)
            try await check(step)
        }
    }

    /// The popularity of a work is due again when it has decayed by 5%, and not before.
    @Test func signalsDecayWithoutOtherChanges() async throws {
        let app = try await SignalCollectionTests.makeApp()
        try await app.database.execute(
            """
            UPDATE editions SET ratings_count = 1000, popularity = 1000;
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
            SELECT u.id, e.id, 'LIKE', now()
            FROM users u
            CROSS JOIN (SELECT id FROM editions WHERE number = (SELECT min(number) FROM editions)) e
            """)
        try await SignalCollectionTests.collect(app)
        func popularity(afterDays days: Int) async throws -> Int {
            try await app.database.execute(
                """
                UPDATE work_signals
                SET recent = round((recent::float8 / power(2, \(days) / 14.0))::numeric, 6),
                    refresh_at = refresh_at - interval '\(days) days';
                SELECT refresh_feed()
                """)
            return try await app.database.count("SELECT max(popularity)::bigint FROM editions")
        }
        // 12 likes of 30,000 ratings / 5,000 each, three times as much when they are new.
        #expect(try await popularity(afterDays: 0) == 1216)
        #expect(try await popularity(afterDays: 4) == 1216)
        let later = try await popularity(afterDays: 10)
        #expect((1143...1145).contains(later))
        let due = "SELECT count(*) FROM work_signals WHERE refresh_at IS NOT NULL"
        #expect(try await app.database.count(due) == 1)
        // The rest of the recent part is less than 5%.
        #expect(try await (1072...1086).contains(popularity(afterDays: 60)))
        #expect(try await app.database.count(due) == 0)
    }
}
