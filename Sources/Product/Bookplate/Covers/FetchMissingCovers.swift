import GraphQL
import GraphQLPostgres
import JobQueue
import Postgres
import Requests

extension Cover {
    /// The maximum number of books of one `fetchMissingCovers`.
    static let missingMax: Int32 = 500

    /// Requests covers for the caller's books without one, for as many books as the caller's rate limit allows.
    ///
    /// Skips two kinds of books: those with a search under way, which can last half an hour, and those for which a
    /// search found nothing during the last day and that have not changed since.
    static let fetchMissing = PlainMutation(.one) { _, request throws(BookplateError) in
        guard !request.services.coverSources.isEmpty else {
            _ = try request.caller()
            return [PlainObject(leaves: ["queued": .int(0)])]
        }
        func parameters(_ viewer: Viewer, _ count: Int32) -> Parameters {
            var parameters = Parameters.of(viewer.userID)
            parameters.append(int32: count)
            return parameters
        }
        let counts = try await request.read { pipeline, viewer in
            pipeline.append(countMissing, parameters(viewer, missingMax))
        }
        let count = counts.first ?? 0
        guard count > 0 else { return [PlainObject(leaves: ["queued": .int(0)])] }
        // The request itself has been charged one unit, which pays for the first searches.
        let perUnit = RateLimits.searchesPerUnit
        func units(_ count: Int) -> Int { max(0, (count - 1) / perUnit) }
        let queued = try await request.charges.charge(upTo: units(Int(count))) {
            left throws(BookplateError) in
            let queuedCounts = try await request.write { pipeline, viewer in
                pipeline.append(
                    requestMissing, parameters(viewer, min(count, Int32((1 + left) * perUnit))))
                return pipeline.enqueueCoverSearches(.background)
            }
            let queued = Int(queuedCounts.first ?? 0)
            return (units(queued), queued)
        }
        return [PlainObject(leaves: ["queued": .int(queued)])]
    }

    /// Selects the caller's books for which a cover can be requested, the most recently added first.
    private static let missing = """
        SELECT m.id
        FROM books m
        WHERE m.user_id = $1
            AND (m.cover_requested_at IS NULL OR m.cover_requested_at < now() - interval '1 hour')
            AND (
                m.cover_status <> 'NOT_FOUND'
                OR coalesce(m.cover_not_found_at, '-infinity')
                    < greatest(m.updated_at, now() - interval '1 day')
            )
            AND NOT EXISTS (SELECT FROM covers c WHERE c.user_id = $1 AND c.book_id = m.id)
            AND NOT m.is_cover_removed
        ORDER BY m.added_at DESC, m.id DESC
        LIMIT $2
        """

    private static let countMissing = TypedStatement<Int32>(
        "SELECT count(*)::int FROM (\(missing)) m")

    private static let requestMissing = Statement(
        """
        UPDATE books b
        SET cover_status = 'FETCHING', cover_requested_at = now()
        WHERE b.user_id = $1 AND b.id IN (\(missing))
        """)
}
