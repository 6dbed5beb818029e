import GraphQL
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Searches do a bounded amount of work, whatever is typed.
@Suite struct SearchCostTests {
    /// 10,000 editions with as many different words of 4 to 11 letters, besides the words "the", "of", and "and".
    private static let app = Shared {
        let app = try await TestApp.start(catalog: [])
        try await app.database.execute(
            """
            CREATE FUNCTION pg_temp.word(n int) RETURNS text LANGUAGE sql AS $$
                SELECT translate(left(md5(n::text), 4 + n % 8), '0123456789', 'ghijklmnop')
            $$;
            INSERT INTO editions (id, title, authors, ratings_count, popularity)
            SELECT md5('e' || n)::uuid,
                format('The %s of %s and %s', pg_temp.word(n), pg_temp.word(n * 7 % 6000), pg_temp.word(n * 13 % 6000)),
                ARRAY[pg_temp.word(n % 1000) || ' ' || pg_temp.word(n * 17 % 6000)], n, n
            FROM generate_series(1, 10000) n;
            """)
        try await app.database.execute("SELECT refresh_search_words()")
        try await app.database.execute("VACUUM ANALYZE editions, search_words")
        return app
    }

    /// Returns a random word of Latin letters.
    private static func word(_ letters: Int, _ random: inout SeededGenerator) -> String {
        String(
            (0..<letters).map { _ in
                "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "a"
            })
    }

    private static func words(_ count: Int, of letters: Int) -> String {
        var random = SeededGenerator(UInt64(letters))
        return (0..<count).map { _ in word(letters, &random) }.joined(separator: " ")
    }

    /// Returns words of the catalog with one wrong letter in each, or without any.
    private static func known(_ count: Int, isWrong: Bool) async throws -> String {
        let words = try await app().database.withConnection { connection in
            try connection.texts(
                """
                SELECT word
                FROM search_words
                WHERE length(word) > 8
                ORDER BY md5(word)
                LIMIT \(count)
                """)
        }
        return words.map { isWrong ? $0.prefix(4) + "qz" + $0.dropFirst(5) : $0 }
            .joined(separator: " ")
    }

    /// What one search has read.
    private struct Work: CustomStringConvertible {
        /// Pages of tables and indexes.
        var pages = 0
        /// Scans of the catalog or its words without an index.
        var sequentialScans = 0
        /// Words that were compared with the catalog's words.
        var similarWords = 0
        /// Words whose trigrams were compared with those of the catalog's words.
        var trigramScans = 0

        var description: String {
            "\(pages) pages, \(sequentialScans) sequential scans, \(similarWords) words, \(trigramScans) with trigrams"
        }
    }

    private static func work(of query: String) async throws -> Work {
        try await app().database.withConnection(as: nil) { connection in
            let search = "SELECT * FROM search_editions('\(query)', 101, NULL, NULL)"
            let trigramScans = "pg_stat_get_xact_numscans('search_words_word'::regclass)"
            // Loads the catalogs of PostgreSQL and the code of the functions. The counters may contain this search, too.
            _ = try connection.query(search)
            try connection.execute("BEGIN; SET LOCAL track_functions = 'all'")
            let before = try connection.query("SELECT \(trigramScans)").int64(0, 0) ?? 0
            let plan = try connection.query(
                "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) \(search)")
            let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
            let counters = try connection.query(
                """
                SELECT
                    (SELECT sum(seq_scan) FROM pg_stat_xact_user_tables
                        WHERE relname IN ('editions', 'search_words', 'work_records'))::int8,
                    (SELECT sum(calls) FROM pg_stat_xact_user_functions
                        WHERE funcname = 'search_similar_words')::int8,
                    \(trigramScans)
                """)
            try connection.execute("COMMIT")
            let buffers = lines.first { $0.contains("Buffers: shared") } ?? ""
            return Work(
                pages: buffers.matches(of: /(hit|read)=([0-9]+)/).compactMap { Int($0.2) }
                    .reduce(0, +),
                sequentialScans: Int(counters.int64(0, 0) ?? 0),
                similarWords: Int(counters.int64(0, 1) ?? 0),
                trigramScans: Int((counters.int64(0, 2) ?? 0) - before))
        }
    }

    @Test(arguments: [
        words(1, of: 10), words(1, of: 40), words(1, of: 41), words(1, of: 60), words(1, of: 150),
        words(1, of: 200), words(12, of: 15), words(28, of: 6), words(33, of: 5), words(40, of: 4),
        words(50, of: 3), words(66, of: 2), words(100, of: 1), words(4, of: 40),
        String(repeating: "a", count: 200), String(repeating: "the of and ", count: 18),
        "the of and", "the of zz", "t", String(repeating: "!", count: 200),
        String(repeating: "&", count: 200), String(repeating: "1", count: 200),
        String(repeating: "1 ", count: 99), String(repeating: "жизнь", count: 40),
        String(repeating: "海辺", count: 100), String(repeating: "สี่แผ่นดิน", count: 20),
        String(repeating: "😀", count: 200), String(repeating: "ﷺ", count: 200),
        String(repeating: "ⅷ", count: 200), String(repeating: "ﬃ", count: 200),
    ])
    func aSearchOfTheCatalogIsBounded(query: String) async throws {
        try await Self.expectBounded(query)
    }

    @Test(arguments: [true, false])
    func aSearchForManyWordsOfTheCatalogIsBounded(isWrong: Bool) async throws {
        try await Self.expectBounded(Self.known(20, isWrong: isWrong))
    }

    private static func expectBounded(_ query: String) async throws {
        let work = try await work(of: query)
        #expect(work.sequentialScans == 0, "\(work)")
        #expect(work.similarWords <= 24, "\(work)")
        #expect(work.trigramScans <= 8, "\(work)")
        #expect(work.pages <= 3000, "\(work)")
    }

    @Test func aLongWordCostsNoMoreThanAWordOfTheCatalog() async throws {
        let limit = try await Self.work(of: Self.words(1, of: 40)).pages
        for letters in [60, 150, 200] {
            let pages = try await Self.work(of: Self.words(1, of: letters)).pages
            #expect(pages <= limit, "\(letters) letters")
        }
    }

    /// Trigrams are compared for at most 48 letters of a search.
    @Test(arguments: [(12, 48, 36), (40, 48, 8), (40, 39, 39), (41, 48, 48), (5, 48, 48)])
    func trigramsAreComparedForSomeLetters(letters: Int, before: Int, after: Int) async throws {
        let word = Self.words(1, of: letters)
        let rest = try await Self.app().database.count(
            "SELECT trigram_letters FROM search_similar_words('\(word)', \(before))")
        #expect(rest == after)
    }

    // MARK: - The reader's library

    @Test(arguments: [
        ("abcd", 4096), ("abcdefgh", 4096), ("abcd", 0), ("abc", 4096),
        (String(repeating: "ab", count: 20), 4096), (String(repeating: "ab", count: 21), 4096),
    ])
    func aWordHasFewAlternatives(word: String, known: Int) async throws {
        let pattern = try await Self.app().database.text(
            """
            search_patterns(ARRAY['\(word)'], ARRAY(
                SELECT overlay('\(word)' placing lpad(to_hex(n), 3, 'x') from 1)
                FROM generate_series(1, \(known)) n
                UNION ALL
                SELECT '\(word)' || chr(97 + n)
                FROM generate_series(1, least(\(known), 25)) n
            ))
            """)
        let alternatives = pattern.split(separator: "|").count - 1
        let isSpelled = (4...40).contains(word.count)
        // The word in several parts is another one.
        #expect(alternatives == (isSpelled ? (known > 0 ? 17 : 1) : 0), "\(pattern)")
    }

    /// The words of the library are compared once, and not for each book.
    @Test(arguments: ["notaword", words(1, of: 200), words(12, of: 15), words(33, of: 5)])
    func misspelledWordsAreComparedOnce(search: String) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        try await reader.executeSQL(
            """
            INSERT INTO books (user_id, id, title)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Book ' || n
            FROM generate_series(1, 200) n
            """)
        let calls = try await app.database.withConnection(as: nil) { connection in
            try connection.execute(
                """
                BEGIN;
                SET LOCAL track_functions = 'all';
                SELECT set_config('app.user_id', '\(reader.id.string ?? "")', true)
                """)
            _ = try connection.query(
                "SELECT book_id FROM search_books('\(search)', 500, false, NULL)")
            return try connection.texts(
                """
                SELECT funcname || ' ' || calls
                FROM pg_stat_xact_user_functions
                WHERE funcname = 'search_patterns'
                """)
        }
        #expect(calls == ["search_patterns 1"])
    }
}
