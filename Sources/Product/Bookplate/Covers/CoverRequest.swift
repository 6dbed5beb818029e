import BookSources
import GraphQL
import JobQueue
import Postgres

/// A request for a book's cover, which a search fulfills.
package struct CoverRequest: Sendable {
    package let user: UUID
    package let book: UUID
    /// The time of the request in microseconds since the Unix epoch; nil for a search that a backfill started without a
    /// request.
    package let requestedAt: Int64?

    package init(user: UUID, book: UUID, requestedAt: Int64?) {
        self.user = user
        self.book = book
        self.requestedAt = requestedAt
    }

    /// The parameters of `end`.
    package func endParameters(_ failure: CoverSearchFailure) -> Parameters {
        var parameters = Parameters.of(user, book)
        parameters.append(timestamptz: requestedAt)
        parameters.append(text: failure.coverStatus, as: .inferred)
        parameters.append(bool: failure != .unanswered)
        return parameters
    }

    /// Ends a search without a cover.
    package static let end = Statement("SELECT end_cover_search($1, $2, $3, $4::cover_status, $5)")
}

/// Why a search ended without a cover.
package enum CoverSearchFailure: Sendable {
    /// All sources answered, and none has a cover.
    case notFound
    /// No cover was found, and a source that may have one could not answer. `fetchMissingCovers` does not wait a day
    /// before it searches again.
    case unanswered
    /// A cover was found but could not be stored.
    case failed

    /// The value of `books.cover_status`.
    var coverStatus: String {
        switch self {
        case .notFound, .unanswered: "NOT_FOUND"
        case .failed: "FAILED"
        }
    }
}

extension CoverQuery: RowDecodable {
    /// Reads a title, an author, an ISBN, and the catalog's links.
    package init?(_ row: inout RowReader) {
        guard let title = row.text() else { return nil }
        self.init(
            title: title, author: row.text(),
            number: row.text().flatMap { ISBN($0) }.map { BookNumber($0) },
            links: (row.texts() ?? []).compactMap { CoverCandidate(link: $0) })
    }
}

extension CoverCandidate {
    /// Parses a link of the catalog: the name of a source, a space, and a URL.
    init?(link: String) {
        guard let space = link.firstIndex(of: " "),
            let source = SourceName(rawValue: String(link[..<space]))
        else { return nil }
        self.init(source: source, url: String(link[link.index(after: space)...]))
    }
}

extension Pipeline {
    /// Enqueues searches for all covers that the pipeline's transaction has requested: for books that it has created or
    /// changed to FETCHING with the current time.
    ///
    /// - Returns: The key of the number of searches.
    @discardableResult
    mutating func enqueueCoverSearches(
        _ priority: JobPriority = .foreground
    ) -> ResultKey<Int64> {
        notify(JobWorker.channel, FetchCover.kind)
        return append(FetchCover.enqueue, FetchCover.enqueueParameters(priority))
    }
}

extension FetchCover {
    /// Adds a job and an event for each book whose cover the transaction has requested (`cover_requested_at = now()`). Returns
    /// the number of jobs.
    ///
    /// At most ten jobs of a user have the foreground priority at a time. Further ones are background work, so that a reader with
    /// many new books does not delay the searches of the others.
    package static let enqueue = TypedStatement<Int64>(
        """
        WITH requested AS MATERIALIZED (
            SELECT b.user_id, b.id, row_number() OVER (ORDER BY b.id) AS number
            FROM books b
            WHERE b.user_id = app_user_id() AND b.cover_status = 'FETCHING' AND b.cover_requested_at = now()
        ), recorded AS (
            INSERT INTO events (user_id, kind, payload)
            SELECT r.user_id, 'cover_changed', jsonb_build_object('book_id', r.id, 'status', 'FETCHING')
            FROM requested r
        ), awaited AS MATERIALIZED (
            SELECT count(*) AS count
            FROM jobs w
            WHERE w.user_id = app_user_id() AND w.kind = $1 AND w.key IS NOT NULL AND w.state <> 'DEAD'
                AND w.priority = 0
        ), added AS (
            INSERT INTO jobs AS j (user_id, kind, payload, key, priority, attempts_max)
            SELECT
                r.user_id, $1, jsonb_build_object('bookID', r.id), r.id::text,
                CASE WHEN a.count + r.number > 10 THEN 10 ELSE $2 END, $3
            FROM requested r
            CROSS JOIN awaited a
            ORDER BY r.id
            ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
            SET priority = least(j.priority, excluded.priority),
                run_at = least(j.run_at, excluded.run_at),
                attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END,
                again = (j.state = 'RUNNING'),
                updated_at = excluded.updated_at
            RETURNING 1
        )
        SELECT count(*)
        FROM added
        """)

    package static func enqueueParameters(_ priority: JobPriority) -> Parameters {
        var parameters = Parameters()
        parameters.append(text: kind)
        parameters.append(int32: priority.rawValue)
        parameters.append(int32: Int32(clamping: settings.attemptsMax))
        return parameters
    }
}

extension Cover {
    /// Requests the cover of one book. The book keeps its current cover until another one is found.
    package static let requestOne = Statement(
        """
        UPDATE books
        SET cover_status = 'FETCHING', cover_requested_at = now()
        WHERE user_id = $1 AND id = $2
        """)

    /// Ends a request at once because no source is configured.
    static let setNotFound = Statement(
        """
        UPDATE books
        SET cover_status = 'NOT_FOUND'
        WHERE user_id = $1 AND id = $2 AND cover_status IN ('NO_COVER', 'FAILED')
        """)
}
