import EventLoops
import GraphQL
import JobQueue
import Postgres
import Requests

/// Imports the records of an uploaded file into a library, in batches.
///
/// Each transaction stores a batch of records together with the number of records stored so far. If a worker fails, the
/// next attempt continues after the last batch.
struct ImportLibrary: JobHandler {
    static let kind = "library.import"
    static let settings = JobSettings(
        concurrency: 2, readerConcurrency: 1, attemptsMax: 20, timeout: .seconds(1800),
        retryDelay: .seconds(1))

    /// The threads that read files for jobs, by reader. Requests have others, so that they do not wait for jobs.
    private static let threads = WorkThreads<UUID>(waitingOfKeyMax: 4, waitingMax: 64)

    let covers: Covers
    /// Whether any source of covers is configured, so that covers of new books can be searched.
    var canSearch = false

    struct Payload: Codable, Sendable {
        let importID: UUID
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        let storedImport = StoredImport(importID: payload.importID, user: user, job: job)
        do throws(JobError) {
            try await run(storedImport)
        } catch {
            if job.isLastAttempt, !Task.isCancelled {
                let reason = "Something went wrong on our side. Import the file again."
                try await storedImport.end(as: "FAILED", reason: reason)
            }
            throw error
        }
    }

    private func run(_ storedImport: StoredImport) async throws(JobError) {
        guard let row = try await storedImport.row(),
            let format = ImportFormat(rawValue: row.format)
        else { return }
        let result = try await onThread(of: storedImport) {
            Result { () throws(BookplateError) in try FileReading(row, format) }
        }
        let reading: FileReading
        do throws(BookplateError) {
            reading = try result.get()
        } catch {
            return try await storedImport.end(as: "FAILED", reason: error.message)
        }
        guard reading.survey.total <= ImportFile.recordsMax else {
            return try await storedImport.end(as: "FAILED", reason: ImportFile.tooManyRecords)
        }
        try await storedImport.begin(reading.survey)
        try await store(reading, from: Int(row.done), storedImport)
        if format == .bookplate { try await storedImport.linkBooks() }
        try await storedImport.job.write {
            $0.replaceDeckSoon(of: storedImport.user)
        }
        try await storeCovers(of: reading.file, storedImport)
        try await storedImport.end(as: "DONE", reason: nil)
    }

    /// Runs a part of the reading of a file on the threads for it.
    private func onThread<Value: Sendable>(
        of storedImport: StoredImport, _ work: @escaping @Sendable () -> Value
    ) async throws(JobError) -> Value {
        guard let value = await Self.threads.run(for: storedImport.user, work) else {
            throw .retry("Too many files are being read.")
        }
        return value
    }

    /// Stores the records from the index `start` on, and requests covers for new books that have none in the archive.
    ///
    /// While the database stores a batch, the next one is read.
    private func store(
        _ reading: FileReading, from start: Int, _ storedImport: StoredImport
    ) async throws(JobError) {
        try await onThread(of: storedImport) { reading.skip(start) }
        var index = start
        var batch = try await nextBatch(of: reading, storedImport).get()
        while !batch.isEmpty {
            if Task.isCancelled { throw .retry("The server stopped.") }
            async let next = nextBatch(of: reading, storedImport)
            try await store(batch, at: index, storedImport)
            index += batch.count
            batch = try await next.get()
        }
    }

    private func nextBatch(
        of reading: FileReading, _ storedImport: StoredImport
    ) async -> Result<[Value], JobError> {
        let searchesCovers = canSearch
        do throws(JobError) {
            return .success(
                try await onThread(of: storedImport) {
                    reading.nextBatch(searchesCovers: searchesCovers)
                })
        } catch {
            return .failure(error)
        }
    }

    private func store(
        _ batch: [Value], at index: Int, _ storedImport: StoredImport
    ) async throws(JobError) {
        let storedCounts = try await storedImport.job.write { pipeline in
            var parameters = Parameters.of(storedImport.importID)
            parameters.append(int32: Int32(clamping: index))
            parameters.append(jsonb: .list(batch))
            let storedCount = pipeline.append(StoredImport.store, parameters)
            if canSearch { pipeline.enqueueCoverSearches(.background) }
            return storedCount
        }
        guard storedCounts.first == Int32(clamping: index + batch.count) else {
            throw .retry("Another worker has already stored these records.")
        }
    }

    /// Stores the covers of the archive for books that have no cover.
    private func storeCovers(of file: ImportFile, _ storedImport: StoredImport)
        async throws(JobError)
    {
        var failedCount = 0
        for (book, bytes) in file.covers {
            if Task.isCancelled { throw .retry("The server stopped.") }
            guard try await storedImport.needsCover(book) else { continue }
            let staged: StagedCover
            do throws(BookplateError) {
                staged = try await covers.stage(
                    covers.decode(.memory(bytes)), user: storedImport.user, book: book,
                    source: .manualUpload
                )
            } catch .rateLimited {
                throw .retry("Too many images are being processed.")
            } catch {
                failedCount += 1
                continue
            }
            do throws(JobError) {
                let versions = try await storedImport.job.write { staged.append(to: &$0) }
                await covers.settle(staged, kept: versions.first)
            } catch {
                await covers.settle(staged, failed: error)
                throw error
            }
        }
        guard failedCount > 0 else { return }
        try await storedImport.recordFailure("\(failedCount) covers could not be stored.")
    }
}

/// A file that is being imported. It is read on `ImportLibrary.threads`.
private final class FileReading: @unchecked Sendable {
    // Sendable because the job uses it in one computation at a time.

    /// The number of records stored in one transaction.
    private static let batchMax = 500
    /// A batch ends after the record with which it has this many reads.
    private static let batchReadsMax = 2_000
    /// A batch ends after the book with which its long texts have this many bytes.
    private static let batchBytesMax = 2_000_000

    let file: ImportFile
    let survey: ImportFile.Survey
    private var records: ImportRecords
    private let booksWithCovers: Set<UUID>

    /// - Throws: `.badUserInput` if no library can be read from the file.
    init(_ row: StoredImport.Row, _ format: ImportFormat) throws(BookplateError) {
        file = try ImportFile(row.content, format: format)
        survey = file.survey()
        records = file.records(dayOrder: survey.dayOrder)
        booksWithCovers = Set(file.covers.map(\.book))
    }

    func skip(_ count: Int) {
        for _ in 0..<count { _ = records.next() }
    }

    /// Returns the next records as JSON; none at the end.
    ///
    /// - Parameter searchesCovers: Whether covers are searched for new books that have none in the archive.
    func nextBatch(searchesCovers: Bool) -> [Value] {
        var batch: [Value] = []
        var readCount = 0
        var byteCount = 0
        while batch.count < Self.batchMax, readCount < Self.batchReadsMax,
            byteCount < Self.batchBytesMax, var record = records.next()
        {
            if case .book(var book) = record.content {
                readCount += book.reads.count
                for text in [book.description, book.review?.text, book.privateNotes] {
                    byteCount += text?.utf8.count ?? 0
                }
                book.wantsCover = searchesCovers && !booksWithCovers.contains(book.id)
                record.content = .book(book)
            }
            batch.append(record.json)
        }
        return batch
    }
}

/// The import in the database, as the job accesses it.
private struct StoredImport {
    let importID: UUID
    let user: UUID
    let job: JobContext

    struct Row: RowDecodable {
        let format: String
        let content: [UInt8]
        /// The number of records that are stored.
        let done: Int32

        init?(_ row: inout RowReader) {
            guard let format = row.text(), let content = row.bytes() else { return nil }
            self.format = format
            self.content = content
            done = row.int32() ?? 0
        }
    }

    /// Returns the import's file and progress; nil if the import has ended.
    func row() async throws(JobError) -> Row? {
        try await job.read { $0.append(Self.select, .of(user, importID)) }.first
    }

    func begin(_ survey: ImportFile.Survey) async throws(JobError) {
        try await job.write { pipeline in
            var parameters = Parameters.of(user, importID)
            parameters.append(int32: Int32(clamping: survey.total))
            parameters.append(
                texts: survey.ignoredColumns.prefix(ImportFile.ignoredColumnsMax).map {
                    String($0.prefix(ImportFile.columnCharactersMax))
                })
            pipeline.append(Self.begin, parameters)
        }
    }

    /// Returns whether the library has the book, and the book has no cover.
    func needsCover(_ book: UUID) async throws(JobError) -> Bool {
        let (results, found) = try await job.read {
            $0.appendForRows(Self.findBookWithoutCover, .of(user, book))
        }
        return results[found].count > 0
    }

    /// Links the books without a card to the catalog. An archive of another server has cards that this one does not know.
    ///
    /// It comes after all books of the archive, so that no book takes the card of another.
    func linkBooks() async throws(JobError) {
        var last: UUID?
        repeat {
            if Task.isCancelled { throw .retry("The server stopped.") }
            let start = last
            let (results, next) = try await job.write { pipeline in
                var parameters = Parameters.of(user)
                parameters.append(uuid: start)
                let next = pipeline.append(Self.lastOfPage, parameters)
                pipeline.append(Self.link, parameters)
                return next
            }
            last = results[next].first
        } while last != nil
    }

    /// Records a failure that does not belong to a line of the file.
    func recordFailure(_ message: String) async throws(JobError) {
        try await job.write { append(failure: message, to: &$0) }
    }

    /// Ends the import and deletes its file.
    func end(as state: String, reason: String?) async throws(JobError) {
        try await job.write { pipeline in
            if let reason { append(failure: reason, to: &pipeline) }
            var parameters = Parameters.of(user, importID)
            parameters.append(text: state, as: .inferred)
            pipeline.append(Self.end, parameters)
        }
    }

    private func append(failure message: String, to pipeline: inout Pipeline) {
        var parameters = Parameters.of(user, importID)
        parameters.append(text: message)
        pipeline.append(Self.insertFailure, parameters)
    }

    private static let select = TypedStatement<Row>(
        """
        SELECT format, content, done
        FROM imports
        WHERE user_id = $1 AND id = $2 AND content IS NOT NULL
        """)

    private static let begin = Statement(
        """
        UPDATE imports
        SET state = 'RUNNING', total = $3, ignored_columns = $4, updated_at = now()
        WHERE user_id = $1 AND id = $2 AND state IN ('QUEUED', 'RUNNING')
        """)

    /// Returns the number of records that are stored.
    static let store = TypedStatement<Int32>("SELECT import_records($1, $2, $3)")

    private static let linkedMax = 500

    /// The last of the next books without a card; no row for the last page.
    private static let lastOfPage = TypedStatement<UUID>(
        """
        SELECT b.id
        FROM books b
        WHERE b.user_id = $1 AND b.edition_id IS NULL AND \(PageRange.after("b.id"))
        ORDER BY b.id
        OFFSET \(linkedMax - 1) LIMIT 1
        """)

    private static let link = Statement(
        """
        SELECT link_books(array_fill($1::uuid, ARRAY[cardinality(page.ids)]), page.ids)
        FROM (
          SELECT array_agg(p.id) AS ids
          FROM (
            SELECT b.id
            FROM books b
            WHERE b.user_id = $1 AND b.edition_id IS NULL AND \(PageRange.after("b.id"))
            ORDER BY b.id
            LIMIT \(linkedMax)
          ) p
        ) page
        WHERE page.ids IS NOT NULL
        """)

    private static let end = Statement(
        """
        UPDATE imports
        SET state = $3, content = NULL, book_ids = '{}', updated_at = now()
        WHERE user_id = $1 AND id = $2
        """)

    private static let insertFailure = Statement(
        """
        INSERT INTO import_failures (user_id, import_id, line, message)
        VALUES ($1, $2, 0, $3)
        ON CONFLICT DO NOTHING
        """)

    private static let findBookWithoutCover = Statement(
        """
        SELECT
        FROM books b
        WHERE b.user_id = $1 AND b.id = $2
          AND NOT EXISTS (SELECT FROM covers c WHERE c.user_id = $1 AND c.book_id = $2)
        """)
}
