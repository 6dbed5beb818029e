import GraphQLPostgres

/// Runs of consecutive days with progress, from the table `reading_days`, whose days are in the time zone of the user.
enum ReadingStreaks {
    static let type = RowType(
        name: "ReadingStreaks", table: "", scope: "", id: Column("k.user_id", .uuid),
        fields: [
            "currentDays": .column(Column("k.current_days", .integer)),
            "longestDays": .column(Column("k.longest_days", .integer)),
            "readingDays": .column(Column("k.reading_days", .integer)),
            "lastDay": .column(Column("to_char(k.last_day, 'YYYY-MM-DD')", .text)),
        ])

    /// Returns the streaks as rows with the columns `days` and `last_day`. Consecutive days differ as much as their numbers in the
    /// order of days, so the difference of both is the same for the days of a streak.
    private static func streaks(where period: String) -> String {
        """
        SELECT count(*) AS days, max(n.day) AS last_day
        FROM (
            SELECT y.day, y.day - row_number() OVER (ORDER BY y.day)::int AS streak
            FROM reading_days y
            WHERE y.user_id = $1\(period)
        ) n
        GROUP BY n.streak
        """
    }

    /// A streak that ended yesterday is current, because the reader may still read today. Days in the future, of a device
    /// whose clock is ahead, count, too, but a streak that ends later than tomorrow is not current.
    static func ofLibrary(_ userID: Column) -> RowRelation {
        RowRelation(
            .one, type, key: userID, matching: "k.user_id",
            from: """
                (
                    SELECT
                        $1::uuid AS user_id,
                        coalesce(max(s.days) FILTER (WHERE s.last_day BETWEEN u.today - 1 AND u.today + 1), 0) AS current_days,
                        coalesce(max(s.days), 0) AS longest_days,
                        coalesce(sum(s.days), 0)::int8 AS reading_days,
                        max(s.last_day) AS last_day
                    FROM (SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date AS today FROM users u WHERE u.id = $1) u
                    LEFT JOIN (\(streaks(where: ""))) s ON true
                ) k
                WHERE k.user_id = $2
                """)
    }

    private static let ofYear =
        " AND y.day BETWEEN make_date($3::int, 1, 1) AND make_date($3::int, 12, 31)"

    /// The longest streak within the year `$3`.
    static let longestOfYear = Column(
        "(SELECT coalesce(max(s.days), 0) FROM (\(streaks(where: ofYear))) s)", .integer)

    /// The number of days with progress in the year `$3`.
    static let daysOfYear = Column(
        "(SELECT count(*) FROM reading_days y WHERE y.user_id = $1\(ofYear))", .integer)
}
