import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The field `FeedCard.similar`: books that the same readers like, then books of similar popularity in the same genre.
///
/// Similar books are learned by works: the links connect the founders of works. The first record of each work is returned.
struct SimilarCards: RowLoader {
    let key: Column

    var parentColumns: [Column] { [key] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let match = columns.index(of: Column("n.edition_id", .uuid))
        let layout = RowLayout(field.selections[0], of: FeedCard.type, columns: &columns)
        return Prepared(key: key, match: match, layout: layout, statement: Self.statement(columns))
    }

    /// Parameters: `$2` are the cards, `$3` is the maximum number of similar books of each card.
    private static func statement(_ columns: ColumnSet) -> Statement {
        Statement(
            """
            SELECT \(columns.sql)
            FROM unnest($2::uuid[]) k (id)
            CROSS JOIN LATERAL (
                SELECT coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = k.id), k.id) AS founder_id
                OFFSET 0
            ) own
            CROSS JOIN LATERAL (
                SELECT ARRAY(
                    SELECT u.similar_id
                    FROM edition_similar s
                    CROSS JOIN LATERAL unnest(s.similar_ids, s.scores) WITH ORDINALITY AS u (similar_id, score, rank)
                    WHERE s.edition_id = own.founder_id AND u.score > 0
                    ORDER BY u.rank
                ) AS ids
                OFFSET 0
            ) learned
            CROSS JOIN LATERAL (
                SELECT k.id AS edition_id, near.similar_id, near.rank
                FROM (
                    (
                        SELECT u.similar_id, u.rank
                        FROM unnest(learned.ids) WITH ORDINALITY AS u (similar_id, rank)
                        ORDER BY u.rank
                        LIMIT $3
                    )
                    UNION ALL
                    (
                        -- The next books of the card's first genre.
                        SELECT o.edition_id, o.position
                        FROM edition_genres here
                        JOIN edition_genres o
                            ON o.genre_id = here.genre_id
                            AND o.ordinal = 1
                            AND o.position > here.position
                        WHERE here.edition_id = k.id
                            AND here.ordinal = 1
                            AND here.genre_id <> 0
                            AND NOT EXISTS (
                                SELECT
                                FROM work_records w
                                WHERE w.edition_id = o.edition_id
                                    AND (w.rank > 1 OR w.founder_id = own.founder_id)
                                OFFSET 0
                            )
                            AND coalesce(
                                (SELECT w.founder_id FROM work_records w WHERE w.edition_id = o.edition_id),
                                o.edition_id
                            ) <> ALL(learned.ids)
                        ORDER BY o.position
                        LIMIT $3
                    )
                ) near
                ORDER BY near.rank
                LIMIT $3
            ) n
            LEFT JOIN LATERAL \(WorkRecords.firstRecord(of: "n.similar_id")) first ON true
            CROSS JOIN LATERAL (
                SELECT * FROM editions e WHERE e.id = coalesce(first.edition_id, n.similar_id) OFFSET 0
            ) e
            ORDER BY k.id, n.rank
            """)
    }

    private struct Prepared: RequestLoad {
        let key: Column
        /// The index of the column with the parent's key.
        let match: Int
        let layout: RowLayout
        let statement: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let keys: ParentKeys
            switch parents {
            case let parents as RowBatch:
                keys = parents.keys(key)
            case let parents as PlaceholderRow:
                guard let key = parents.value(of: key) else { return .needsParents }
                keys = ParentKeys([key])
            default:
                throw .internalError
            }
            let first = try arguments.pageSize(default: 10)
            var parameters = Parameters.of(try request.caller().userID)
            parameters.append(uuids: keys.distinct)
            parameters.append(int32: Int32(first))
            let pending = request.query(statement, parameters)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try pending.rows()
                    return keys.lists(rows, match, RowBatch(rows, layout))
                }
            }
        }
    }
}
