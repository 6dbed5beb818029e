import Basics
import BookSources
import Bookplate
import ImageProcessing
import Postgres
import Requests
import Telemetry

/// Searches for covers of all books that have none: `bookplate-admin backfill covers`.
///
/// Processes the books in the order of user and book ids. The position is stored in the database in the same
/// transaction as each result, so an interrupted run continues with the next book.
///
/// A book for which a source could not answer is skipped, but the position is not stored until a later book has a
/// result, unless `skipsUnavailable` is set. If no source can be reached, the next run therefore starts with the same
/// books.
package struct CoverBackfill {
    package struct Progress: Sendable, Equatable {
        /// The number of books that were searched for.
        package var searched = 0
        package var found = 0
        /// The number of books without a result because a source could not answer.
        package var unavailable = 0
        /// The number of books whose cover was found but could not be stored.
        package var failed = 0

        package init() {}

        /// The number of books for which the sources have no cover.
        package var notFound: Int { searched - found - unavailable - failed }

        fileprivate static func += (total: inout Progress, more: Progress) {
            total.searched += more.searched
            total.found += more.found
            total.unavailable += more.unavailable
            total.failed += more.failed
        }
    }

    /// The limits of a run.
    package struct Limits: Sendable {
        /// The maximum number of books.
        package var books: Int
        /// The maximum number of concurrent searches.
        package var concurrency: Int
        package var booksPerSecond: Double

        package init(books: Int, concurrency: Int, booksPerSecond: Double) {
            self.books = books
            self.concurrency = concurrency
            self.booksPerSecond = booksPerSecond
        }
    }

    /// The unavailable books at the end of a run.
    package struct Outage: Sendable {
        /// The number of unavailable books in a row.
        package var books = 0
        /// The sources that did not respond.
        package var sources: Set<String> = []
    }

    package struct Summary: Sendable {
        package var total = Progress()
        /// The number of books that are left.
        package var left: Int
        package var outage = Outage()
        /// Whether the sources seem to be down: too many books in a row or all books were unavailable. Always false if
        /// unavailable books are skipped.
        package var isUnreachable = false

        package init(left: Int) { self.left = left }
    }

    /// A book without a cover.
    private struct Book: Sendable, RowDecodable {
        let query: CoverQuery
        let request: CoverRequest

        init?(_ row: inout RowReader) {
            guard let query = CoverQuery(&row) else { return nil }
            let requestedAt = row.timestamptz()
            guard let user = row.uuid(), let id = row.uuid() else { return nil }
            self.query = query
            request = CoverRequest(user: user, book: id, requestedAt: requestedAt)
        }

        var position: CoverRecord.Position {
            CoverRecord.Position(user: request.user, book: request.book)
        }
    }

    private static let task = "covers"
    /// The number of unavailable books in a row after which the sources are assumed to be down.
    private static let unavailableMax = 100

    private let connection: AdminConnection
    private let search: CoverSearch
    private let startsOver: Bool
    private let skipsUnavailable: Bool
    /// The position of the last book that was searched for.
    private var position: CoverRecord.Position?
    /// The totals of this run and of the interrupted run that it continues.
    private var total: Progress
    /// The totals of the interrupted run that this one continues; zeros if there is none.
    package let earlier: Progress
    /// The number of books that were left when this value was created.
    package private(set) var remaining = 0

    /// - Parameters:
    ///   - startsOver: Whether to start with the first book even if the last run was interrupted.
    ///   - skipsUnavailable: Whether the next run also skips books for which a source could not answer.
    /// - Returns: Nil if another backfill of covers is running.
    package init?(
        _ connection: AdminConnection, _ sources: CoverSources, covers: Covers, startsOver: Bool,
        skipsUnavailable: Bool
    ) throws(PostgresError) {
        let locked = try connection.query(
            "SELECT pg_try_advisory_lock(hashtext('backfill covers'))"
        ).decode(Bool.self)
        guard locked.first == true else { return nil }
        self.connection = connection
        self.startsOver = startsOver
        self.skipsUnavailable = skipsUnavailable
        search = CoverSearch(sources, covers: covers, metrics: Metrics())
        var earlier = Progress()
        if !startsOver, let checkpoint = try Checkpoint.of(Self.task, connection),
            let position = CoverRecord.Position(checkpoint.position)
        {
            self.position = position
            earlier.searched = checkpoint.done
            earlier.found = checkpoint.found
        }
        self.earlier = earlier
        total = earlier
        remaining = try countRemaining()
    }

    /// Searches for the covers of the remaining books. Ends early if the sources seem to be down, unless unavailable
    /// books are skipped.
    ///
    /// - Parameters:
    ///   - beforeBatch: Called before each batch. An error that it throws ends the run.
    ///   - onBook: Called after each book.
    package mutating func run(
        _ limits: Limits, beforeBatch: () throws(StorageError) -> Void, onBook: () -> Void
    ) async throws(StorageError) -> Summary {
        if startsOver { try forgetPosition() }
        var summary = Summary(left: remaining)
        let countMax = min(remaining, limits.books)
        let start = ContinuousClock.now
        while summary.total.searched < countMax,
            skipsUnavailable || summary.outage.books < Self.unavailableMax
        {
            try beforeBatch()
            let batchMax = min(limits.concurrency, countMax - summary.total.searched)
            guard try await runBatch(batchMax, &summary, onBook) else { break }
            let elapsed = Duration.seconds(Double(summary.total.searched) / limits.booksPerSecond)
            try? await Task.sleep(until: start + elapsed, clock: .continuous)
        }
        let (searched, unavailable) = (summary.total.searched, summary.total.unavailable)
        summary.left = max(0, remaining - searched)
        summary.isUnreachable =
            !skipsUnavailable
            && (summary.outage.books >= Self.unavailableMax
                || searched > 0 && searched == unavailable)
        if summary.left == 0, !summary.isUnreachable { try forgetPosition() }
        return summary
    }

    /// Searches for the covers of the next books and stores the results.
    ///
    /// - Returns: False if no book is left.
    private mutating func runBatch(
        _ countMax: Int, _ summary: inout Summary, _ onBook: () -> Void
    ) async throws(StorageError) -> Bool {
        do throws(PostgresError) {
            let books = try next(countMax)
            let results = await findCovers(of: books)
            for (book, result) in zip(books, results) {
                if let sources = result.unavailable {
                    summary.outage.books += 1
                    summary.outage.sources.formUnion(sources)
                } else {
                    summary.outage = Outage()
                }
                summary.total += try await save(result, of: book)
                onBook()
            }
            return !books.isEmpty
        } catch {
            throw .database(error)
        }
    }

    /// Deletes the stored position, so that the next run starts with the first book.
    private func forgetPosition() throws(StorageError) {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try Checkpoint.forget(Self.task, connection)
        }
    }

    private func countRemaining() throws(PostgresError) -> Int {
        let counts = try connection.query(
            "SELECT count(*) FROM books b WHERE \(Self.isDue)", positionParameters
        ).decode(Int64.self)
        return Int(counts.first ?? 0)
    }

    /// Returns the next books.
    private func next(_ count: Int) throws(PostgresError) -> [Book] {
        var parameters = positionParameters
        parameters.append(int32: Int32(clamping: count))
        return try connection.query(
            """
            SELECT
                b.title,
                coalesce(b.authors[1], e.authors[1]),
                coalesce(b.isbn13, e.isbn13),
                coalesce(e.cover_links, '{}'),
                b.cover_requested_at,
                b.user_id,
                b.id
            FROM books b
            LEFT JOIN editions e ON e.id = b.edition_id
            WHERE \(Self.isDue)
            ORDER BY b.user_id, b.id
            LIMIT $3
            """, parameters
        ).decode()
    }

    /// The result of the search for one book.
    private struct Found: Sendable {
        let outcome: CoverSearch.Outcome

        /// The names of the sources that could not answer if nothing was found; empty if the time was up. Nil if the
        /// search has a result.
        var unavailable: Set<String>? {
            guard case .unavailable(let sources, _) = outcome else { return nil }
            return Set(sources.map { $0?.rawValue ?? "the web search" })
        }
    }

    /// Searches for the covers of all the books concurrently.
    private func findCovers(of books: [Book]) async -> [Found] {
        await withTaskGroup(of: (Int, Found).self) { group in
            for (index, book) in books.enumerated() {
                group.addTask { [search] in
                    let outcome = await search.best(
                        for: book.query, searchesWebAfterFailures: false)
                    return (index, Found(outcome: outcome))
                }
            }
            var results = [Found](
                repeating: Found(outcome: .unavailable([], pausedUntil: nil)), count: books.count)
            for await (index, result) in group { results[index] = result }
            return results
        }
    }

    /// Stores the result of a book and moves the position to it.
    private mutating func save(
        _ found: Found, of book: Book
    ) async throws(PostgresError) -> Progress {
        var progress = Progress()
        progress.searched = 1
        position = book.position
        total.searched += 1
        switch found.outcome {
        case .nothing: try end(book, .notFound)
        case .unavailable:
            progress.unavailable = 1
            if skipsUnavailable { try checkpoint(at: book).keep(as: Self.task, connection) }
        case .found(let images, let source):
            total.found += 1
            let isStored = try await store(images, source, book)
            progress.found = isStored ? 1 : 0
            progress.failed = isStored ? 0 : 1
        }
        return progress
    }

    /// - Returns: Whether the book has a cover now.
    private mutating func store(
        _ images: CoverImages, _ source: CoverSource, _ book: Book
    ) async throws(PostgresError) -> Bool {
        let covers = search.covers
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(
                images, user: book.request.user, book: book.request.book, source: source)
        } catch {
            try fail(book)
            return false
        }
        do throws(PostgresError) {
            var currentVersion: String?
            try inTransaction(of: book) { () throws(PostgresError) in
                currentVersion = try connection.query(
                    StagedCover.setFoundCover.statement.text,
                    staged.foundParameters(requestedAt: book.request.requestedAt)
                ).decode(String.self).first
            }
            await covers.settle(staged, kept: currentVersion)
            return currentVersion != nil
        } catch .server(let error) where error.sqlState == .quotaExceeded {
            // The user or the tenant has reached the storage limit.
            await covers.settle(staged, kept: nil)
            try fail(book)
            return false
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    private mutating func fail(_ book: Book) throws(PostgresError) {
        total.found -= 1
        try end(book, .failed)
    }

    private func end(_ book: Book, _ failure: CoverSearchFailure) throws(PostgresError) {
        try inTransaction(of: book) { () throws(PostgresError) in
            try connection.query(CoverRequest.end.text, book.request.endParameters(failure))
        }
    }

    /// Runs the work in a transaction that locks the book's owner and stores the position.
    private func inTransaction(
        of book: Book, _ work: () throws(PostgresError) -> Void
    ) throws(PostgresError) {
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.query("SELECT lock_user($1)", .of(book.request.user))
            try work()
            try checkpoint(at: book).keep(as: Self.task, connection)
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func checkpoint(at book: Book) -> Checkpoint {
        Checkpoint(position: book.position.text, done: total.searched, found: total.found)
    }

    private var positionParameters: Parameters {
        var parameters = Parameters()
        parameters.append(uuid: position?.user)
        parameters.append(uuid: position?.book)
        return parameters
    }

    /// Selects books without a cover after the position. Books with a recent request are left to the servers; a request
    /// that is older than two hours was abandoned.
    private static let isDue = """
        NOT EXISTS (SELECT FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id)
            AND NOT b.is_cover_removed
            AND (b.cover_requested_at IS NULL OR b.cover_requested_at < now() - interval '2 hours')
            AND ($1::uuid IS NULL OR (b.user_id, b.id) > ($1, $2))
        """
}
