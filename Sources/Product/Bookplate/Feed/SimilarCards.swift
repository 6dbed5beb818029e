import GraphQLPostgres
import Postgres
import Requests

extension FeedCard {
    /// The field `FeedCard.similar`: books that the same readers like, then books of similar popularity in the same genre.
    ///
    /// Similar books are learned by works: the links connect the founders of works. The result contains one record of each work: the first
    /// one in the card's language, or the first one of all. `$3` is the maximum number of similar books of each card.
    static let similar = RowRelation(
        .many, type, key: id, matching: "own.card_id",
        from: """
            (
                SELECT
                    c.id AS card_id,
                    coalesce((SELECT w.founder_id FROM work_records w WHERE w.edition_id = c.id), c.id) AS founder_id,
                    ARRAY(SELECT f.language FROM edition_genres f WHERE f.edition_id = c.id AND f.ordinal = 1) AS languages
                FROM editions c
                WHERE c.id = $2
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
                        ON o.language = here.language
                        AND o.genre_id = here.genre_id
                        AND o.ordinal = 1
                        AND o.position > here.position
                    WHERE here.edition_id = own.card_id
                        AND here.ordinal = 1
                        AND here.genre_id <> 0
                        AND NOT EXISTS (
                            SELECT
                            FROM work_records w
                            WHERE w.edition_id = o.edition_id
                                AND (
                                    w.founder_id = own.founder_id
                                    OR record_to_show(w.founder_id, own.languages) <> w.edition_id
                                )
                            OFFSET 0
                        )
                        AND coalesce(
                            (SELECT w.founder_id FROM work_records w WHERE w.edition_id = o.edition_id),
                            o.edition_id
                        ) <> ALL(learned.ids)
                    ORDER BY o.position
                    LIMIT $3
                )
                ORDER BY rank
                LIMIT $3
            ) n
            CROSS JOIN LATERAL (
                SELECT *
                FROM editions e
                WHERE e.id = \(WorkRecords.recordToShow(of: "n.similar_id", languages: "own.languages"))
                OFFSET 0
            ) e
            ORDER BY n.rank
            """,
        bind: { try $1.append(int32: Int32($0.pageSize(default: 10))) })
}
