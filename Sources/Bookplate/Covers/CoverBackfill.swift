import BookSources
import ImageProcessing
import Postgres
import Telemetry

/// Looks for covers of all books that have none: `bookplate-admin backfill covers`.
///
/// Reader by reader, in the order of ids. Where it is stands in the database, moved on in the transaction
/// that keeps what was found: stopped anywhere, it goes on with the next book. It goes past books that nobody could
/// tell of; but while these follow one another, nothing is written down, unless they are to be skipped: where no source can be reached
/// at all, the next run asks for the same ones.
package struct CoverBackfill {
    package struct Progress: Sendable, Equatable {
        /// Books that were looked for.
        package var asked = 0
        package var found = 0
        /// Those whose cover somebody may have who could not say.
        package var unavailable = 0
        /// Those for whose cover there was no room.
        package var failed = 0

        package init() {}
    }

    /// A book without a cover.
    package struct Book: Sendable {
        let wish: CoverWish
        let sought: CoverQuery
    }

    private static let task = "covers"

    private let connection: AdminConnection
    private let search: CoverSearch
    private let skipsUnavailable: Bool
    /// The last book that was looked for.
    private var position: CoverRecord.Position?
    /// What this run and the one that it goes on from have done.
    private var total: Progress
    /// What an earlier run has done that was stopped; nothing where there is none.
    package let earlier: Progress

    /// - Parameters:
    ///   - startsOver: from the first book, wherever the last run has stopped.
    ///   - skipsUnavailable: whether the next run leaves out books, too, that nobody could tell of.
    /// - Returns: nil where another one is under way.
    package init?(
        _ connection: AdminConnection, _ sources: CoverSources, covers: Covers, startsOver: Bool,
        skipsUnavailable: Bool
    ) throws(PostgresError) {
        let isOnly = try connection.query(
            "SELECT pg_try_advisory_lock(hashtext('backfill covers'))"
        ).bool(0, 0)
        guard isOnly == true else { return nil }
        self.connection = connection
        self.skipsUnavailable = skipsUnavailable
        search = CoverSearch(sources, covers: covers, metrics: Metrics())
        var earlier = Progress()
        if !startsOver, let checkpoint = try Checkpoint.of(Self.task, connection),
            let position = CoverRecord.Position(checkpoint.position)
        {
            self.position = position
            earlier.asked = checkpoint.done
            earlier.found = checkpoint.found
        }
        self.earlier = earlier
        total = earlier
    }

    /// The next run begins with the first book.
    package func finish() throws(PostgresError) {
        try Checkpoint.forget(Self.task, connection)
    }

    /// How many books are left.
    package func remaining() throws(PostgresError) -> Int {
        Int(
            try connection.query(
                "SELECT count(*) FROM books b WHERE \(Self.isDue)", positionParameters
            ).int64(0, 0) ?? 0)
    }

    /// The next books.
    package func next(_ count: Int) throws(PostgresError) -> [Book] {
        var parameters = positionParameters
        parameters.append(int32: Int32(clamping: count))
        let rows = try connection.query(
            """
            SELECT b.title, coalesce(b.author, e.authors[1]), coalesce(b.isbn13, e.isbn13), \
            coalesce(e.cover_links, '{}'), b.cover_wanted_at, b.user_id, b.id \
            FROM books b LEFT JOIN editions e ON e.id = b.edition_id \
            WHERE \(Self.isDue) ORDER BY b.user_id, b.id LIMIT $3
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let sought = CoverQuery(rows, row), let user = rows.uuid(row, 5),
                let id = rows.uuid(row, 6)
            else { return nil }
            return Book(
                wish: CoverWish(user: user, book: id, wantedAt: rows.timestamptz(row, 4)),
                sought: sought)
        }
    }

    /// What the search for a book came to.
    package struct Found: Sendable {
        let outcome: CoverSearch.Outcome

        /// Where nobody had one, those that could not say, by name; empty where the time was over. nil where there is an answer.
        package var unavailable: Set<String>? {
            guard case .unavailable(let sources, _) = outcome else { return nil }
            return Set(sources.map { $0?.rawValue ?? "the search of the web" })
        }
    }

    /// Looks for the covers of all the books at once.
    package func look(for books: [Book]) async -> [Found] {
        await withTaskGroup(of: (Int, Found).self) { group in
            for (place, book) in books.enumerated() {
                group.addTask { [search] in
                    let outcome = await search.best(for: book.sought, asksWebEarly: false)
                    return (place, Found(outcome: outcome))
                }
            }
            var found = [Found](
                repeating: Found(outcome: .unavailable([], pausedUntil: nil)), count: books.count)
            for await (place, one) in group { found[place] = one }
            return found
        }
    }

    /// Keeps what was found for a book, and goes on to the next.
    package mutating func save(
        _ found: Found, of book: Book
    ) async throws(PostgresError) -> Progress {
        var progress = Progress()
        progress.asked = 1
        position = CoverRecord.Position(user: book.wish.user, book: book.wish.book)
        total.asked += 1
        switch found.outcome {
        case .nothing: try end(book, as: .notFound)
        case .unavailable:
            progress.unavailable = 1
            if skipsUnavailable { try checkpoint(at: book).keep(as: Self.task, connection) }
        case .found(let images, let source):
            total.found += 1
            let kept = try await keep(images, source, book)
            progress.found = kept ? 1 : 0
            progress.failed = kept ? 0 : 1
        }
        return progress
    }

    private mutating func keep(
        _ images: CoverImages, _ source: CoverSource, _ book: Book
    ) async throws(PostgresError) -> Bool {
        let covers = search.covers
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(
                images, user: book.wish.user, book: book.wish.book, source: source)
        } catch {
            try fail(book)
            return false
        }
        do throws(PostgresError) {
            var version: String?
            try inTurn(book) { () throws(PostgresError) in
                version = try connection.query(
                    StagedCover.setFoundCover.text,
                    staged.foundParameters(wantedAt: book.wish.wantedAt)
                ).text(0, 0)
            }
            await covers.settle(staged, kept: version)
            return version != nil
        } catch .server(let error) where error.sqlState.rawValue == "BP413" {
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
        try end(book, as: .failed)
    }

    private func end(_ book: Book, as status: CoverSearchEnd) throws(PostgresError) {
        try inTurn(book) { () throws(PostgresError) in
            try connection.query(CoverWish.end.text, book.wish.ended(as: status))
        }
    }

    /// Runs the work in the book's owner's turn, and notes in the same transaction that it is done.
    private func inTurn(
        _ book: Book, _ work: () throws(PostgresError) -> Void
    ) throws(PostgresError) {
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.query("SELECT take_turns($1)", .of(book.wish.user))
            try work()
            try checkpoint(at: book).keep(as: Self.task, connection)
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func checkpoint(at book: Book) -> Checkpoint {
        let position = CoverRecord.Position(user: book.wish.user, book: book.wish.book)
        return Checkpoint(position: position.text, done: total.asked, found: total.found)
    }

    private var positionParameters: Parameters {
        var parameters = Parameters()
        parameters.append(uuid: position?.user)
        parameters.append(uuid: position?.book)
        return parameters
    }

    /// A book whose search has just begun is a server's; one whose search nobody ended is anybody's.
    private static let isDue = """
        NOT EXISTS (SELECT FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id) \
        AND (b.cover_wanted_at IS NULL OR b.cover_wanted_at < now() - interval '2 hours') \
        AND ($1::uuid IS NULL OR (b.user_id, b.id) > ($1, $2))
        """
}
