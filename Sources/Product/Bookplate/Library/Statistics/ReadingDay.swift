import GraphQLPostgres

/// A day with progress or a finished book in the time zone of the user, from the table `reading_days`.
enum ReadingDay {
    static let type = RowType(
        name: "ReadingDay", table: "", scope: "", id: Column("d.day", .text),
        fields: [
            "date": .column(Column("to_char(d.day, 'YYYY-MM-DD')", .text)),
            "entryCount": .column(Column("d.entry_count", .integer)),
        ])

    /// The days of the year `$3`.
    static func ofLibrary(_ userID: Column) -> RowRelation {
        RowRelation(
            .many, type, key: userID, matching: "d.user_id",
            from: """
                reading_days d
                WHERE d.user_id = $1
                    AND d.user_id = $2
                    AND d.day BETWEEN make_date($3::int, 1, 1) AND make_date($3::int, 12, 31)
                ORDER BY d.day
                """,
            bind: { try $1.append(int32: LibraryStats.calendarYear($0)) })
    }
}
