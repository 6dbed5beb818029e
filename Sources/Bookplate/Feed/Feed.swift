import GraphQL
import Postgres

/// `Query.feed`: books the caller has not seen, the popular first, genres in turn.
///
/// Each genre is a queue by popularity (`feed_order`). A page takes one book from each of the next
/// genres, so two neighbours share a genre only when no other has books left; and it starts where its
/// cursor stands in each queue, so its cost does not grow with the catalogue.
struct Feed: FieldLoader {
    /// How long a skipped book stays away.
    static let skipCoolDown = "30 days"

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let layouts = ConnectionLayouts(field, of: FeedCard.type, columns: &columns)
        return Prepared(
            selection: field.selections[0], layouts: layouts,
            genreIndex: columns.index(of: Column("q.id", .integer)),
            rankIndex: columns.index(of: Column("o.rank", .integer)),
            nowIndex: columns.index(of: Column("now()", .timestamp)),
            allGenres: Self.statement(
                columns, where: "o.ordinal = 1"),
            someGenres: Self.statement(
                columns,
                where: """
                    NOT EXISTS (SELECT FROM feed_order f WHERE f.edition_id = o.edition_id \
                    AND f.genre_id = ANY($6::int2[]) AND f.ordinal < o.ordinal)
                    """))
    }

    /// Unseen books of the genres `$3` behind the ranks `$4`, at most `$5` of each, in the genres'
    /// order and by rank; as it was at `$2`, or now. A book stands in one queue only: `condition`
    /// says which.
    ///
    /// OFFSET 0 keeps the planner from joining: it would read the whole library once where a few look-ups do.
    private static func statement(_ columns: ColumnSet, where condition: String) -> Statement {
        Statement(
            """
            SELECT \(columns.sql) \
            FROM unnest($3::int2[], $4::int4[]) WITH ORDINALITY q (id, after, n) \
            CROSS JOIN LATERAL (SELECT o.edition_id, o.rank FROM feed_order o \
            WHERE o.genre_id = q.id AND o.rank > q.after AND \(condition) \
            AND NOT EXISTS (SELECT FROM swipes s WHERE s.user_id = $1 \
            AND s.edition_id = o.edition_id AND s.recorded_at <= coalesce($2, now()) \
            AND (s.action <> 'SKIP' \
            OR s.swiped_at > coalesce($2, now()) - interval '\(skipCoolDown)') OFFSET 0) \
            AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = $1 \
            AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now()) OFFSET 0) \
            ORDER BY o.rank LIMIT $5) o JOIN editions e ON e.id = o.edition_id \
            ORDER BY q.n, o.rank
            """)
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let genreIndex: Int
        let rankIndex: Int
        let nowIndex: Int
        let allGenres: Statement
        let someGenres: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let first = try PageSize(arguments, default: 10).first
            var position: FeedPosition?
            if let cursor = arguments["after"]?.string {
                position = FeedPosition(cursor: cursor)
                guard position != nil else {
                    throw .badUserInput(
                        field: "after",
                        "This cursor is not of the feed. Start again without it.")
                }
            }
            let names = arguments["genres"]?.list?.compactMap(\.string)
            let after = position
            return .call {
                do throws(BookplateError) {
                    return try await page(first, after, names, request)
                } catch {
                    return .failed(parents.count, error.fieldError(requestID: request.requestID))
                }
            }
        }

        private func page(
            _ first: Int, _ after: FeedPosition?, _ names: [String]?, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            let genres = try await request.services.genres.ids(named: names, for: request)
            let turns = (after?.turns(of: genres) ?? genres)
                .filter { after?.ranks[$0] != FeedPosition.exhausted }
            let wanted = first + 1
            // Mostly each of the next genres has a book, and one of each makes the page.
            let each = turns.isEmpty ? 0 : (wanted + turns.count - 1) / turns.count
            let next = Array(turns.prefix(wanted))
            var rows = try await ask(next, each, after, names != nil ? genres : nil, request)
            var exhausted: [Int16] = []
            if rows.count < wanted, next.count < turns.count || each < wanted {
                rows = try await ask(turns, wanted, after, names != nil ? genres : nil, request)
                exhausted = turns.filter { genre in
                    !(0..<rows.count).contains { rows.int32($0, genreIndex) == Int32(genre) }
                }
            }
            let order = interleaved(rows)
            var start =
                FeedPosition(
                    asOf: rows.timestamptz(0, nowIndex) ?? 0, continuing: after)
            for genre in exhausted { start.exhaust(genre) }
            let page = ConnectionBatch.Page(
                rows: 0..<Int32(min(first, order.count)), hasNextPage: order.count > first,
                hasPreviousPage: after != nil)
            let batch = ConnectionBatch(
                rows, pages: [page], order: order, layouts: layouts, selection: selection
            ) { place in
                var position = start
                for row in order.prefix(place + 1) {
                    position.take(
                        genre: Int16(rows.int32(Int(row), genreIndex) ?? 0),
                        rank: rows.int32(Int(row), rankIndex) ?? 0)
                }
                return position.cursor
            }
            return .each(of: batch)
        }

        private func ask(
            _ genres: [Int16], _ each: Int, _ after: FeedPosition?, _ filter: [Int16]?,
            _ request: RequestContext
        ) async throws(BookplateError) -> Rows {
            try await request.read { segment, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(timestamptz: after?.asOf)
                parameters.append(int32s: genres.map(Int32.init))
                parameters.append(int32s: genres.map { after?.ranks[$0] ?? 0 })
                parameters.append(int32: Int32(each))
                if let filter { parameters.append(int32s: filter.map(Int32.init)) }
                segment.append(filter == nil ? allGenres : someGenres, parameters)
            }[0]
        }

        /// The rows' order on the page: the first of each genre, then the second of each, and so on.
        ///
        /// They come genre by genre, each in the order of its ranks.
        private func interleaved(_ rows: Rows) -> [Int32] {
            var rounds: [[Int32]] = []
            var round = 0
            for row in 0..<rows.count {
                let isSameGenre =
                    row > 0 && rows.int32(row, genreIndex) == rows.int32(row - 1, genreIndex)
                round = isSameGenre ? round + 1 : 0
                if round == rounds.count { rounds.append([]) }
                rounds[round].append(Int32(row))
            }
            return rounds.flatMap { $0 }
        }
    }
}
