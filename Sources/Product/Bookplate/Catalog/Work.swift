import GraphQL
import GraphQLPostgres
import Postgres

/// A work: all editions of the catalog that are the same book. It has no row of its own.
///
/// Its fields are those of the work's first record, the edition with the rank 1 in `work_records`, under the alias `e`. Therefore
/// the fields of cards fit. The id is computed from the oldest record of the work, its founder (`work_id`). An id that
/// was computed from any other record also finds the work, so ids stay valid when works are merged or split.
enum Work {
    static let type: RowType = RowType(
        name: "Work",
        // For `RowsByID` only.
        table: """
            (
                SELECT e.*, k.id AS requested_id, coalesce(w.founder_id, o.id) AS founder_id
                FROM (SELECT \(ColumnSet.requestedKey)) k (id)
                CROSS JOIN LATERAL (
                    SELECT coalesce(
                        (SELECT r.survivor_id FROM removed_editions r WHERE r.id = work_id(k.id)),
                        work_id(k.id)
                    ) AS id
                ) o
                \(firstRecord)
            ) e
            """,
        scope: "true", id: Column("e.requested_id", .uuid),
        fields: [
            "id": .column(Column("work_id(e.founder_id)", .uuid)),
            "title": .column(FeedCard.title),
            "authors": .relation(Author.ofCard),
            "genres": .relation(NamedGenres(Column("e.genres", .texts))),
            "image": .embedded(CoverImage.ofEdition),
            "series": .relation(SeriesEntry.ofCard),
            "editionCount": .column(
                Column(
                    """
                    (
                        SELECT greatest(count(*), 1)
                        FROM work_records w
                        WHERE w.founder_id = e.founder_id
                    )
                    """, .integer)),
            "editions": .relation(editions),
            "inLibrary": .relation(Book.ofWork),
        ])

    /// Joins the edition `o` with `w`, its row in `work_records` if its work has several records, and with `e`, the first record
    /// of its work.
    private static let firstRecord = """
        LEFT JOIN work_records w ON w.edition_id = o.id
        LEFT JOIN work_records f ON f.founder_id = w.founder_id AND f.rank = 1
        JOIN editions e ON e.id = coalesce(f.edition_id, o.id)
        """

    /// Returns the relation to the work of an edition.
    ///
    /// - Parameter key: The column with the id of the edition.
    static func ofEdition(_ key: Column) -> RowRelation {
        RowRelation(
            .one, type, key: key, matching: "e.of_edition",
            from: """
                (
                    SELECT e.*, o.id AS of_edition, coalesce(w.founder_id, o.id) AS founder_id
                    FROM editions o
                    \(firstRecord)
                    WHERE o.id = $2
                ) e
                """)
    }

    /// The editions in the order in which the feed prefers them.
    private static let editions = RowConnection(
        FeedCard.type, key: FeedCard.id,
        orders: [
            RowOrder(
                name: "RANK", columns: [.init(Column("e.rank", .float)), .init(FeedCard.id)],
                isDescending: false)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT e.*, r.rank
                        FROM (
                            SELECT o.edition_id, o.rank::float8 AS rank
                            FROM work_records w
                            JOIN work_records o USING (founder_id)
                            WHERE w.edition_id = k.id
                            UNION ALL
                            SELECT k.id, 1
                            WHERE NOT EXISTS (SELECT FROM work_records w WHERE w.edition_id = k.id)
                        ) r
                        JOIN editions e ON e.id = r.edition_id
                    ) e
                    WHERE true
                    """)
        })
}

extension Book {
    /// The caller's newest book of a work, by any record of the work.
    ///
    /// Relies on this plan: the records of each work by its key, and for each record, the book by `books_edition_id`.
    static let ofWork = RowRelation(
        .one, type, key: FeedCard.id, matching: "r.of_edition",
        from: """
            (
                SELECT e.id AS of_edition, e.id AS edition_id
                FROM editions e
                WHERE e.id = $2
                UNION ALL
                SELECT w.edition_id, o.edition_id
                FROM work_records w
                JOIN work_records o ON o.founder_id = w.founder_id AND o.edition_id <> w.edition_id
                WHERE w.edition_id = $2
            ) r
            CROSS JOIN LATERAL (
                SELECT *
                FROM books b
                WHERE b.user_id = $1 AND b.edition_id = r.edition_id
                OFFSET 0
            ) b
            ORDER BY b.added_at, b.id
            """)
}
