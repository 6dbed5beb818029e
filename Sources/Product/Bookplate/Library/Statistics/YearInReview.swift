import GraphQL
import GraphQLPostgres
import Postgres

/// The reading of one calendar year. One statement computes all of it, except the books and reads that it names.
enum YearInReview {
    private static let userID = Column("t.user_id", .uuid)
    private static let summary = ReadingSummary.year

    static let type: RowType = RowType(
        name: "YearInReview", table: "", scope: "", id: userID,
        fields: [
            "year": .column(Column("$3::int", .integer)),
            "totals": .embedded(summary.totals("s")),
            "previousTotals": .embedded(ReadingSummary.previousYear.totals("p")),
            "byMonth": .relation(ReadingSummary.months),
            "topGenres": .relation(summary.genres),
            "topAuthors": .relation(summary.authors),
            "topMoods": .relation(summary.moods),
            "byFormat": .relation(summary.formats),
            "averageRating": .column(summary.averageRating),
            "ratings": .relation(summary.ratings),
            "longestBook": .relation(summary.longestBook),
            "shortestBook": .relation(summary.shortestBook),
            "firstRead": .relation(ReadingSummary.firstRead),
            "lastRead": .relation(ReadingSummary.lastRead),
            "longestStreakDays": .column(ReadingStreaks.longestOfYear),
            "readingDays": .column(ReadingStreaks.daysOfYear),
        ])

    static let ofUser = RowRelation(
        .one, type, key: User.id, matching: "t.user_id",
        from: """
            (SELECT u.id AS user_id FROM users u WHERE u.id = $1 AND $3::int IS NOT NULL) t
            \(summary.sums(as: "s"))
            \(ReadingSummary.previousYear.sums(as: "p"))
            WHERE t.user_id = $2
            """,
        bind: { try $1.append(int32: LibraryStats.calendarYear($0)) })
}
