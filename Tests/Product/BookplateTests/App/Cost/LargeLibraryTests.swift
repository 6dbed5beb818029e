import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// Requests of a reader with 20,000 books read as many pages of the database as those of a reader with 100 books.
///
/// PostgreSQL's counters contain all statements of a request, as the server sends them.
@Suite struct LargeLibraryTests {
    private struct Readers {
        let large: TestReader
        let small: TestReader
    }

    private static let readers = Shared {
        let app = try await TestApp.start(catalog: [], { $0.connectionCount = 1 })
        let readers = Readers(large: try await app.makeReader(), small: try await app.makeReader())
        for (reader, count) in [(readers.large, 20_000), (readers.small, 100)] {
            try await fill(reader, count)
        }
        // Other readers, whose rows are in the same tables and indexes.
        for _ in 0..<20 { try await fill(app.makeReader(), 100) }
        for table in [
            "users", "books", "listed_books", "library_counts", "reads", "reviews", "shelves",
            "shelf_books", "shelf_counts", "reading_counts", "reading_top_counts", "reading_days",
            "book_copies",
        ] {
            // VACUUM does not mark pages with rows that a transaction in progress may not see.
            try await waitUntil("all pages of \(table) are visible") {
                try await app.database.execute("VACUUM (ANALYZE) \(table)")
                return try await app.database.count(
                    "SELECT relpages - relallvisible FROM pg_class WHERE oid = '\(table)'::regclass"
                ) == 0
            }
        }
        return readers
    }

    /// Adds books with titles of some common and many rare words, of which each reader has the same part with each status, rating,
    /// language, and year.
    private static func fill(_ reader: TestReader, _ count: Int) async throws {
        let id = reader.id.string ?? ""
        try await reader.app.database.execute(
            """
            -- VACUUM does not mark pages with rows of commits that are not on disk yet.
            SET synchronous_commit = on;
            SET app.bulk = 'on';
            INSERT INTO books (
                user_id, id, title, authors, status, language, added_at, updated_at, finished_at, page_count, genre
            )
            SELECT '\(id)', gen_random_uuid(),
                translate(substr(md5('t' || n), 1, 5), '0123456789', 'ghijklmnop')
                    || CASE WHEN n % 2 = 0 THEN ' and the ' ELSE ' without ' END
                    || translate(substr(md5('u' || n), 1, 7), '0123456789', 'ghijklmnop'),
                ARRAY['Author ' || translate(md5('a' || n % (\(count) / 4)), '0123456789', 'ghijklmnop')],
                ('{READ,WANT_TO_READ,READ,READ,WANT_TO_READ,READ,READING,READ,PAUSED,DID_NOT_FINISH}'::reading_status[])[1 + n % 10],
                (ARRAY['en', 'de', 'pt-BR'])[1 + n % 3],
                now() - n * interval '1 hour', now() - n * interval '1 minute',
                CASE WHEN n % 10 IN (0, 2, 3, 5, 7) THEN timestamptz '2024-06-01' - n % 10 * interval '1 year' + n * interval '1 second' END,
                100 + n % 500, 'Genre ' || n % 12
            FROM generate_series(1, \(count)) n;
            INSERT INTO reviews (user_id, book_id, id, quarter_stars)
            SELECT user_id, id, gen_random_uuid(), 1 + abs(hashtext(title)) % 20
            FROM books
            WHERE user_id = '\(id)' AND status = 'READ';
            INSERT INTO reads (
                user_id, id, book_id, outcome, finished_on, format, page_count, genre, author_id, author, moods
            )
            SELECT
                user_id, gen_random_uuid(), id, 'FINISHED', to_char(finished_at, 'YYYY-MM-DD'), 'AUDIO', page_count, genre,
                author_ids[1], authors[1], ARRAY['Mood ' || page_count % 40]
            FROM books
            WHERE user_id = '\(id)' AND status = 'READ';
            INSERT INTO shelves (user_id, id, name, position)
            SELECT '\(id)', gen_random_uuid(), 'Shelf ' || n, n
            FROM generate_series(0, 4) n;
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT b.user_id, s.id, b.id, b.added_at
            FROM books b
            JOIN shelves s ON s.user_id = b.user_id AND s.position = abs(hashtext(b.title)) % 5
            WHERE b.user_id = '\(id)';
            INSERT INTO book_copies (user_id, id, book_id, loan_id, borrower, lent_on, due_on)
            SELECT user_id, gen_random_uuid(), id, loan, CASE WHEN loan IS NOT NULL THEN 'Ada' END,
                CASE WHEN loan IS NOT NULL THEN '2024' END, CASE WHEN loan IS NOT NULL THEN '20' || (24 + page_count % 76) END
            FROM (SELECT *, CASE WHEN page_count % 10 = 0 THEN gen_random_uuid() END AS loan FROM books) b
            WHERE user_id = '\(id)' AND page_count % 5 < 2;
            RESET app.bulk
            """)
    }

    /// Returns the number of pages of tables and indexes that the server's connection has read.
    private static func pagesRead(_ app: TestApp) async throws -> Int {
        // Makes the only connection of the server report its counters, which it otherwise does about once per second.
        _ = try await app.pool.run(.one(Statement("SELECT pg_stat_force_next_flush()")))
        return try await app.database.count(
            """
            SELECT sum(
                heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0)
                    + coalesce(toast_blks_read, 0) + coalesce(toast_blks_hit, 0)
                    + coalesce(tidx_blks_read, 0) + coalesce(tidx_blks_hit, 0)
            )
            FROM pg_statio_user_tables
            """)
    }

    private static func pages(
        of query: String, _ variables: Value, by reader: TestReader
    ) async throws -> Int {
        // The first executions also fill caches, and prepare statements.
        for _ in 0..<2 { _ = try await reader.execute(query, variables) }
        let before = try await pagesRead(reader.app)
        let runs = 4
        for _ in 0..<runs {
            let response = try await reader.execute(query, variables)
            #expect(response.code == nil, "\(response.json)")
        }
        return (try await pagesRead(reader.app) - before) / runs
    }

    static let orders = [
        "ADDED_DESC", "ADDED_ASC", "TITLE_ASC", "AUTHOR_ASC", "UPDATED_DESC", "FINISHED_DESC",
        "RATING_DESC", "STATUS", "RELEVANCE",
    ]

    private static func expectSamePages(
        _ query: String, _ variables: (TestReader) async throws -> Value, atMost: Double = 1.5
    ) async throws {
        let readers = try await readers()
        let large = try await pages(of: query, variables(readers.large), by: readers.large)
        let small = try await pages(of: query, variables(readers.small), by: readers.small)
        #expect(Double(large) <= Double(small) * atMost, "\(large) and \(small) pages: \(query)")
    }

    private static let list = """
        query($order: BookOrder, $first: Int, $last: Int, $after: String, $before: String, $statuses: [ReadingStatus!]) {
          me {
            books(orderBy: $order, first: $first, last: $last, after: $after, before: $before, statuses: $statuses) {
              totalCount nodes { id title } pageInfo { startCursor endCursor }
            }
          }
        }
        """

    @Test(arguments: orders, [[], ["READ"], ["READING", "PAUSED"]])
    func aPageReadsItsRows(order: String, statuses: [String]) async throws {
        let base: [Value.Member] = [
            .init("order", .string(order)),
            .init("statuses", .list(statuses.map { .string($0) })),
        ]
        try await Self.expectSamePages(Self.list) { _ in .object(base + [.init("first", 20)]) }
        try await Self.expectSamePages(Self.list) { _ in .object(base + [.init("last", 20)]) }
        for (argument, size, end) in [
            ("after", "first", "endCursor"), ("before", "last", "startCursor"),
        ] {
            try await Self.expectSamePages(Self.list) { reader in
                // The page after four fifths of the list.
                let page = try await reader.execute(
                    Self.list, .object(base + [.init(size, 10)]))
                return .object(
                    base + [
                        .init(size, 10),
                        .init(argument, page["me", "books", "pageInfo"]?[end] ?? .null),
                    ])
            }
        }
    }

    @Test(arguments: orders.dropLast() + ["SHELF"])
    func shelvesReadTheirRows(order: String) async throws {
        let query = """
            query($order: BookOrder) { me { shelves { name bookCount books(first: 10, orderBy: $order) { totalCount nodes { id title } } } } }
            """
        let isSorted = ["ADDED_DESC", "ADDED_ASC", "TITLE_ASC", "AUTHOR_ASC", "SHELF"].contains(
            order)
        guard isSorted else { return }
        try await Self.expectSamePages(query) { _ in ["order": .string(order)] }
    }

    /// A common word, a word of one book, no word, misspellings, a stray word, common words that no book has all of, and an alias.
    @Test(
        arguments: [
            "the", "and the", "author", "fdkol", "zzzz", "autohr", "978-0-261-10221-4", "%",
            "author zzzz", "author the without", "lotr",
        ],
        ["ADDED_DESC", "TITLE_ASC", "RATING_DESC"])
    func aSearchReadsFewRows(words: String, order: String) async throws {
        let query = """
            query($words: String!, $order: BookOrder) { me { books(search: $words, orderBy: $order, first: 20) { nodes { id title } } } }
            """
        try await Self.expectSamePages(
            query, { _ in ["words": .string(words), "order": .string(order)] }, atMost: 2)
    }

    /// A search of one status also looks for books of other statuses, because they decide what the search means.
    @Test(
        arguments: ["the", "autohr", "author zzzz", "author the without"], ["READ", "PAUSED"])
    func aSearchOfAStatusReadsFewRows(words: String, status: String) async throws {
        let query =
            "{ me { books(search: \"\(words)\", orderBy: RELEVANCE, statuses: [\(status)], first: 20) { nodes { id title } } } }"
        let readers = try await Self.readers()
        let large = try await Self.pages(of: query, .null, by: readers.large)
        #expect(large <= 3000, "\(large) pages: \(query)")
    }

    @Test(arguments: [
        "language: \"en\"", "language: \"pt\"", "language: \"fr\"", "finishedIn: 2020",
        "finishedIn: 1990", "ratingMin: 4.5",
        "ratingMin: 2, ratingMax: 2", "format: AUDIO", "format: PRINT",
        "language: \"en\", ratingMin: 3, status: READ", "copies: OWNED", "copies: LENT",
    ])
    func filtersReadFewRows(filter: String) async throws {
        for order in ["ADDED_DESC", "TITLE_ASC", "FINISHED_DESC"] {
            let readers = try await Self.readers()
            let query =
                "{ me { books(\(filter), orderBy: \(order), first: 20) { nodes { id title } } } }"
            let large = try await Self.pages(of: query, .null, by: readers.large)
            #expect(large <= 2500, "\(large) pages: \(query)")
        }
    }

    @Test(arguments: [
        "{ me { books(first: 1) { totalCount } } }",
        "{ me { books(first: 1, statuses: [READ, PAUSED]) { totalCount } } }",
        "{ me { shelves { bookCount } } }",
        "{ me { lentCopies(first: 5) { nodes { place loan { borrower dueOn } } } } }",
        "{ me { stats { bookCount wantToRead reading read paused didNotFinish } } }",
    ])
    func aCountReadsACounter(query: String) async throws {
        try await Self.expectSamePages(query) { _ in .null }
    }

    /// The lists of authors have 10 rows, because the small library has only 25 authors.
    @Test(arguments: [
        "stats { totals { finishedReads finishedBooks abandonedReads pages hours } }",
        "stats { reviewCount averageRating ratings { stars bookCount } }",
        "stats { readByYear { year bookCount } readByMonth(year: 2022) { month readCount pages hours } }",
        "stats { days(year: 2022) { date entryCount } }",
        "stats { readByGenre { genre readCount } readByAuthor(first: 10) { author { name } readCount } readByMood { mood readCount } }",
        "stats { readByFormat { format readCount pages } longestBook { id } shortestBook { id } }",
        "yearInReview(year: 2022) { totals { finishedReads finishedBooks pages hours } previousTotals { finishedReads } }",
        "yearInReview(year: 2022) { byMonth { month readCount } topGenres { genre readCount } byFormat { format readCount } }",
        "yearInReview(year: 2022) { averageRating ratings { stars bookCount } longestBook { id } shortestBook { id } }",
        "yearInReview(year: 2022) { firstRead { id } lastRead { id } }",
        "readingGoals { progress isOnTrack }",
    ])
    func statisticsReadCounts(selection: String) async throws {
        try await Self.expectSamePages("{ me { \(selection) } }") { _ in .null }
    }

    /// Writes of many rows of a reader read as many pages for each row as writes of few. With a trigger for each row, four times as many
    /// updated reads read ten times as many pages.
    @Test(arguments: [
        "UPDATE reads SET finished_on = '2023-01-01', updated_at = now()",
        "UPDATE reviews SET quarter_stars = 8, updated_at = now()",
        "UPDATE books SET page_count = 5, updated_at = now()",
        "UPDATE books SET status = 'PAUSED', updated_at = now()",
        "DELETE FROM reviews", "DELETE FROM reads", "DELETE FROM books", "DELETE FROM shelves",
    ])
    func writesOfManyRowsAreLinear(sql: String) async throws {
        let app = try await TestApp.start(catalog: [], { $0.connectionCount = 1 })
        var pages: [Int] = []
        for count in [1000, 4000] {
            let reader = try await app.makeReader()
            try await Self.fill(reader, count)
            try await app.database.execute("ANALYZE")
            let before = try await Self.pagesRead(app)
            let user = reader.id.string ?? ""
            try await app.database.withConnection { connection in
                try connection.execute("\(sql) WHERE user_id = '\(user)'")
                try connection.execute("SELECT pg_stat_force_next_flush()")
            }
            pages.append(try await Self.pagesRead(app) - before)
        }
        #expect(pages[1] <= 5 * pages[0], "\(pages) pages: \(sql)")
    }
}
