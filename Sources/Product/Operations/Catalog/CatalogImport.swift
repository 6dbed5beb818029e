import Bookplate
import Postgres

/// Imports a catalog file into the table `editions`: `bookplate-admin catalog import`.
///
/// An import is idempotent. A record updates the existing edition with the same ISBN or external id or, if it has
/// neither, the same title and authors. An invalid line is reported with its number and skipped. An invalid field is reported and left
/// out.
package struct CatalogImport {
    package struct Summary: Sendable, Equatable {
        package var created = 0
        package var updated = 0
        package var unchanged = 0
        package var failed = 0
        /// The number of fields, or parts of fields, that were left out of the other records.
        package var leftOut = 0
    }

    /// The number of records per statement.
    private static let batchMax = 500

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Imports lines of JSON, with one object per line.
    ///
    /// - Parameter lines: The lines without line endings.
    package func run(
        _ lines: some Sequence<ArraySlice<UInt8>>, isDryRun: Bool = false,
        onProblem: (_ line: Int, _ message: String) -> Void
    ) throws(PostgresError) -> Summary {
        let entries = lines.lazy.enumerated().compactMap { number, line in
            CatalogFile.entry(line, number: number + 1)
        }
        return try run(entries: entries, isDryRun: isDryRun, onProblem: onProblem)
    }

    /// Imports a file.
    package func run(
        _ file: CatalogFile, isDryRun: Bool = false,
        onProgress: (_ lines: Int) -> Void = { _ in },
        onProblem: (_ line: Int, _ message: String) -> Void
    ) throws(PostgresError) -> Summary {
        try run(
            entries: file.entries, isDryRun: isDryRun, onProgress: onProgress,
            onProblem: onProblem)
    }

    /// Imports all entries in one transaction and updates the data that is derived from the catalog.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether to roll back the transaction.
    ///   - onProgress: Called with the number of lines that were read since the last call.
    ///   - onProblem: Called for each skipped line, and for each field that was left out, with the number of the line, from 1, and the
    ///     reason.
    private func run(
        entries: some Sequence<CatalogFile.Entry>, isDryRun: Bool,
        onProgress: (_ lines: Int) -> Void = { _ in },
        onProblem: (_ line: Int, _ message: String) -> Void
    ) throws(PostgresError) -> Summary {
        var summary = Summary()
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.execute("SELECT lock_catalog()")
            // Disables the triggers that update derived data row by row; `CatalogMaintenance` does it once.
            try connection.execute("SET LOCAL app.bulk = on")
            try connection.execute(Self.createStaging)
            var batch: [(line: Int, record: CatalogRecord)] = []
            for entry in entries {
                do throws(CatalogRecord.Problem) {
                    let record = try entry.record.get()
                    batch.append((entry.line, record))
                    summary.leftOut += record.problems.count
                    for problem in record.problems { onProblem(entry.line, problem.message) }
                } catch {
                    summary.failed += 1
                    onProblem(entry.line, error.message)
                }
                if batch.count == Self.batchMax {
                    try stage(batch)
                    onProgress(batch.count)
                    batch.removeAll(keepingCapacity: true)
                }
            }
            try stage(batch)
            let rows = try merge(onProblem)
            summary.created = rows.created
            summary.updated = rows.updated
            summary.unchanged = rows.unchanged
            summary.failed += rows.failed
            try CatalogMaintenance.updateDerivedData(connection)
            try connection.execute(Self.rememberTime)
            // Last, because other transactions that enqueue the job wait until this one ends.
            try connection.execute(Self.enqueueLinks)
            try connection.execute(isDryRun ? "ROLLBACK" : "COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
        if !isDryRun {
            try linkBooksOfConcurrentTransactions()
            try CatalogMaintenance.finish(connection)
        }
        return summary
    }

    private static let enqueueLinks =
        "SELECT enqueue_link_job() WHERE EXISTS (SELECT FROM books_to_link)"

    /// The task whose checkpoint is the start of the first import after which books of concurrent transactions are not linked yet.
    private static let linkTask = "catalog.links"

    private static let rememberTime = """
        INSERT INTO checkpoints (task, position)
        VALUES ('\(linkTask)', now()::text)
        ON CONFLICT DO NOTHING
        """

    /// Enqueues the links of books that were added by transactions at the same time as the import. These transactions and the
    /// import did not see each other's rows. If this is interrupted, the next import does it.
    private func linkBooksOfConcurrentTransactions() throws(PostgresError) {
        try connection.inTransaction(mapping: { $0 }) { () throws(PostgresError) -> Void in
            // Another import that has found the checkpoint must commit before it is deleted.
            try connection.execute("SELECT lock_catalog()")
            guard let checkpoint = try Checkpoint.of(Self.linkTask, connection) else { return }
            var since = Parameters()
            since.append(text: checkpoint.position)
            try connection.query(
                "SELECT enqueue_links_of_recent_editions($1::text::timestamptz)", since)
            try Checkpoint.forget(Self.linkTask, connection)
        }
    }

    private func stage(_ batch: [(line: Int, record: CatalogRecord)]) throws(PostgresError) {
        guard !batch.isEmpty else { return }
        var parameters = Parameters()
        func column(_ value: (CatalogRecord) -> String?) {
            parameters.appendArray(of: .text) {
                for (_, record) in batch { $0.append(text: value(record)) }
            }
        }
        parameters.append(int32s: batch.map { Int32(clamping: $0.line) })
        column { $0.title }
        column { $0.subtitle }
        column { $0.series }
        column { $0.seriesPosition }
        // PostgreSQL's arrays of arrays must be rectangular, so lists are joined by a character that does not occur in
        // names.
        column { BookAuthors($0.authors).names.joined(separator: "\u{1F}") }
        column { $0.isbn?.description }
        column { $0.publisher }
        column { $0.publishedDate?.text }
        column { $0.language }
        parameters.appendArray(of: .int32) {
            for (_, record) in batch { $0.append(int32: record.pageCount) }
        }
        column { $0.subjects.joined(separator: "\u{1F}") }
        column { $0.description }
        column { $0.hook ?? $0.description.flatMap { hook(of: $0) } }
        parameters.appendArray(of: .float8) {
            for (_, record) in batch { $0.append(float8: record.averageRating) }
        }
        parameters.append(int32s: batch.map { $0.record.ratingsCount })
        column { BookAuthors($0.authors).roles.joined(separator: "\u{1F}") }
        try connection.query(Self.stageRecords, parameters)

        let sources = batch.flatMap { line, record in record.sources.map { (line, $0) } }
        var ids = Parameters()
        ids.append(int32s: sources.map { Int32(clamping: $0.0) })
        ids.append(texts: sources.map { $0.1.source })
        ids.append(texts: sources.map { $0.1.key })
        try connection.query(Self.stageSources, ids)

        let works = batch.flatMap { line, record in record.workKeys.map { (line, $0) } }
        var workKeys = Parameters()
        workKeys.append(int32s: works.map { Int32(clamping: $0.0) })
        workKeys.append(texts: works.map { $0.1.source })
        workKeys.append(texts: works.map { $0.1.key })
        try connection.query(Self.stageWorkKeys, workKeys)

        let bios = batch.flatMap { line, record in record.bios.map { (line, $0) } }
        guard !bios.isEmpty else { return }
        var authors = Parameters()
        authors.append(int32s: bios.map { Int32(clamping: $0.0) })
        authors.append(texts: bios.map(\.1.name))
        authors.append(texts: bios.map(\.1.bio))
        try connection.query(Self.stageBios, authors)
    }

    private func merge(
        _ onProblem: (_ line: Int, _ message: String) -> Void
    ) throws(PostgresError) -> (created: Int, updated: Int, unchanged: Int, failed: Int) {
        try connection.execute(Self.findEditions)
        let duplicates = try connection.query(Self.removeDuplicates).decode(Duplicate.self)
        for duplicate in duplicates {
            onProblem(
                Int(duplicate.line), "this book is already on line \(duplicate.firstLine)")
        }
        let counts = try connection.query(Self.countStaged)
        let total = Int(counts.int64(0, 0) ?? 0)
        var updated = try connection.query(Self.updateEditions).affectedCount
        let created = try connection.query(Self.insertEditions).affectedCount
        if created < Int(counts.int64(0, 1) ?? 0) {
            // Requests have added the other editions in the meantime, or `updateEditions` has given their ISBNs to editions that it has
            // found by another ID.
            try connection.execute(Self.findAddedEditions)
            updated += try connection.query(Self.updateEditions).affectedCount
        }
        try connection.execute(Self.insertSources)
        try connection.execute(Self.saveWorkKeys)
        try connection.execute(Self.saveBios)
        return (created, updated, total - updated - created, duplicates.count)
    }

    /// A record that repeats the record of an earlier line.
    private struct Duplicate: RowDecodable {
        let line: Int32
        let firstLine: Int32

        init?(_ row: inout RowReader) {
            guard let line = row.int32(), let firstLine = row.int32() else { return nil }
            self.line = line
            self.firstLine = firstLine
        }
    }
}
