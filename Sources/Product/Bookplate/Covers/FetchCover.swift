import BookSources
import ImageProcessing
import JobQueue
import Postgres
import Requests

/// Searches for a requested cover and makes it the book's cover.
///
/// `books.cover_requested_at` identifies the request. If the user changes the cover or the book in the meantime, the
/// request ends and the result of the search is discarded.
package struct FetchCover: JobHandler {
    package static let kind = "cover.fetch"
    /// The attempts span half an hour and start with a delay of seconds, so a late cover still arrives.
    package static let settings = JobSettings(
        concurrency: 6, foregroundReserve: 2, attemptsMax: 10, timeout: .seconds(55),
        retryDelay: .seconds(4))

    let search: CoverSearch

    package struct Payload: Codable, Sendable {
        let bookID: UUID
    }

    package func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let user = try job.user()
        let books = try await job.read { pipeline in
            pipeline.append(WaitingBook.query, .of(user, payload.bookID))
        }
        guard let book = books.first else { return }
        let request = CoverRequest(
            user: user, book: payload.bookID, requestedAt: book.requestedAt)
        // Web searches cost money, so they are not repeated in every run while a source is down.
        let isFirstRun = job.attempt == 1 && job.postponedFor == nil
        switch await search.best(
            for: book.query, searchesWebAfterFailures: isFirstRun || job.isLastAttempt,
            priority: job.isAwaited ? .interactive : .background, reader: user)
        {
        case .found(let images, let source): try await store(images, source, for: request, job)
        case .nothing: try await end(request, .notFound, job)
        case .unavailable(_, let pausedUntil?) where job.canBePostponed:
            throw .postpone("All sources that may have the cover are paused.", until: pausedUntil)
        case .unavailable:
            guard job.isLastAttempt, !Task.isCancelled else {
                throw .retry("A cover source cannot answer.")
            }
            // The job succeeds instead of becoming a dead job: the search can be requested again, by the user or by
            // `backfill covers`.
            try await end(request, .unanswered, job)
        }
    }

    private func store(
        _ images: CoverImages, _ source: CoverSource, for request: CoverRequest, _ job: JobContext
    ) async throws(JobError) {
        let covers = search.covers
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(
                images, user: request.user, book: request.book, source: source)
        } catch {
            if job.isLastAttempt { return try await end(request, .failed, job) }
            throw .retry("The cover cannot be stored.")
        }
        do throws(JobError) {
            let committed = try await commit(staged, for: request, job)
            await covers.settle(staged, kept: committed.currentVersion)
            let deleted = await covers.removeFiles(committed.removed, of: request.user)
            if !deleted.isEmpty {
                try await job.write { $0.forget(deleted, of: request.user) }
            }
        } catch .database(.server(let error)) where error.sqlState == .quotaExceeded {
            // The user or the tenant has reached the storage limit.
            await covers.settle(staged, kept: nil)
            try await end(request, .failed, job)
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    /// Makes a staged cover the book's cover.
    ///
    /// Runs in a task of its own because the job is cancelled if the user's account is deleted. If the transaction were
    /// cancelled, it would be unknown whether the files are in use.
    private func commit(
        _ staged: StagedCover, for request: CoverRequest, _ job: JobContext
    ) async throws(JobError) -> CommittedCover {
        try await Task { () async -> Result<CommittedCover, JobError> in
            do throws(JobError) {
                let (results, keys) = try await job.write { pipeline in
                    (
                        currentVersion: staged.appendFound(
                            to: &pipeline, requestedAt: request.requestedAt),
                        removed: pipeline.appendRemovedCovers(of: request.user)
                    )
                }
                return .success(
                    CommittedCover(
                        currentVersion: results[keys.currentVersion].first,
                        removed: results[keys.removed]))
            } catch {
                return .failure(error)
            }
        }.value.get()
    }

    private struct CommittedCover: Sendable {
        /// The current version of the book's cover; nil if the book was no longer waiting for this search.
        let currentVersion: String?
        let removed: [RemovedCover]
    }

    private func end(
        _ request: CoverRequest, _ failure: CoverSearchFailure, _ job: JobContext
    ) async throws(JobError) {
        try await job.write {
            $0.append(CoverRequest.end, request.endParameters(failure))
        }
    }

    /// A book with a requested cover.
    private struct WaitingBook: RowDecodable {
        let query: CoverQuery
        let requestedAt: Int64

        init?(_ row: inout RowReader) {
            guard let query = CoverQuery(&row), let requestedAt = row.timestamptz() else {
                return nil
            }
            self.query = query
            self.requestedAt = requestedAt
        }

        /// Completes the book's data with those of its edition in the catalog.
        static let query = TypedStatement<Self>(
            """
            SELECT
                b.title,
                coalesce(b.authors[1], e.authors[1]),
                coalesce(b.isbn13, e.isbn13),
                coalesce(e.cover_links, '{}'),
                b.cover_requested_at
            FROM books b
            LEFT JOIN editions e ON e.id = coalesce(
                b.edition_id,
                (SELECT k.id FROM editions k WHERE k.isbn13 = b.isbn13)
            )
            WHERE b.user_id = $1 AND b.id = $2 AND b.cover_requested_at IS NOT NULL
            """)
    }
}

/// Notifies readers who have waited nearly a minute that no cover was found yet.
///
/// The search continues and may still find one. This also covers searches whose server has died.
struct EndCoverWaits: JobHandler {
    static let kind = "cover.end_waits"
    static let settings = JobSettings(concurrency: 1, attemptsMax: 1, every: .seconds(4))
    /// Together with the time between two runs, the wait is at most a minute.
    private static let waitSeconds: Int32 = 50
    /// The maximum number of users per run.
    private static let usersMax: Int32 = 100

    private static let endWaits = TypedStatement<UUID>("SELECT end_overdue_cover_waits($1, $2)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let owners = try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(int32: Self.waitSeconds)
            parameters.append(int32: Self.usersMax)
            return pipeline.append(Self.endWaits, parameters)
        }
        await job.notifyChanges(of: owners)
    }
}
