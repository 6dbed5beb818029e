import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// Statistics of a library, from numbers that triggers maintain.
enum LibraryStats {
    private static let userID = Column("t.user_id", .uuid)
    private static let summary = ReadingSummary.all

    static let type: RowType = RowType(
        name: "LibraryStats", table: "", scope: "", id: userID,
        fields: [
            "bookCount": .column(
                books(
                    "c.books[1] + c.books[2] + c.books[3] + c.books[4] + c.books[5]",
                    ranks: "1, 2, 3, 4, 5")),
            "wantToRead": .column(books("c.books[3]", ranks: "3")),
            "reading": .column(books("c.books[5]", ranks: "5")),
            "read": .column(books("c.books[2]", ranks: "2")),
            "paused": .column(books("c.books[4]", ranks: "4")),
            "didNotFinish": .column(books("c.books[1]", ranks: "1")),
            "reviewCount": .column(summary.reviewCount),
            "averageRating": .column(summary.averageRating),
            "ratings": .relation(summary.ratings),
            "totals": .embedded(summary.totals("s")),
            "readByYear": .relation(readByYear),
            "readByMonth": .relation(readByMonth),
            "readByGenre": .relation(summary.genres),
            "readByAuthor": .relation(summary.authors),
            "readByMood": .relation(summary.moods),
            "readByFormat": .relation(summary.formats),
            "longestBook": .relation(summary.longestBook),
            "shortestBook": .relation(summary.shortestBook),
            "days": .relation(ReadingDay.ofLibrary(userID)),
            "streaks": .relation(ReadingStreaks.ofLibrary(userID)),
        ])

    /// The number of books with some statuses. The counters of a library are unknown after a large change, until the next one.
    private static func books(_ counter: String, ranks: String) -> Column {
        Column(
            """
            coalesce(
                \(counter),
                (SELECT count(*) FROM listed_books l WHERE l.user_id = $1 AND l.list_rank IN (\(ranks)))
            )
            """, .integer)
    }

    /// PostgreSQL leaves out the joins of which no column is selected, because each finds at most one row.
    static let ofUser = RowRelation(
        .one, type, key: User.id, matching: "t.user_id",
        from: """
            (SELECT u.id AS user_id FROM users u WHERE u.id = $1) t
            LEFT JOIN library_counts c ON c.user_id = t.user_id
            \(summary.sums(as: "s"))
            WHERE t.user_id = $2
            """)

    private static let yearCount: RowType = RowType(
        name: "YearCount", table: "", scope: "", id: Column("y.year", .integer),
        fields: [
            "year": .column(Column("y.year", .integer)),
            "bookCount": .column(Column("y.books", .integer)),
        ])

    private static let readByYear = RowRelation(
        .many, yearCount, key: userID, matching: "y.user_id",
        from: """
            (
                SELECT k.user_id, k.year, k.number AS books
                FROM reading_counts k
                WHERE k.user_id = $1 AND k.kind = 'READS' AND k.year > 0 AND k.key = '' AND k.number > 0
            ) y
            WHERE y.user_id = $2
            ORDER BY y.year DESC
            """)

    private static let monthCount: RowType = RowType(
        name: "MonthCount", table: "", scope: "", id: Column("m.month", .integer),
        fields: [
            "month": .column(Column("m.month", .integer)),
            "readCount": .column(Column(ReadingSummary.readsOfMonth, .integer)),
            "pages": .column(Column(ReadingSummary.pagesOfMonth, .integer)),
            "hours": .column(Column(ReadingSummary.hoursOfMonth, .float)),
        ])

    private static let readByMonth = RowRelation(
        .many, monthCount, key: userID, matching: "m.user_id",
        from: """
            (SELECT $1::uuid AS user_id, generate_series(1, 12) AS month) m
            WHERE m.user_id = $2 AND $3::int IS NOT NULL
            ORDER BY m.month
            """,
        bind: { try $1.append(int32: calendarYear($0)) })

    /// The types of `User.stats`, for the resolvers of `BookplateSchema`.
    static let types = [
        type, yearCount, monthCount, ReadingSummary.totalsType, ReadingStreaks.type,
        ReadingDay.type,
    ]

    /// Returns the argument `year`.
    ///
    /// - Throws: `.badUserInput` unless it is a year that a date may have.
    static func calendarYear(_ arguments: ArgumentValues) throws(BookplateError) -> Int32 {
        guard let year = arguments["year"]?.int, ReadingGoal.years.contains(year) else {
            throw .badUserInput(field: "year", .init(.outOfRange, min: 1_000, max: 9_998))
        }
        return Int32(year)
    }
}
