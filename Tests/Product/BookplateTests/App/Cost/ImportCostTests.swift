import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// The cost of an import and of an export for each book does not grow with the library.
///
/// The work is counted in pages of the database, and in written rows.
@Suite struct ImportCostTests {
    /// The number of books of a chunk, as in `ImportLibrary`.
    private static let chunk = 500

    /// Returns the records of a chunk. Each book is on two shelves, and most of them are read and rated.
    private static func records(_ number: Int) -> String {
        """
        (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'line', n,
                    'book', jsonb_build_object(
                        'id', md5('book ' || n)::uuid, 'title', 'The title ' || n, 'authors', ARRAY['Author ' || n % 90],
                        'authorRoles', ARRAY['AUTHOR'], 'isbn13', '978' || lpad(n::text, 10, '0'), 'pageCount', 100 + n % 400,
                        'status', 'READ', 'shelves', ARRAY['shelf ' || n % 7, 'all'], 'quarterStars', 1 + n % 20,
                        'addedOn', '2020-02-03',
                        'reads', jsonb_build_array(
                            jsonb_build_object('outcome', 'FINISHED', 'finishedOn', '2020-03-' || 10 + n % 20)
                        )
                    )
                )
            )
            FROM generate_series(\(number * chunk + 1), \((number + 1) * chunk)) n
        )
        """
    }

    private static let counters = """
        SELECT
            (
                SELECT sum(
                    heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0)
                        + coalesce(toast_blks_read, 0) + coalesce(toast_blks_hit, 0)
                )
                FROM pg_statio_user_tables
            )::int,
            (
                SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)
                FROM pg_stat_user_tables
                WHERE relname NOT IN ('imports', 'import_failures')
            )::int
        """

    @Test func aChunkReadsItsBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let user = reader.id.string ?? ""
        let (pages, rows, exported) = try await app.database.withConnection(as: TestCluster.app) {
            connection in
            var pages: [Int] = []
            var rows: [Int] = []
            var exported: [Int] = []
            try connection.execute(
                """
                SET app.user_id = '\(user)';
                SET jit = off;
                SET plan_cache_mode = force_generic_plan
                """)
            func read() throws -> (Int, Int) {
                try connection.execute("SELECT pg_stat_force_next_flush()")
                let row = try connection.query(Self.counters)
                return (Int(row.int32(0, 0) ?? 0), Int(row.int32(0, 1) ?? 0))
            }
            // The second import has the same records.
            for number in Array(0..<8) + Array(0..<8) {
                if number == 0 {
                    try connection.execute(
                        """
                        INSERT INTO imports (user_id, id, format, state, content_hash)
                        VALUES (
                            '\(user)', md5('import \(pages.count)')::uuid, 'GOODREADS', 'RUNNING',
                            convert_to('\(pages.count)', 'UTF8')
                        )
                        """)
                }
                let before = try read()
                try connection.execute(
                    """
                    SELECT import_records(
                        md5('import \(pages.count < 8 ? 0 : 8)')::uuid, \(number * Self.chunk), \(Self.records(number))
                    )
                    """)
                let after = try read()
                pages.append(after.0 - before.0)
                rows.append(after.1 - before.1)
            }
            // The first page of an export, and one after four fifths of the books.
            try connection.execute("PREPARE page AS \(ExportedBook.page.statement.text)")
            for last in ["NULL", "'cccccccc-cccc-cccc-cccc-cccccccccccc'"] {
                let before = try read()
                try connection.execute("EXECUTE page('\(user)', \(last), 100, NULL)")
                exported.append(try read().0 - before.0)
            }
            return (pages, rows, exported)
        }
        let count = "SELECT count(*) FROM"
        #expect(try await app.database.count("\(count) books") == 8 * Self.chunk)
        #expect(try await app.database.count("\(count) shelf_books") == 16 * Self.chunk)
        #expect(try await app.database.count("\(count) import_failures") == 0)
        // A book on two shelves with a review and a read is about nine rows with some thirty index entries.
        #expect(pages[7] <= pages[2] * 3 / 2 && pages[7] <= 300 * Self.chunk, "\(pages)")
        #expect(rows[7] <= 16 * Self.chunk, "\(rows)")
        // The library has all that the second import brings.
        #expect(pages[15] <= 60 * Self.chunk, "\(pages)")
        #expect(exported[1] <= exported[0] * 3 / 2, "\(exported)")
        #expect(rows[8...].allSatisfy { $0 == 0 }, "\(rows)")
    }
}
