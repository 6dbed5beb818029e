import GraphQL
import JobQueue
import Postgres

/// Brings the records of an uploaded file into a library, some at a time.
///
/// Each transaction stores its records and how far the import has come, so a worker that dies loses nothing,
/// and the next one does nothing twice.
struct ImportLibrary: JobHandler {
    static let kind = "library.import"
    static let settings = JobSettings(
        concurrency: 2, attemptsMax: 20, timeout: .seconds(1800), retryDelay: .seconds(1))

    /// Records of one transaction.
    static let batchMax = 100

    let covers: Covers
    /// Whether there is anybody who could be asked for covers of new books.
    var canSearch = false

    struct Payload: Codable, Sendable {
        let importID: UUID
    }

    private static let select = Statement(
        "SELECT format, content, done FROM imports WHERE user_id = $1 AND id = $2 AND content IS NOT NULL"
    )
    private static let begin = Statement(
        """
        UPDATE imports SET state = 'RUNNING', total = $3, updated_at = now() \
        WHERE user_id = $1 AND id = $2 AND state IN ('QUEUED', 'RUNNING')
        """)
    private static let store = Statement("SELECT import_records($1, $2, $3)")
    private static let end = Statement(
        """
        UPDATE imports SET state = $3, content = NULL, updated_at = now() \
        WHERE user_id = $1 AND id = $2
        """)
    /// The books that came are not to be shown in the feed.
    private static let advanceFeed = Statement("SELECT advance_feed($1)")
    private static let tellFailure = Statement(
        """
        INSERT INTO import_failures (user_id, import_id, line, message) VALUES ($1, $2, $3, $4) \
        ON CONFLICT DO NOTHING
        """)

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        do throws(JobError) {
            try await run(payload.importID, of: user, job)
        } catch {
            if job.isLastAttempt, !Task.isCancelled {
                try await end(
                    payload.importID, of: user, as: "FAILED",
                    because: (line: 0, "Something went wrong on our side. Import the file again."),
                    job)
            }
            throw error
        }
    }

    private func run(
        _ id: UUID, of user: UUID, _ job: JobContext
    ) async throws(JobError) {
        let rows = try await job.read { $0.append(Self.select, .of(user, id)) }[0]
        guard let format = rows.text(0, 0).flatMap(ImportFormat.init), let bytes = rows.bytes(0, 1)
        else { return }
        let file: ImportFile
        do throws(BookplateError) {
            file = try ImportFile(Array(bytes), format: format)
        } catch {
            return try await end(id, of: user, as: "FAILED", because: (line: 0, error.message), job)
        }
        let total = file.records().reduce(0) { count, _ in count + 1 }
        guard total <= ImportFile.recordsMax else {
            let reason = "A file to import has at most \(ImportFile.recordsMax) records."
            return try await end(id, of: user, as: "FAILED", because: (line: 0, reason), job)
        }
        _ = try await job.write { segment in
            var parameters = Parameters.of(user, id)
            parameters.append(int32: Int32(clamping: total))
            segment.append(Self.begin, parameters)
        }
        // Those with a picture in the archive get that.
        try await store(
            file.records(), from: Int(rows.int32(0, 2) ?? 0), withCovers: file.covers.map(\.book),
            id, user, job)
        try await storeCovers(of: file, id, user, job)
        try await end(id, of: user, as: "DONE", because: nil, job)
    }

    private func store(
        _ records: ImportRecords, from start: Int, withCovers covered: [UUID], _ id: UUID,
        _ user: UUID, _ job: JobContext
    ) async throws(JobError) {
        var records = records
        for _ in 0..<start { _ = records.next() }
        var position = start
        while true {
            if Task.isCancelled { throw .retry("The server stopped.") }
            var batch: [Value] = []
            while batch.count < Self.batchMax, let record = records.next() {
                batch.append(record.json)
            }
            if batch.isEmpty { return }
            var json = ResponseWriter()
            json.write(Value.list(batch))
            let rows = try await job.write { segment in
                var parameters = Parameters.of(id)
                parameters.append(int32: Int32(clamping: position))
                parameters.append(jsonb: json.bytes)
                segment.append(Self.store, parameters)
                if canSearch { segment.wishForCovers(ofNewBooksOf: user, except: covered) }
            }
            position += batch.count
            guard rows[0].int32(0, 0) == Int32(clamping: position) else {
                throw .retry("Another worker has come further.")
            }
        }
    }

    private static let findBook = Statement(
        """
        SELECT FROM books b WHERE b.user_id = $1 AND b.id = $2 AND NOT EXISTS (SELECT FROM covers c \
        WHERE c.user_id = $1 AND c.book_id = $2)
        """)

    /// Gives books that have no cover the archive's.
    private func storeCovers(
        of file: ImportFile, _ id: UUID, _ user: UUID, _ job: JobContext
    ) async throws(JobError) {
        var failedCount = 0
        for (book, bytes) in file.covers {
            if Task.isCancelled { throw .retry("The server stopped.") }
            let found = try await job.read { $0.append(Self.findBook, .of(user, book)) }
            guard found[0].count > 0 else { continue }
            let staged: StagedCover
            do throws(BookplateError) {
                staged = try await covers.stage(
                    covers.decode(bytes), user: user, book: book, source: .manualUpload)
            } catch .rateLimited {
                throw .retry("Too many images at once.")
            } catch {
                failedCount += 1
                continue
            }
            do throws(JobError) {
                let rows = try await job.write { staged.append(to: &$0) }
                await covers.settle(staged, kept: rows[0].text(0, 0))
            } catch {
                await covers.settle(staged, failed: error)
                throw error
            }
        }
        guard failedCount > 0 else { return }
        _ = try await job.write { segment in
            var failure = Parameters.of(user, id)
            failure.append(int32: 0)
            failure.append(text: "\(failedCount) covers could not be stored.")
            segment.append(Self.tellFailure, failure)
        }
    }

    private func end(
        _ id: UUID, of user: UUID, as state: String, because reason: (line: Int32, String)?,
        _ job: JobContext
    ) async throws(JobError) {
        _ = try await job.write { segment in
            if let (line, message) = reason {
                var failure = Parameters.of(user, id)
                failure.append(int32: line)
                failure.append(text: message)
                segment.append(Self.tellFailure, failure)
            }
            var parameters = Parameters.of(user, id)
            parameters.append(text: state, as: .inferred)
            segment.append(Self.end, parameters)
            segment.append(Self.advanceFeed, .of(user))
        }
    }
}
