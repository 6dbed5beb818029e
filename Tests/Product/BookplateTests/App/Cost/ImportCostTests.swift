import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// The cost of an import and of an export for each book does not grow with the library.
///
/// The work is counted in pages of the database, and in rows that are read and written.
@Suite struct ImportCostTests {
    /// The number of records of a chunk, as in `ImportLibrary`.
    private static let chunk = 500
    /// A file has this many chunks.
    private static let chunks = 8

    /// Returns the records of a chunk of another application. Each book is on two shelves, read, and rated.
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

    /// Returns the records of a chunk of an archive: books with a copy, a document, and a position. The progress entries and the notes are
    /// all of the first book.
    private static func archiveRecords(_ number: Int) -> String {
        let count = chunk / 5
        return """
            (
                SELECT jsonb_agg(r.record || jsonb_build_object('line', n) ORDER BY r.kind, n)
                FROM generate_series(\(number * count + 1), \((number + 1) * count)) n
                CROSS JOIN LATERAL (SELECT md5('book ' || n)::uuid AS book, md5('read ' || n)::uuid AS read) i
                CROSS JOIN LATERAL (
                    VALUES
                        (1, jsonb_build_object('book', jsonb_build_object(
                            'id', i.book, 'isIdentified', true, 'isArchived', true, 'title', 'The title ' || n,
                            'authors', ARRAY['Author'], 'authorRoles', ARRAY['AUTHOR'], 'status', 'READING', 'pageCount', 500,
                            'addedAt', '2024-01-01T00:00:00Z', 'shelves', ARRAY['all'],
                            'reads', jsonb_build_array(jsonb_build_object('id', i.read, 'outcome', 'READING')),
                            'copies', jsonb_build_array(jsonb_build_object('id', md5('copy ' || n)::uuid, 'format', 'PRINT'))
                        ))),
                        (2, jsonb_build_object('progress', jsonb_build_object(
                            'id', md5('entry ' || n)::uuid, 'readId', md5('read 1')::uuid, 'at', '2024-01-01T00:00:00Z', 'page', 1 + n % 500
                        ))),
                        (3, jsonb_build_object('note', jsonb_build_object(
                            'id', md5('note ' || n)::uuid, 'bookId', md5('book 1')::uuid, 'text', 'A note', 'createdAt', '2024-01-01T00:00:00Z'
                        ))),
                        (4, jsonb_build_object('document', jsonb_build_object(
                            'id', md5('document ' || n)::uuid, 'hash', md5('file ' || n), 'bookId', i.book, 'progress', '1',
                            'percent', 5, 'deviceName', 'A device', 'syncedAt', '2024-01-01T00:00:00Z'
                        ))),
                        (5, jsonb_build_object('position', jsonb_build_object(
                            'bookId', i.book, 'modifiedAt', '2024-01-01T00:00:00Z', 'percent', 5, 'deviceId', 'urn:uuid:1',
                            'deviceName', 'A device'
                        )))
                ) AS r (kind, record)
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
            (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables)::int,
            (
                SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)
                FROM pg_stat_user_tables
                -- Not those that other connections may have written before.
                WHERE relname IN (
                    'books', 'listed_books', 'shelf_books', 'shelves', 'reviews', 'reads', 'book_copies', 'progress_entries', 'notes',
                    'ereader_documents', 'ereader_positions', 'changes'
                )
            )::int
        """

    private struct Work {
        var pages: [Int] = []
        var rowsRead: [Int] = []
        var rowsWritten: [Int] = []
    }

    /// A new reader, and a connection that acts for the reader.
    private struct Importer {
        let connection: AdminConnection
        let user: String

        init(_ connection: AdminConnection, _ reader: TestReader) throws {
            self.connection = connection
            user = reader.id.string ?? ""
            try connection.execute(
                """
                SET app.user_id = '\(user)';
                SET jit = off;
                SET plan_cache_mode = force_generic_plan
                """)
        }

        func counts() throws -> (pages: Int, read: Int, written: Int) {
            try connection.execute("SELECT pg_stat_force_next_flush()")
            let row = try connection.query(counters)
            return (Int(row.int32(0, 0) ?? 0), Int(row.int32(0, 1) ?? 0), Int(row.int32(0, 2) ?? 0))
        }

        /// Imports a file, and returns the work for each chunk.
        func importFile(
            _ name: String, format: String, _ records: (_ chunk: Int) -> String
        ) throws -> Work {
            try connection.execute(
                """
                INSERT INTO imports (user_id, id, format, state, content_hash)
                VALUES ('\(user)', md5('\(name)')::uuid, '\(format)', 'RUNNING', convert_to('\(name)', 'UTF8'))
                """)
            var work = Work()
            for number in 0..<chunks {
                let before = try counts()
                try connection.execute(
                    "SELECT import_records(md5('\(name)')::uuid, \(number * chunk), \(records(number)))"
                )
                let after = try counts()
                work.pages.append(after.pages - before.pages)
                work.rowsRead.append(after.read - before.read)
                work.rowsWritten.append(after.written - before.written)
            }
            return work
        }
    }

    @Test func aChunkReadsItsBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let (first, again, exported) = try await app.database.withConnection(as: TestCluster.app) {
            connection in
            let importer = try Importer(connection, reader)
            let first = try importer.importFile("first", format: "GOODREADS", Self.records)
            let again = try importer.importFile("again", format: "GOODREADS", Self.records)
            // The first page of an export, and one after four fifths of the books.
            try connection.execute("PREPARE page AS \(ExportedBook.page.statement.text)")
            let exported = try ["NULL", "'cccccccc-cccc-cccc-cccc-cccccccccccc'"].map { last in
                let before = try importer.counts()
                try connection.execute("EXECUTE page('\(importer.user)', \(last), 100, NULL)")
                return try importer.counts().pages - before.pages
            }
            return (first, again, exported)
        }
        let count = "SELECT count(*) FROM"
        #expect(try await app.database.count("\(count) books") == Self.chunks * Self.chunk)
        #expect(
            try await app.database.count("\(count) shelf_books") == 2 * Self.chunks * Self.chunk)
        #expect(try await app.database.count("\(count) import_failures") == 0)
        // A book on two shelves with a review and a read is about nine rows with some thirty index entries.
        #expect(first.pages[7] <= first.pages[2] * 3 / 2, "\(first)")
        #expect(first.pages[7] <= 300 * Self.chunk, "\(first)")
        #expect(first.rowsWritten[7] <= 16 * Self.chunk, "\(first)")
        // The library had 1,000 books before the third chunk, and 3,500 before the last one.
        #expect(first.rowsRead[7] <= first.rowsRead[2] + 1_000, "\(first)")
        // The library has all that the second import brings.
        #expect(again.pages[7] <= 60 * Self.chunk, "\(again)")
        #expect(again.rowsRead[7] <= again.rowsRead[0] + 1_000, "\(again)")
        #expect(again.rowsWritten.allSatisfy { $0 == 0 }, "\(again)")
        #expect(exported[1] <= exported[0] * 3 / 2, "\(exported)")
    }

    @Test func aChunkOfAnArchiveReadsItsRecords() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let (first, again) = try await app.database.withConnection(as: TestCluster.app) {
            connection in
            let importer = try Importer(connection, reader)
            return (
                try importer.importFile("first", format: "BOOKPLATE", Self.archiveRecords),
                try importer.importFile("again", format: "BOOKPLATE", Self.archiveRecords)
            )
        }
        for table in [
            "books", "reads", "book_copies", "progress_entries", "notes", "ereader_documents",
            "ereader_positions",
        ] {
            let count = try await app.database.count("SELECT count(*) FROM \(table)")
            #expect(count == Self.chunks * Self.chunk / 5, "\(table)")
        }
        // The library had 400 books before the fifth chunk, and 700 before the last one. The notes and documents of the reader, the
        // notes of the book, and the entries of the read are counted once, because their number is limited. The fifth chunk is the first after which the change log is as long as what a chunk reads of it.
        #expect(first.rowsRead[7] <= first.rowsRead[4] + 6 * 300, "\(first)")
        #expect(again.rowsRead[7] <= again.rowsRead[0] + 250, "\(again)")
        #expect(again.rowsWritten.allSatisfy { $0 == 0 }, "\(again)")
    }
}
