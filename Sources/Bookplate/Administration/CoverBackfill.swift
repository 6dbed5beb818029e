import BookSources
import Images
import Postgres
import Telemetry

/// Looks for covers of all books that have none: `bookplate-admin backfill covers`.
///
/// Reader by reader, in the order of ids. Where it is stands in the database, moved on in the transaction
/// that keeps what was found: stopped anywhere, it goes on with the next book.
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
        let sought: SoughtBook
    }

    private let connection: AdminConnection
    private let search: CoverSearch

    package init(_ connection: AdminConnection, _ sources: CoverSources, covers: Covers) {
        self.connection = connection
        search = CoverSearch(sources, covers: covers, metrics: Metrics())
    }

    /// Makes sure that it is the only one.
    ///
    /// - Returns: false where another one is under way.
    package func begin() throws(PostgresError) -> Bool {
        try connection.query("SELECT pg_try_advisory_lock(hashtext('backfill covers'))")
            .bool(0, 0) ?? false
    }

    /// What an earlier run has done that was stopped; nothing where there is none.
    package func earlier() throws(PostgresError) -> Progress {
        let rows = try connection.query("SELECT asked, found FROM cover_backfill")
        var progress = Progress()
        progress.asked = Int(rows.int64(0, 0) ?? 0)
        progress.found = Int(rows.int64(0, 1) ?? 0)
        return progress
    }

    /// Forgets where it is: the next run begins with the first book.
    package func forget() throws(PostgresError) {
        try connection.execute("DELETE FROM cover_backfill")
    }

    /// How many books are left.
    package func remaining() throws(PostgresError) -> Int {
        Int(
            try connection.query("SELECT count(*) FROM books b WHERE \(Self.isDue)")
                .int64(0, 0) ?? 0)
    }

    /// The next books.
    package func next(_ count: Int) throws(PostgresError) -> [Book] {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: count))
        let rows = try connection.query(
            """
            SELECT b.title, coalesce(b.author, e.authors[1]), coalesce(b.isbn13, e.isbn13), \
            coalesce(e.cover_links, '{}'), b.cover_wanted_at, b.user_id, b.id \
            FROM books b LEFT JOIN editions e ON e.id = b.edition_id \
            WHERE \(Self.isDue) ORDER BY b.user_id, b.id LIMIT $1
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let sought = SoughtBook(rows, row), let user = rows.uuid(row, 5),
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

        /// Whether nobody could say.
        package var isUnavailable: Bool {
            if case .unavailable = outcome { true } else { false }
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
            var found = [Found](repeating: Found(outcome: .unavailable), count: books.count)
            for await (place, one) in group { found[place] = one }
            return found
        }
    }

    /// Keeps what was found for a book, and goes on to the next.
    package func save(_ found: Found, of book: Book) async throws(PostgresError) -> Progress {
        var progress = Progress()
        progress.asked = 1
        switch found.outcome {
        case .nothing: try end(book, as: .notFound, isFound: false)
        case .unavailable:
            progress.unavailable = 1
            try pass(book)
        case .found(let images, let source):
            let kept = try await keep(images, source, book)
            progress.found = kept ? 1 : 0
            progress.failed = kept ? 0 : 1
        }
        return progress
    }

    private func keep(
        _ images: CoverImages, _ source: CoverSource, _ book: Book
    ) async throws(PostgresError) -> Bool {
        let covers = search.covers
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(
                images, user: book.wish.user, book: book.wish.book, source: source)
        } catch {
            try end(book, as: .failed, isFound: false)
            return false
        }
        do throws(PostgresError) {
            var version: String?
            try inTurn(book, isFound: true) { () throws(PostgresError) in
                version = try connection.query(
                    StagedCover.setFoundCover.text,
                    staged.foundParameters(wantedAt: book.wish.wantedAt)
                ).text(0, 0)
            }
            await covers.settle(staged, kept: version)
            return version != nil
        } catch .server(let error) where error.sqlState.rawValue == "BP413" {
            await covers.settle(staged, kept: nil)
            try end(book, as: .failed, isFound: false)
            return false
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    private func end(
        _ book: Book, as status: CoverSearchEnd, isFound: Bool
    ) throws(PostgresError) {
        try inTurn(book, isFound: isFound) { () throws(PostgresError) in
            try connection.query(CoverWish.end.text, book.wish.ended(as: status))
        }
    }

    private func pass(_ book: Book) throws(PostgresError) {
        try inTurn(book, isFound: false) { () throws(PostgresError) in }
    }

    /// Runs the work in the book's owner's turn, and notes in the same transaction that it is done.
    private func inTurn(
        _ book: Book, isFound: Bool, _ work: () throws(PostgresError) -> Void
    ) throws(PostgresError) {
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.query("SELECT take_turns($1)", .of(book.wish.user))
            try work()
            var parameters = Parameters.of(book.wish.user, book.wish.book)
            parameters.append(int64: isFound ? 1 : 0)
            try connection.query(
                """
                INSERT INTO cover_backfill AS r (reader, book, asked, found) VALUES ($1, $2, 1, $3) \
                ON CONFLICT (is_only) DO UPDATE SET reader = excluded.reader, book = excluded.book, \
                asked = r.asked + 1, found = r.found + excluded.found
                """, parameters)
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// A book whose search has just begun is a server's; one whose search nobody ended is anybody's.
    private static let isDue = """
        NOT EXISTS (SELECT FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id) \
        AND (b.cover_wanted_at IS NULL OR b.cover_wanted_at < now() - interval '2 hours') \
        AND NOT EXISTS (SELECT FROM cover_backfill r WHERE (b.user_id, b.id) <= (r.reader, r.book))
        """
}
