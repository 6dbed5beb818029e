import GraphQL
import GraphQLPostgres
import Postgres

/// A person who has made books of the catalog, in any role. The id is computed from the name, as in `editions.author_ids`.
enum Person {
    static let id = Column("p.id", .uuid)
    private static let name = Column("p.name", .text)

    static let type: RowType = RowType(
        name: "Person",
        // For `RowsByID` only.
        table: """
            (
                SELECT k.id, person_name(k.id) AS name
                FROM (SELECT \(ColumnSet.requestedKey)) k (id)
            ) p
            """,
        scope: "p.name IS NOT NULL", id: id,
        fields: [
            "id": .column(id),
            "name": .column(name),
            "bio": .column(Column("(SELECT a.bio FROM authors a WHERE a.id = p.id)", .text)),
            "isFollowed": .column(
                Column(
                    """
                    EXISTS (SELECT FROM followed_authors f WHERE f.user_id = $1 AND f.person_id = p.id)
                    """, .boolean)),
            "workCount": .column(
                Column("(SELECT count(*) FROM works_of_person(p.id))", .integer)),
            "works": .relation(works),
            "series": .relation(series),
            "books": .relation(books),
        ])

    /// The cards of the works, the most popular first.
    private static let works = RowConnection(
        FeedCard.type, key: id,
        orders: [
            RowOrder(
                name: "POPULARITY",
                columns: [
                    .init(Column("e.popularity", .float)),
                    // Books with the same popularity come in the order in which they were added.
                    .init(Column("e.number::float8", .float)), .init(FeedCard.id),
                ],
                isDescending: true)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT e.*
                        FROM works_of_person(k.id) w
                        JOIN editions e ON e.id = w.edition_id
                    ) e
                    WHERE true
                    """)
        })

    /// The maximum number of series.
    private static let seriesMax = 100

    /// The series with works of the person in the catalog, those with the most popular works first.
    private static let series = RowRelation(
        .many, Series.type, key: id, matching: "s.of_person",
        from: """
            (
                SELECT
                    $2::uuid AS of_person,
                    e.series_id AS id,
                    (array_agg(btrim(e.series) ORDER BY e.popularity DESC, e.number))[1] AS name,
                    max(e.popularity) AS popularity
                FROM editions e
                WHERE e.author_ids @> ARRAY[$2::uuid] AND e.series_id IS NOT NULL
                GROUP BY e.series_id
                ORDER BY max(e.popularity) DESC, e.series_id
                LIMIT \(seriesMax)
            ) s
            ORDER BY s.popularity DESC, s.id
            """)

    /// The books of the library, those that were added last first.
    private static let books = RowConnection(
        Book.type, key: id,
        orders: [
            RowOrder(
                name: "ADDED_DESC",
                columns: [.init(Column("b.added_at", .timestamp)), .init(Book.id)],
                isDescending: true)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT b.*
                        FROM books_of_person(k.id, person_name(k.id)) w (id)
                        JOIN books b ON b.user_id = $1 AND b.id = w.id
                    ) b
                    WHERE true
                    """)
        })
}
