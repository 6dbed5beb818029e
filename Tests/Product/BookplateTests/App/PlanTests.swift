import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// The indexes that requests read, and how much of them.
///
/// PostgreSQL's counters contain all statements of a request, as the server sends them, and those of functions and policies.
@Suite struct PlanTests {
    private static let library = 1_500

    /// 2,500 books in the catalog, 1,000 readers, 200 of whom have 100 books, and one reader with 1,500 books and 3,000 entries in the log.
    private static let reader = Shared {
        let app = try await TestApp.start(
            catalog: TestCatalog.lines(2500), { $0.connectionCount = 1 })
        let reader = try await app.makeReader()
        let id = reader.id.string ?? ""
        try await app.database.execute(
            """
            -- VACUUM does not mark pages with rows of commits that are not on disk yet.
            SET synchronous_commit = on;
            SET app.bulk = 'on';
            INSERT INTO users (id, tenant_id) SELECT gen_random_uuid(), tenant_id FROM users, generate_series(1, 1000);
            INSERT INTO books (user_id, id, edition_id, isbn13, title, status, added_at)
            SELECT u.id, gen_random_uuid(), e.id, e.isbn13, e.title, ('{WANT_TO_READ,READING,READ}'::reading_status[])[1 + e.n % 3],
                now() - e.n * interval '1 hour'
            FROM (SELECT id, row_number() OVER () AS n FROM users) u
            JOIN (
                SELECT id, isbn13, title, row_number() OVER (ORDER BY popularity DESC) AS n
                FROM editions
            ) e ON e.n <= CASE WHEN u.id = '\(id)' THEN \(library) WHEN u.n <= 200 THEN 100 ELSE 0 END;
            INSERT INTO changes (user_id, seq, kind, typename, id, at)
            SELECT user_id, row_number() OVER (PARTITION BY user_id, kind ORDER BY added_at)
                + CASE kind WHEN 'UPDATED' THEN 10000 ELSE 0 END, kind, 'Book', id, now() - interval '1 hour'
            FROM books, unnest('{CREATED,UPDATED}'::change_kind[]) AS kind;
            RESET app.bulk
            """)
        try await vacuum(
            ["users", "books", "listed_books", "changes", "editions"], of: app.database)
        return reader
    }

    /// 12,000 readers with one book, and one reader with 5,000 books, which are all on a shelf, and have a read, a review, and an
    /// entry in the log.
    private static let readerAmongTinyLibraries = Shared {
        let app = try await TestApp.start({ $0.connectionCount = 1 })
        let reader = try await app.makeReader()
        let id = reader.id.string ?? ""
        try await app.database.execute(
            """
            -- VACUUM does not mark pages with rows of commits that are not on disk yet.
            SET synchronous_commit = on;
            SET app.bulk = 'on';
            INSERT INTO users (id, tenant_id) SELECT gen_random_uuid(), tenant_id FROM users, generate_series(1, 12000);
            INSERT INTO books (user_id, id, title, added_at)
            SELECT u.id, gen_random_uuid(), 'Book ' || n, now() - n * interval '1 hour'
            FROM users u
            CROSS JOIN LATERAL generate_series(1, CASE WHEN u.id = '\(id)' THEN 5000 ELSE 1 END) n;
            INSERT INTO reads (user_id, id, book_id, outcome) SELECT user_id, gen_random_uuid(), id, 'READING' FROM books;
            INSERT INTO reviews (user_id, id, book_id, quarter_stars) SELECT user_id, gen_random_uuid(), id, 12 FROM books;
            INSERT INTO shelves (user_id, id, name, position) SELECT DISTINCT user_id, gen_random_uuid(), 'All', 100 FROM (SELECT DISTINCT user_id FROM books) b;
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT b.user_id, s.id, b.id, b.added_at
            FROM books b
            JOIN shelves s ON s.user_id = b.user_id AND s.name = 'All';
            INSERT INTO changes (user_id, seq, kind, typename, id, at)
            SELECT user_id, row_number() OVER (PARTITION BY user_id ORDER BY added_at), 'CREATED', 'Book', id, now() - interval '1 hour'
            FROM books;
            RESET app.bulk
            """)
        try await vacuum(
            [
                "users", "books", "listed_books", "reads", "reviews", "shelves", "shelf_books",
                "changes",
            ],
            of: app.database)
        return reader
    }

    private static func vacuum(_ tables: [String], of database: TestDatabase) async throws {
        for table in tables {
            // VACUUM does not mark pages with rows that a transaction in progress may not see.
            try await waitUntil("all pages of \(table) are visible") {
                try await database.execute("VACUUM (ANALYZE) \(table)")
                return try await database.count(
                    "SELECT relpages - relallvisible FROM pg_class WHERE oid = '\(table)'::regclass"
                ) == 0
            }
        }
    }

    /// Tables and indexes that executions of a request have read.
    private struct Reads: CustomStringConvertible {
        /// The tables with sequential scans.
        var sequential: Set<String> = []
        /// The indexes with scans, and the entries that one execution has read, rounded up.
        var entries: [String: Int] = [:]
        /// The tables with rows that were found by indexes, and the rows that one execution has read, rounded up.
        var rows: [String: Int] = [:]

        var description: String {
            "sequential scans: \(sequential.sorted()), entries: \(entries), rows: \(rows)"
        }

        /// The largest number of entries that one execution has read from an index of a table with many rows.
        var entriesMax: Int { entries.values.max() ?? 0 }
    }

    /// The tables that have many rows. PostgreSQL reads a table of a few pages without an index.
    private static let tables =
        """
        'users', 'books', 'listed_books', 'library_counts', 'editions', 'changes', 'search_words', 'reads', 'reviews', 'shelves', 'shelf_books', 'progress_entries'
        """

    private static func counters(
        _ database: TestDatabase
    ) async throws -> [String: (scans: Int, entries: Int)] {
        let rows = try await database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT relname, seq_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE relname IN (\(tables))
                UNION ALL
                SELECT relname || '.' || indexrelname, idx_scan, idx_tup_read
                FROM pg_stat_user_indexes WHERE relname IN (\(tables))
                """)
            return (0..<rows.count).map {
                (rows.text($0, 0) ?? "", rows.int64($0, 1) ?? 0, rows.int64($0, 2) ?? 0)
            }
        }
        return Dictionary(
            rows.map { ($0.0, (scans: Int($0.1), entries: Int($0.2))) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Executes a request a few times, and returns what one execution has read.
    private func reads(of query: String, _ variables: Value = .null) async throws -> Reads {
        try await reads(of: query, variables, by: Self.reader())
    }

    private func reads(
        of query: String, _ variables: Value = .null, by reader: TestReader
    ) async throws -> Reads {
        let runs = 3
        // The deck, the genres, and other data that the server caches or prepares.
        _ = try await reader.execute(query, variables)
        try await Self.flush(reader.app)
        let before = try await Self.counters(reader.app.database)
        for _ in 0..<runs {
            let response = try await reader.execute(query, variables)
            #expect(response.code == nil, "\(response.json)")
        }
        try await Self.flush(reader.app)
        var reads = Reads()
        for (name, after) in try await Self.counters(reader.app.database) {
            let scans = after.scans - (before[name]?.scans ?? 0)
            let entries = after.entries - (before[name]?.entries ?? 0)
            let perExecution = (entries + runs - 1) / runs
            if let dot = name.firstIndex(of: ".") {
                if scans > 0 {
                    reads.entries[String(name[name.index(after: dot)...])] = perExecution
                }
            } else {
                if scans > 0 { reads.sequential.insert(name) }
                reads.rows[name] = perExecution
            }
        }
        return reads
    }

    /// Makes the only connection of the server report its counters, which it otherwise does about once per second.
    private static func flush(_ app: TestApp) async throws {
        _ = try await app.pool.run(.one(Statement("SELECT pg_stat_force_next_flush()")))
    }

    private static let library20 = """
        query($after: String) { me { books(first: 20, after: $after) { nodes { id title status } pageInfo { endCursor } } } }
        """

    @Test func aPageOfTheLibraryIsReadFromItsIndex() async throws {
        let first = try await reads(of: Self.library20)
        #expect(first.sequential == [], "\(first)")
        #expect(
            first.entries["listed_books_added_at"].map { (20...25).contains($0) } == true,
            "\(first)")
        #expect(first.entriesMax <= 25, "\(first)")
        let reader = try await Self.reader()
        let cursor = try await reader.requireValue(
            Self.library20, .null, "me", "books", "pageInfo", "endCursor")
        let second = try await reads(of: Self.library20, ["after": cursor])
        #expect(second.sequential == [], "\(second)")
        #expect(second.entries["listed_books_added_at"].map { $0 <= 25 } == true, "\(second)")
        #expect(second.entriesMax <= 25, "\(second)")
    }

    @Test func aCountOfTheLibraryReadsOnlyAnIndex() async throws {
        let reads = try await reads(of: "{ me { books(first: 1) { totalCount } } }")
        #expect(reads.sequential.subtracting(["library_counts"]) == [], "\(reads)")
        #expect(reads.entriesMax <= Self.library + 5, "\(reads)")
        #expect(reads.rows["books"].map { $0 <= 5 } == true, "\(reads)")
    }

    @Test func aBookIsReadByItsKey() async throws {
        let reader = try await Self.reader()
        let id = try await reader.requireValue(
            Self.library20, .null, "me", "books", "nodes", 7, "id")
        let reads = try await reads(
            of: "query($id: ID!) { book(id: $id) { id title card { id title } } }", ["id": id])
        #expect(reads.sequential == [], "\(reads)")
        #expect(reads.entries["books_pkey"].map { $0 <= 3 } == true, "\(reads)")
        #expect(reads.entries["editions_pkey"].map { $0 <= 3 } == true, "\(reads)")
        #expect(reads.entriesMax <= 3, "\(reads)")
    }

    @Test func aPageOfChangesIsReadByItsKey() async throws {
        let query = """
            query($after: String) {
              changes(after: $after, first: 50) { changes { kind node { ... on Book { id title } } } pageInfo { endCursor } }
            }
            """
        let reader = try await Self.reader()
        let cursor = try await reader.requireValue(query, .null, "changes", "pageInfo", "endCursor")
        for after in [Value.null, cursor] {
            let reads = try await reads(of: query, ["after": after])
            #expect(reads.sequential == [], "\(reads)")
            #expect(
                reads.entries["changes_pkey"].map { (50...60).contains($0) } == true, "\(reads)")
            #expect(reads.entries["books_pkey"].map { (50...60).contains($0) } == true, "\(reads)")
            #expect(reads.entriesMax <= 60, "\(reads)")
        }
    }

    @Test func aPageOfTheFeedLooksUpItsCards() async throws {
        let query = """
            query($after: String) { feed(first: 10, after: $after) { nodes { id title } pageInfo { endCursor } } }
            """
        let reader = try await Self.reader()
        let cursor = try await reader.requireValue(query, .null, "feed", "pageInfo", "endCursor")
        for after in [Value.null, cursor] {
            let reads = try await reads(of: query, ["after": after])
            #expect(reads.sequential == [], "\(reads)")
            #expect(
                reads.entries["editions_pkey"].map { (10...30).contains($0) } == true, "\(reads)")
            #expect(reads.entriesMax <= 30, "\(reads)")
        }
    }

    /// All titles contain the word "card", and one the number.
    @Test(arguments: ["card 2217", "2217 crad", "card"])
    func aSearchReadsCandidatesFromTheIndexes(words: String) async throws {
        let reads = try await reads(
            of:
                "query($words: String!) { search(query: $words, first: 10) { nodes { id title } } }",
            ["words": .string(words)])
        // The words of this catalog are on a few pages.
        #expect(reads.sequential.subtracting(["search_words"]) == [], "\(reads)")
        #expect(reads.entries["search_words_pkey"] != nil, "\(reads)")
        #expect(reads.entries["editions_search_title"] != nil, "\(reads)")
        #expect(reads.entries["editions_pkey"].map { $0 <= 600 } == true, "\(reads)")
        #expect(
            reads.entries["editions_search_vector"] != nil
                || reads.entries["editions_popularity"] != nil, "\(reads)")
    }

    // MARK: - A large library among tiny ones

    /// The objects of a page of 50 changes, and a list of 50 ids.
    @Test func rowsOfIDsAreReadByTheirKeyAmongTinyLibraries() async throws {
        let reader = try await Self.readerAmongTinyLibraries()
        let changes = "{ changes(first: 50) { changes { node { ... on Book { id title } } } } }"
        let ofChanges = try await reads(of: changes, by: reader)
        #expect(ofChanges.sequential == [], "\(ofChanges)")
        #expect(Set(ofChanges.entries.keys) == ["changes_pkey", "books_pkey"], "\(ofChanges)")
        #expect(ofChanges.entriesMax <= 60, "\(ofChanges)")

        let page = try await reader.requireValue(
            "{ me { books(first: 50) { nodes { id } } } }", .null, "me", "books", "nodes")
        let ids = page.list?.compactMap { $0["id"] } ?? []
        let nodes = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Book { id title } } }"
        let ofNodes = try await reads(of: nodes, ["ids": .list(ids)], by: reader)
        // The objects of other types with these ids are looked up, too. The catalog is empty.
        #expect(
            ofNodes.sequential.subtracting(["editions", "progress_entries"]) == [], "\(ofNodes)")
        #expect(ofNodes.entries["books_pkey"] == 50, "\(ofNodes)")
        #expect(ofNodes.entriesMax == 50, "\(ofNodes)")
        #expect(
            Self.orderedIndexes.isDisjoint(with: ofNodes.entries.keys), "\(ofNodes)")
    }

    /// PostgreSQL can compare each entry of these indexes with an id. The counters do not contain the entries that differ.
    private static let orderedIndexes: Set = [
        "books_added_at", "listed_books_added_at", "reads_of_user", "reviews_created_at",
        "reviews_quarter_stars",
    ]

    /// The related rows of one book and of a page of books.
    @Test func relatedRowsAreReadByTheirKeyAmongTinyLibraries() async throws {
        let reader = try await Self.readerAmongTinyLibraries()
        let id = try await reader.requireValue(
            Self.library20, .null, "me", "books", "nodes", 7, "id")
        let fields = """
            id shelves { name } review { id } currentRead { id } reads(first: 2) { nodes { id book { id } } }
            """
        let indexes: Set = [
            "books_pkey", "shelf_books_of_book", "shelves_pkey", "reviews_pkey", "reads_open",
            "reads_of_book",
        ]
        let ofBook = try await reads(
            of: "query($id: ID!) { book(id: $id) { \(fields) } }", ["id": id], by: reader)
        #expect(ofBook.sequential == [], "\(ofBook)")
        #expect(Set(ofBook.entries.keys) == indexes, "\(ofBook)")
        #expect(ofBook.entriesMax <= 3, "\(ofBook)")

        let ofPage = try await reads(
            of: "{ me { books(first: 20) { nodes { \(fields) } } } }", by: reader)
        #expect(ofPage.sequential == [], "\(ofPage)")
        #expect(
            Set(ofPage.entries.keys) == indexes.union(["listed_books_added_at", "users_pkey"]),
            "\(ofPage)")
        // A page reads up to 21 entries of each status.
        #expect(ofPage.entriesMax <= 45, "\(ofPage)")
    }

    /// A statement has one plan for libraries of all sizes.
    @Test func tablesWithSeveralIndexesExpectManyRowsOfAUser() async throws {
        let reader = try await Self.readerAmongTinyLibraries()
        let tables = try await reader.app.database.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT a.attrelid::regclass::text
                FROM pg_attribute a
                JOIN pg_class t ON t.oid = a.attrelid AND t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
                WHERE a.attname = 'user_id'
                    AND 1 < (
                        SELECT count(*)
                        FROM pg_index i
                        WHERE i.indrelid = t.oid AND i.indkey[0] = a.attnum AND i.indpred IS NULL
                    )
                    AND (a.attoptions && '{n_distinct=-0.01,n_distinct=-0.0001}') IS NOT TRUE
                """)
            return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }
        #expect(
            tables.sorted() == [],
            "a migration must set n_distinct of user_id, as that of books does")
    }
}
