import BookSources
import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A series of books. The id is computed from the name, so books that a reader made belong to the same series as those of the
/// catalog.
enum Series {
    static let id = Column("s.id", .uuid)

    static let type: RowType = RowType(
        name: "Series", table: "series s", scope: "true", id: id, fields: fields(name: "s.name"))

    /// The fields, for any source of rows under the alias `s` with an `id`.
    ///
    /// - Parameter name: The SQL expression of the name.
    static func fields(name: String) -> [String: RowField] {
        [
            "id": .column(id),
            "name": .column(Column(name, .text)),
            "bookCount": .column(
                Column("(SELECT count(*) FROM works_of_series(s.id))", .integer)),
            "books": .relation(books),
            "progress": .relation(SeriesProgress.ofSeries),
        ]
    }

    /// The cards of the series in the order of their positions; those without a number come last.
    private static let books = RowConnection(
        FeedCard.type, key: id,
        orders: [
            RowOrder(
                name: "POSITION",
                columns: [
                    .init(Column("e.position_order", .float)), .init(FeedCard.title),
                    .init(FeedCard.id),
                ],
                isDescending: false)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT e.*, coalesce(series_order(e.series_position), 'infinity') AS position_order
                        FROM works_of_series(k.id) w
                        JOIN editions e ON e.id = w.edition_id
                    ) e
                    WHERE true
                    """)
        })
}

/// The position of a book in a series. Today a book is in at most one series.
enum SeriesEntry {
    static let type: RowType = RowType(
        name: "SeriesEntry", table: "series s", scope: "true", id: Column("s.id", .uuid),
        fields: [
            "series": .embedded(Series.fields(name: "s.name")),
            "position": .column(Column("s.position", .text)),
        ])

    static let ofCard = RowRelation(
        .many, type, key: FeedCard.id, matching: "s.of_edition",
        from: """
            (
                SELECT e.id AS of_edition, e.series_id AS id, btrim(e.series) AS name, e.series_position AS position
                FROM editions e
                WHERE e.id = $2 AND e.series_id IS NOT NULL
            ) s
            """)

    /// The series that the reader has entered, or else the series of the edition.
    static let ofBook = RowRelation(
        .many, type, key: Book.id, matching: "s.of_book",
        from: """
            (
                SELECT
                    b.id AS of_book,
                    coalesce(b.series_id, e.series_id) AS id,
                    coalesce(b.series, btrim(e.series)) AS name,
                    CASE WHEN b.series_id IS NULL THEN e.series_position ELSE b.series_position END AS position
                FROM books b
                LEFT JOIN editions e ON e.id = b.edition_id
                WHERE b.user_id = $1 AND b.id = $2 AND coalesce(b.series_id, e.series_id) IS NOT NULL
            ) s
            """)
}

/// How far a reader is in a series of the library.
enum SeriesProgress {
    private static let addedAt = Column("s.added_at", .timestamp)
    private static let id = Column("s.id", .uuid)

    static let type: RowType = RowType(
        name: "SeriesProgress", table: "series s", scope: "true", id: id,
        fields: [
            "series": .embedded(
                Series.fields(name: "(SELECT n.name FROM series n WHERE n.id = s.id)")),
            "booksInLibrary": .column(
                Column("(SELECT count(*) FROM owned_works_of_series($1, s.id))", .integer)),
            "booksRead": .column(
                Column(
                    "(SELECT count(*) FROM owned_works_of_series($1, s.id) o WHERE o.is_read)",
                    .integer)),
            "bookCount": .column(Column("count_works_of_series($1, s.id)", .integer)),
            "books": .relation(books),
            "nextBook": .relation(
                RowRelation(
                    .one, Book.type, key: Column("next_book_of_series($1, s.id)", .uuid),
                    matching: "b.id", from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "next": .relation(
                RowRelation(
                    .one, FeedCard.type, key: Column("next_of_series($1, s.id)", .uuid),
                    matching: "e.id", from: "editions e WHERE e.id = $2")),
        ])

    /// The progress in one series; null if the library has no book of it.
    static let ofSeries = RowRelation(
        .one, type, key: Series.id, matching: "s.id",
        from: "series s WHERE s.id = $2 AND EXISTS (SELECT FROM books_of_series($1, s.id))")

    /// The books of the library in the order of their positions; those without a number come last.
    private static let books = RowConnection(
        Book.type, key: id,
        orders: [
            RowOrder(
                name: "POSITION",
                columns: [
                    .init(Column("b.position_number", .float)), .init(Column("b.title", .text)),
                    .init(Book.id),
                ],
                isDescending: false)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT b.*, coalesce(w.position_number, 'infinity') AS position_number
                        FROM books_of_series($1, k.id) w
                        JOIN books b ON b.user_id = $1 AND b.id = w.book_id
                    ) b
                    WHERE true
                    """)
        })

    /// The series of a library. Those to which a book was added last come first.
    ///
    /// Relies on this plan: finding the series reads the books with an edition from `books_edition_id`, in the order of the editions,
    /// and for each one `editions_series_of_id`. Neighbouring editions are on the same pages of that index. The subquery in the select
    /// list keeps PostgreSQL from reading the whole catalog instead, and from remembering editions that occur only once. MATERIALIZED
    /// keeps it from evaluating that subquery twice. The fields are read only for the series of the page.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(
                name: "ADDED_DESC", columns: [.init(addedAt), .init(id)], isDescending: true)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        WITH o AS MATERIALIZED (
                            SELECT b.series_id AS id, b.added_at
                            FROM books b
                            WHERE b.user_id = $1 AND b.series_id IS NOT NULL
                            UNION ALL
                            SELECT
                                (
                                    SELECT e.series_id
                                    FROM editions e
                                    WHERE e.id = b.edition_id AND e.series_id IS NOT NULL
                                ),
                                b.added_at
                            FROM books b
                            WHERE b.user_id = $1 AND b.edition_id IS NOT NULL AND b.series_id IS NULL
                        )
                        SELECT o.id, max(o.added_at) AS added_at
                        FROM o
                        WHERE o.id IS NOT NULL
                        GROUP BY o.id
                    ) s
                    WHERE true
                    """)
        })
}

/// The series of a book as a client sends it. Without a name, the book is in no series.
struct SeriesInput {
    let name: String?
    let position: String?

    static let nameCharactersMax = SeriesName.nameCharactersMax
    static let positionCharactersMax = SeriesName.positionCharactersMax

    /// - Throws: `.badUserInput` for several series, and for text that is blank or too long.
    init(_ input: InputObject) throws(BookplateError) {
        let entries = input["series"]?.list ?? []
        guard entries.count <= 1 else {
            throw .badUserInput(field: "series", .init(.tooMany, max: 1))
        }
        guard let entry = entries.first.map({ InputObject($0) }) else {
            name = nil
            position = nil
            return
        }
        name = try TextInput.line(
            entry.text("name") ?? "", field: "name", charactersMax: Self.nameCharactersMax)
        position = try TextInput.optional(
            entry.text("position"), field: "position", charactersMax: Self.positionCharactersMax)
    }
}
