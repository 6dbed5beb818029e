import BookSources
import ImageProcessing
import JobQueue
import Postgres

/// Looks for the cover of a book that wants one, and makes it the book's.
///
/// The wish is `books.cover_wanted_at`. Whatever the reader does with the cover or the book meanwhile ends it,
/// and what is found then is thrown away.
struct FetchCover: JobHandler {
    static let kind = "cover.fetch"
    /// Tried again after some seconds at first, for half an hour: a late cover still arrives.
    static let settings = JobSettings(
        concurrency: 6, attemptsMax: 10, timeout: .seconds(55), retryDelay: .seconds(4))

    let search: CoverSearch

    struct Payload: Codable, Sendable {
        let bookID: UUID
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        let rows = try await job.read { $0.append(Self.findBook, .of(user, payload.bookID)) }[0]
        guard let book = CoverQuery(rows, 0), let wantedAt = rows.timestamptz(0, 4) else { return }
        let wish = CoverWish(user: user, book: payload.bookID, wantedAt: wantedAt)
        // Each web search is paid for, so it is not repeated at every run while a source is down.
        let isFirst = job.attempt == 1 && job.postponedFor == nil
        switch await search.best(
            for: book, asksWebEarly: isFirst || job.isLastAttempt,
            priority: job.isAwaited ? .interactive : .background)
        {
        case .found(let images, let source): try await keep(images, source, wish, job)
        case .nothing: try await end(wish, as: .notFound, job)
        case .unavailable(_, let pausedUntil?) where job.canBePostponed:
            throw .postpone("All sources that may have the cover are paused.", until: pausedUntil)
        case .unavailable:
            guard job.isLastAttempt, !Task.isCancelled else {
                throw .retry("A source of covers cannot answer.")
            }
            // No dead letter: it is looked for again when the reader or the operator asks.
            try await end(wish, as: .unanswered, job)
        }
    }

    private func keep(
        _ images: CoverImages, _ source: CoverSource, _ wish: CoverWish, _ job: JobContext
    ) async throws(JobError) {
        let covers = search.covers
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(
                images, user: wish.user, book: wish.book, source: source)
        } catch {
            if job.isLastAttempt { return try await end(wish, as: .failed, job) }
            throw .retry("The cover cannot be stored.")
        }
        do throws(JobError) {
            // Not cancelled with the job, which a reader's leaving does: nobody would know what became of the files.
            let rows = try await Task { () async -> Result<[Rows], JobError> in
                do throws(JobError) {
                    return .success(
                        try await job.write { segment in
                            staged.appendFound(to: &segment, wantedAt: wish.wantedAt)
                            segment.appendRemovedCovers(of: wish.user)
                        })
                } catch {
                    return .failure(error)
                }
            }.value.get()
            await covers.settle(staged, kept: rows[0].text(0, 0))
            let gone = await covers.removeFiles(RemovedCover.all(rows[1]), of: wish.user)
            if !gone.isEmpty {
                _ = try await job.write { $0.forget(gone, of: wish.user) }
            }
        } catch .database(.server(let error)) where error.sqlState.rawValue == "BP413" {
            // There is no room for it.
            await covers.settle(staged, kept: nil)
            try await end(wish, as: .failed, job)
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    private func end(
        _ wish: CoverWish, as status: CoverSearchEnd, _ job: JobContext
    ) async throws(JobError) {
        _ = try await job.write { $0.append(CoverWish.end, wish.ended(as: status)) }
    }

    /// A book that waits for a search. What the catalogue knows helps out.
    private static let findBook = Statement(
        """
        SELECT b.title, coalesce(b.author, e.authors[1]), coalesce(b.isbn13, e.isbn13), \
        coalesce(e.cover_links, '{}'), b.cover_wanted_at FROM books b LEFT JOIN editions e ON e.id = \
        coalesce(b.edition_id, (SELECT k.id FROM editions k WHERE k.isbn13 = b.isbn13)) \
        WHERE b.user_id = $1 AND b.id = $2 AND b.cover_wanted_at IS NOT NULL
        """)
}

/// Tells readers whose books have waited for a minute, nearly, that nothing was found yet.
///
/// A search that is slow, or whose server died, goes on and may still bring something.
struct EndCoverWaits: JobHandler {
    static let kind = "cover.end_waits"
    static let settings = JobSettings(concurrency: 1, attemptsMax: 1, every: .seconds(4))
    /// With the pauses between two looks it is a minute at most.
    private static let waitSeconds: Int32 = 50
    private static let usersMax: Int32 = 100

    private static let endWaits = Statement("SELECT end_overdue_cover_waits($1, $2)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let owners = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(int32: Self.waitSeconds)
            parameters.append(int32: Self.usersMax)
            segment.append(Self.endWaits, parameters)
        }[0]
        await job.notifyChanges(of: (0..<owners.count).compactMap { owners.uuid($0, 0) })
    }
}
