import BookSources
import GraphQL
import JobQueue
import Postgres

/// A search for a cover that somebody waits for.
struct CoverWish: Sendable {
    let user: UUID
    let book: UUID
    /// When it was wished for, in microseconds of Unix time; nil where nobody wished, and a backfill looks.
    let wantedAt: Int64?

    /// Its parameters for an end without a cover.
    func ended(as status: CoverSearchEnd) -> Parameters {
        var parameters = Parameters.of(user, book)
        parameters.append(timestamptz: wantedAt)
        parameters.append(text: status.coverStatus, as: .inferred)
        parameters.append(bool: status != .unanswered)
        return parameters
    }

    static let end = Statement("SELECT end_cover_search($1, $2, $3, $4::cover_status, $5)")
}

/// How a search for a cover ends that brings none.
enum CoverSearchEnd: Sendable {
    case notFound
    /// None was found, and somebody who may have one could not say: the next wish is served at once.
    case unanswered
    /// One was found and could not be kept.
    case failed

    var coverStatus: String {
        switch self {
        case .notFound, .unanswered: "NOT_FOUND"
        case .failed: "FAILED"
        }
    }
}

extension CoverQuery {
    /// Of a row's first four cells: title, author, ISBN, the catalogue's links; nil where there is none.
    init?(_ rows: Rows, _ row: Int) {
        guard row < rows.count, let title = rows.text(row, 0) else { return nil }
        self.init(
            title: title, author: rows.text(row, 1),
            number: rows.text(row, 2).flatMap { ISBN($0) }.map { BookNumber($0) },
            links: (rows.texts(row, 3) ?? []).compactMap { CoverCandidate(link: $0) })
    }
}

extension CoverCandidate {
    /// As the catalogue keeps it: the source, a space and the address.
    init?(link: String) {
        guard let space = link.firstIndex(of: " "),
            let source = SourceName(rawValue: String(link[..<space]))
        else { return nil }
        self.init(source: source, url: String(link[link.index(after: space)...]))
    }
}

extension Pipeline {
    /// Adds the jobs of all searches that the segment's transaction has wished for: books that it has made or
    /// changed to FETCHING, wanted now.
    mutating func enqueueCoverSearches(_ priority: JobPriority = .foreground) {
        var parameters = Parameters()
        parameters.append(text: FetchCover.kind)
        parameters.append(int32: priority.rawValue)
        parameters.append(int32: Int32(clamping: FetchCover.settings.attemptsMax))
        append(enqueueSearches, parameters)
        notify(JobWorker.channel, FetchCover.kind)
    }

    /// Adds the wish for covers of the books that the segment's transaction has made, as the library's log has them.
    ///
    /// - Parameter others: get theirs elsewhere.
    mutating func wishForCovers(ofNewBooksOf user: UUID, except others: [UUID]) {
        var parameters = Parameters.of(user)
        parameters.append(uuids: others)
        append(wishForNew, parameters)
        enqueueCoverSearches(.background)
    }
}

private let enqueueSearches = Statement("SELECT enqueue_cover_searches($1, $2, $3)")

private let wishForNew = Statement(
    """
    UPDATE books b SET cover_status = 'FETCHING', cover_wanted_at = now() \
    FROM changes c JOIN change_heads h ON h.user_id = c.user_id \
    WHERE h.user_id = $1 AND h.xact = pg_current_xact_id() AND c.seq > h.base_seq \
    AND c.typename = 'Book' AND c.kind = 'CREATED' AND b.user_id = $1 AND b.id = c.id \
    AND b.cover_status = 'NONE' AND b.id <> ALL($2)
    """)

extension Cover {
    /// Books of one `fetchMissingCovers`.
    static let missingMax: Int32 = 500

    /// Looks for covers of the books that have none, of as many as the caller has units for. Left alone are those that are
    /// looked for already, a search may go on for half an hour, and those that nobody had a cover of a day ago and that are
    /// the same.
    static let fetchMissing = LeafMutation { _, request throws(BookplateError) in
        guard !request.services.coverSources.isEmpty else {
            _ = try request.caller()
            return .int(0)
        }
        func parameters(_ viewer: Viewer, _ count: Int32) -> Parameters {
            var parameters = Parameters.of(viewer.userID)
            parameters.append(int32: count)
            return parameters
        }
        let counted = try await request.read { segment, viewer in
            segment.append(countMissing, parameters(viewer, missingMax))
        }
        let count = counted[0].int32(0, 0) ?? 0
        guard count > 0 else { return .int(0) }
        // The first few are the request's own unit, so there is always room for some.
        let perUnit = RateLimits.searchesPerUnit
        func units(_ count: Int) -> Int { max(0, (count - 1) / perUnit) }
        let queued = try await request.charge(upTo: units(Int(count))) {
            left throws(BookplateError) in
            let rows = try await request.write { segment, viewer in
                segment.append(
                    wishForMissing, parameters(viewer, min(count, Int32((1 + left) * perUnit))))
                segment.enqueueCoverSearches(.background)
            }
            let queued = Int(rows[1].int64(0, 0) ?? 0)
            return (units(queued), queued)
        }
        return .int(queued)
    }

    /// The newest first: they are what the reader looks at.
    private static let missing = """
        SELECT m.id FROM books m WHERE m.user_id = $1 \
        AND (m.cover_wanted_at IS NULL OR m.cover_wanted_at < now() - interval '1 hour') \
        AND (m.cover_status <> 'NOT_FOUND' OR coalesce(m.cover_sought_at, '-infinity') \
        < greatest(m.updated_at, now() - interval '1 day')) \
        AND NOT EXISTS (SELECT FROM covers c WHERE c.user_id = $1 AND c.book_id = m.id) \
        ORDER BY m.added_at DESC, m.id DESC LIMIT $2
        """
    private static let countMissing = Statement("SELECT count(*)::int FROM (\(missing)) m")
    private static let wishForMissing = Statement(
        """
        UPDATE books b SET cover_status = 'FETCHING', cover_wanted_at = now() \
        WHERE b.user_id = $1 AND b.id IN (\(missing))
        """)

    /// Wishes for a cover of one book; what it has stays until another comes.
    static let wishForOne = Statement(
        """
        UPDATE books SET cover_status = 'FETCHING', cover_wanted_at = now() \
        WHERE user_id = $1 AND id = $2
        """)

    /// Where nobody can be asked the answer is known at once.
    static let findNone = Statement(
        """
        UPDATE books SET cover_status = 'NOT_FOUND' WHERE user_id = $1 AND id = $2 \
        AND cover_status IN ('NONE', 'FAILED')
        """)
}
