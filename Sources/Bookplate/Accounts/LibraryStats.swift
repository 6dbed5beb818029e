import GraphQL
import GraphQLPostgres

/// Statistics of a library. They are computed for each request from the rows that the lists show.
enum LibraryStats {
    private static let userID = Column("t.user_id", .uuid)

    static let type: RowType = RowType(
        name: "LibraryStats", table: "", scope: "", id: userID,
        fields: [
            "bookCount": .column(Column("t.books", .integer)),
            "books": .column(Column("t.books", .integer)),
            "wantToRead": .column(Column("t.want_to_read", .integer)),
            "reading": .column(Column("t.reading", .integer)),
            "read": .column(Column("t.read", .integer)),
            "paused": .column(Column("t.paused", .integer)),
            "didNotFinish": .column(Column("t.did_not_finish", .integer)),
            "reviewCount": .column(Column("v.reviews", .integer)),
            "reviews": .column(Column("v.reviews", .integer)),
            "averageRating": .column(Column("v.average_rating", .float)),
            "readByYear": .relation(readByYear),
        ])

    static let ofUser = RowRelation(
        .one, type, key: User.id, matching: "t.user_id",
        from: """
            (
                SELECT
                    $1 AS user_id,
                    count(*) AS books,
                    count(*) FILTER (WHERE status = 'WANT_TO_READ') AS want_to_read,
                    count(*) FILTER (WHERE status = 'READING') AS reading,
                    count(*) FILTER (WHERE status = 'READ') AS read,
                    count(*) FILTER (WHERE status = 'PAUSED') AS paused,
                    count(*) FILTER (WHERE status = 'DID_NOT_FINISH') AS did_not_finish
                FROM books
                WHERE user_id = $1
            ) t,
            (
                SELECT count(*) AS reviews, avg(r.half_stars)::float8 / 2 AS average_rating
                FROM reviews r
                JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
                WHERE r.user_id = $1 AND b.status = 'READ'
            ) v
            WHERE t.user_id = ANY($2)
            """)

    private static let yearCount: RowType = RowType(
        name: "YearCount", table: "", scope: "", id: Column("y.year", .integer),
        fields: [
            "year": .column(Column("y.year", .integer)),
            "bookCount": .column(Column("y.books", .integer)),
            "books": .column(Column("y.books", .integer)),
        ])

    private static let readByYear = RowRelation(
        .many, yearCount, key: userID, matching: "y.user_id",
        from: """
            (
                SELECT user_id, left(finished_on, 4)::int AS year, count(*) AS books
                FROM reads
                WHERE user_id = $1 AND outcome = 'FINISHED' AND finished_on IS NOT NULL
                GROUP BY user_id, 2
            ) y
            WHERE y.user_id = ANY($2)
            ORDER BY y.year DESC
            """)

    /// The types of `User.stats`, for the schema table.
    static let types = [type, yearCount]
}
