import TestBasics
import TestSupport
import Testing

/// The numbers of `reading_counts`, `reading_top_counts`, and `reading_days` equal a recount after random statements, whether they are sent one by one, in
/// large transactions, in savepoints that end early, or at the same time.
@Suite struct ReadingCountTests {
    private static let app = Shared { try await TestApp.start(catalog: []) }

    /// Generates statements that write books, reads, reviews, and progress of a reader.
    private struct Writes {
        let user: String
        var random: SeededGenerator

        mutating func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

        mutating func one(of values: [String]) -> String {
            values.randomElement(using: &random) ?? "NULL"
        }

        /// Returns the condition that selects some rows of the reader.
        private mutating func some(_ column: String = "id") -> String {
            "user_id = '\(user)' AND abs(hashtext(\(column)::text || '\(int(0...999))')) % \(int(2...8)) = 0"
        }

        private mutating func date() -> String {
            one(of: [
                "NULL", "'2020'", "'2021'", "'2021-03'", "'2021-03-05'", "'2020-07-07'",
                "'2022-12-31'",
            ])
        }

        private mutating func moods() -> String {
            one(of: ["'{}'", "'{dark}'", "'{dark,funny}'", "'{sad,sad}'"])
        }

        mutating func statement() -> String {
            switch int(0...16) {
            case 0...2:
                """
                INSERT INTO books (user_id, id, title, authors, status, page_count, genre, moods)
                SELECT
                    '\(user)', gen_random_uuid(), 'Book', ARRAY['Author \(int(1...4))'], 'READ', \(int(1...500)), 'Genre \(int(1...3))',
                    \(moods())
                FROM generate_series(1, \(int(1...4)))
                """
            case 3...6:
                """
                INSERT INTO reads (
                    user_id, id, book_id, outcome, finished_on, format, length_seconds, page_count, genre, author_id, author, moods
                )
                SELECT
                    user_id, gen_random_uuid(), id, '\(one(of: ["FINISHED", "FINISHED", "DID_NOT_FINISH"]))', \(date()),
                    \(one(of: ["NULL", "'AUDIO'", "'PRINT'"])), \(one(of: ["NULL", "3600"])), page_count, genre, author_ids[1],
                    authors[1], nullif(moods, '{}')
                FROM books
                WHERE \(some())
                """
            case 7:
                """
                INSERT INTO reads (user_id, id, book_id, outcome, started_on)
                SELECT b.user_id, gen_random_uuid(), b.id, 'READING', '2019'
                FROM (SELECT user_id, id FROM books WHERE \(some())) b
                ON CONFLICT DO NOTHING
                """
            case 8:
                "UPDATE reads SET outcome = 'FINISHED', finished_on = \(date()), updated_at = now() WHERE \(some())"
            case 9:
                "UPDATE reads SET format = 'EBOOK', length_seconds = NULL, updated_at = now() WHERE \(some())"
            case 10: "DELETE FROM reads WHERE \(some())"
            case 11:
                """
                INSERT INTO reviews (user_id, book_id, id, quarter_stars, text)
                SELECT user_id, id, gen_random_uuid(), \(one(of: ["NULL", "7", "16"])), 'Text'
                FROM books
                WHERE \(some())
                ON CONFLICT (user_id, book_id) DO UPDATE SET quarter_stars = excluded.quarter_stars
                """
            case 12: "DELETE FROM reviews WHERE \(some("book_id"))"
            case 13: "DELETE FROM books WHERE \(some())"
            case 14:
                """
                UPDATE books
                SET page_count = \(one(of: ["NULL", "77"])), genre = \(one(of: ["NULL", "'Genre 9'"])),
                    authors = ARRAY['Author \(int(1...4))'], moods = \(moods()), updated_at = now()
                WHERE \(some())
                """
            case 15:
                """
                INSERT INTO progress_entries (user_id, id, read_id, at, page)
                SELECT user_id, gen_random_uuid(), id, timestamptz '2021-03-05 23:30+00' + hashtext(id::text) % 4 * interval '9 hours', 5
                FROM reads
                WHERE \(some())
                """
            default:
                "UPDATE users SET time_zone = '\(one(of: ["UTC", "Asia/Tokyo", "America/New_York"]))' WHERE id = '\(user)'"
            }
        }

        mutating func transaction() -> String {
            var statements = ["BEGIN"]
            // Near the number of statements after which the transaction counts at its end.
            if int(0...5) == 0 { statements.append("SET LOCAL app.counted_statements = '97'") }
            if int(0...8) == 0 { statements.append("SET LOCAL app.bulk = 'on'") }
            for _ in 0..<int(1...6) {
                if int(0...5) == 0 {
                    statements += ["SAVEPOINT a", statement(), statement(), "ROLLBACK TO a"]
                }
                statements.append(statement())
            }
            return (statements + ["COMMIT"]).map { $0 + ";\n" }.joined()
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func countsEqualARecount(seed: UInt64) async throws {
        let app = try await Self.app()
        let user = try await app.makeReader().id.string ?? ""
        var writes = Writes(user: user, random: SeededGenerator(seed))
        for number in 0..<40 {
            let sql = writes.transaction()
            let differences = try await app.database.withConnection { connection in
                try connection.execute(sql)
                return try connection.texts(ReadingRecount.differences(of: user))
            }
            #expect(differences == [], "seed \(seed), transaction \(number): \(sql)")
            if differences != [] { return }
        }
    }

    @Test func countsAreExactAfterConcurrentWrites() async throws {
        let app = try await Self.app()
        let user = try await app.makeReader().id.string ?? ""
        await withTaskGroup { group in
            for writer in 0..<4 as Range<UInt64> {
                group.addTask {
                    var writes = Writes(user: user, random: SeededGenerator(100 + writer))
                    for _ in 0..<25 {
                        let sql = writes.transaction()
                        // Transactions may end in a deadlock: these statements lock rows in any order.
                        try? await app.database.execute(sql)
                    }
                }
            }
        }
        let (differences, count) = try await app.database.withConnection { connection in
            (
                try connection.texts(ReadingRecount.differences(of: user)),
                try connection.texts(
                    "SELECT count(*)::text FROM reading_counts WHERE user_id = '\(user)'")
            )
        }
        #expect(differences == [])
        #expect(count != ["0"])
    }

    /// A deleted account leaves no counts, and no note that they are to be counted.
    @Test func deletedAccountsHaveNoCounts() async throws {
        let app = try await Self.app()
        let user = try await app.makeReader().id.string ?? ""
        var writes = Writes(user: user, random: SeededGenerator(1))
        for _ in 0..<10 { try await app.database.execute(writes.transaction()) }
        try await app.database.execute(
            """
            BEGIN;
            SET LOCAL app.counted_statements = '100';
            DELETE FROM reads WHERE user_id = '\(user)';
            DELETE FROM users WHERE id = '\(user)';
            COMMIT
            """)
        for table in ["reading_counts", "reading_top_counts", "reading_recounts", "reading_days"] {
            #expect(
                try await app.database.count(
                    "SELECT count(*) FROM \(table) WHERE user_id = '\(user)'") == 0)
        }
    }
}

/// A recount of the numbers that triggers maintain.
enum ReadingRecount {
    /// Returns a query of the differences between the numbers of a reader and a recount.
    static func differences(of user: String) -> String {
        """
        WITH ended AS (
            SELECT r.*, y.year
            FROM reads r
            CROSS JOIN LATERAL (VALUES (0), (left(r.finished_on, 4)::int)) AS y (year)
            WHERE r.user_id = '\(user)' AND r.outcome <> 'READING' AND y.year IS NOT NULL
        ), finished AS (
            SELECT * FROM ended WHERE outcome = 'FINISHED'
        ), recount AS (
            SELECT
                'READS' AS kind, year, '' AS key, count(*) AS number,
                coalesce(sum(page_count) FILTER (WHERE NOT coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0) AS pages,
                coalesce(sum(length_seconds) FILTER (WHERE coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0) AS seconds
            FROM finished
            GROUP BY year
            UNION ALL
            SELECT 'BOOKS', year, '', count(DISTINCT book_id), 0, 0 FROM finished GROUP BY year
            UNION ALL
            SELECT 'GIVEN_UP', year, '', count(*), 0, 0 FROM ended WHERE outcome = 'DID_NOT_FINISH' GROUP BY year
            UNION ALL
            SELECT
                'MONTH', year, substr(finished_on, 6, 2), count(*),
                coalesce(sum(page_count) FILTER (WHERE NOT coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0),
                coalesce(sum(length_seconds) FILTER (WHERE coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0)
            FROM finished WHERE year > 0 AND length(finished_on) > 4 GROUP BY 2, 3
            UNION ALL
            SELECT
                'FORMAT', year, format::text, count(*),
                coalesce(sum(page_count) FILTER (WHERE NOT coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0),
                coalesce(sum(length_seconds) FILTER (WHERE coalesce(format = 'AUDIO', length_seconds IS NOT NULL)), 0)
            FROM finished WHERE format IS NOT NULL GROUP BY 2, 3
            UNION ALL
            SELECT 'GENRE', year, genre, count(*), 0, 0 FROM finished WHERE genre IS NOT NULL GROUP BY 2, 3
            UNION ALL
            SELECT 'AUTHOR', year, author_id::text, count(*), 0, 0 FROM finished WHERE author_id IS NOT NULL GROUP BY 2, 3
            UNION ALL
            SELECT 'MOOD', year, mood, count(*), 0, 0
            FROM finished
            CROSS JOIN LATERAL (SELECT DISTINCT mood FROM unnest(moods) AS m (mood)) m
            GROUP BY 2, 3
            UNION ALL
            SELECT 'RATING', b.year, coalesce(v.quarter_stars::int, 0)::text, count(*), 0, 0
            FROM (
                SELECT DISTINCT year, book_id FROM finished WHERE year > 0
                UNION ALL
                SELECT 0, book_id FROM reviews WHERE user_id = '\(user)'
            ) b
            JOIN reviews v ON v.user_id = '\(user)' AND v.book_id = b.book_id
            GROUP BY 2, 3
        ), counted AS (
            SELECT kind, year, key, number, pages, seconds
            FROM reading_counts
            WHERE user_id = '\(user)' AND (number, pages, seconds) <> (0, 0, 0)
            UNION ALL
            SELECT kind, year, key, number, 0, 0 FROM reading_top_counts WHERE user_id = '\(user)' AND number <> 0
        ), recounted_days AS (
            SELECT day, count(*) AS number
            FROM (
                SELECT (p.at AT TIME ZONE u.time_zone)::date AS day
                FROM progress_entries p JOIN users u ON u.id = p.user_id
                WHERE p.user_id = '\(user)'
                UNION ALL
                SELECT finished_on::date FROM finished WHERE year = 0 AND length(finished_on) = 10
            ) n
            GROUP BY day
        ), counted_days AS (
            SELECT day, entry_count::bigint FROM reading_days WHERE user_id = '\(user)'
        )
        SELECT 'recounted: ' || d FROM (SELECT * FROM recount EXCEPT SELECT * FROM counted) d
        UNION ALL
        SELECT 'counted: ' || d FROM (SELECT * FROM counted EXCEPT SELECT * FROM recount) d
        UNION ALL
        SELECT 'recounted day: ' || d FROM (SELECT * FROM recounted_days EXCEPT SELECT * FROM counted_days) d
        UNION ALL
        SELECT 'counted day: ' || d FROM (SELECT * FROM counted_days EXCEPT SELECT * FROM recounted_days) d
        """
    }
}
