import GraphQL
import GraphQLPostgres

/// The columns that `LibraryStats` and `YearInReview` share, over the finished reads of a library or of a year.
///
/// The numbers come from the tables `reading_counts` and `reading_top_counts`, which triggers maintain. Every column is a subquery, so a statement reads only what
/// an operation selects. None of them reads more rows than the response has.
struct ReadingSummary {
    /// The year of the rows of `reading_counts`; 0 for all years.
    private let year: String
    /// The condition on `reads d` that selects the time.
    private let period: String

    static let all = ReadingSummary(year: "0", period: "")
    /// The year is `$3`.
    static let year = ReadingSummary(year: "$3::int", period: " AND d.finished_year = $3::int")
    static let previousYear = ReadingSummary(
        year: "$3::int - 1", period: " AND d.finished_year = $3::int - 1")

    /// The maximum number of genres, of authors, and of moods.
    static let listMax = 50

    /// The rows of a kind.
    private func counts(_ kind: String, table: String = "reading_counts") -> String {
        "\(table) k WHERE k.user_id = $1 AND k.kind = '\(kind)' AND k.year = \(year)"
    }

    /// The rows of genres, authors, or moods.
    private func topCounts(_ kind: String) -> String { counts(kind, table: "reading_top_counts") }

    private func number(_ kind: String) -> Column {
        Column("coalesce((SELECT k.number FROM \(counts(kind)) AND k.key = ''), 0)", .integer)
    }

    // MARK: - Totals

    /// Returns a join with the row of the reads. PostgreSQL leaves it out if no column of it is selected.
    func sums(as alias: String) -> String {
        """
        LEFT JOIN reading_counts \(alias)
            ON \(alias).user_id = $1 AND \(alias).kind = 'READS' AND \(alias).year = \(year) AND \(alias).key = ''
        """
    }

    /// The fields of `ReadingTotals`.
    ///
    /// - Parameter alias: The alias of the join that `sums` returns.
    func totals(_ alias: String) -> [String: RowField] {
        [
            "finishedReads": .column(Column("coalesce(\(alias).number, 0)", .integer)),
            "finishedBooks": .column(number("BOOKS")),
            "abandonedReads": .column(number("GIVEN_UP")),
            // The greatest `Int` of GraphQL.
            "pages": .column(
                Column("least(coalesce(\(alias).pages, 0), 2147483647)", .integer)),
            "hours": .column(
                Column("coalesce(\(alias).seconds, 0)::float8 / 3600", .float)),
        ]
    }

    /// The type of the totals, for the resolvers of `BookplateSchema`.
    static let totalsType = RowType(
        name: "ReadingTotals", table: "", scope: "", id: Column("t.user_id", .uuid),
        fields: all.totals("s"))

    // MARK: - Lists

    private func list(_ json: String, from: String) -> CountList {
        CountList(
            Column("(SELECT json_agg(json_build_object(\(json))) FROM (\(from)) n)::text", .text))
    }

    var genres: CountList { topList("genre", kind: "GENRE") }
    var moods: CountList { topList("mood", kind: "MOOD") }

    private func topList(_ name: String, kind: String) -> CountList {
        list(
            "'\(name)', n.key, 'readCount', n.number",
            from: """
                SELECT k.key, k.number
                FROM \(topCounts(kind)) AND k.number > 0
                ORDER BY k.number DESC, k.key
                LIMIT \(Self.listMax)
                """)
    }

    /// The spellings of a name have the same id; the first one in the alphabet is shown.
    var authors: CountList {
        list(
            "'person', n.person, 'name', n.name, 'readCount', n.number",
            from: """
                SELECT a.person, r.name, a.number
                FROM (
                    SELECT k.key::uuid AS person, k.number
                    FROM \(topCounts("AUTHOR")) AND k.number > 0
                    ORDER BY k.number DESC, k.key
                    LIMIT \(Self.listMax)
                ) a
                CROSS JOIN LATERAL (
                    SELECT d.author AS name
                    FROM reads d
                    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.author_id = a.person
                    ORDER BY d.author COLLATE "C"
                    LIMIT 1
                ) r
                ORDER BY a.number DESC, r.name COLLATE "C", a.person
                """)
    }

    var formats: CountList {
        list(
            """
            'format', n.key, 'readCount', n.number, 'pages', least(n.pages, 2147483647),
            'hours', n.seconds::float8 / 3600
            """,
            from: """
                SELECT k.key, k.number, k.pages, k.seconds
                FROM \(counts("FORMAT")) AND k.number > 0
                ORDER BY k.key::read_format
                """)
    }

    /// The months of the year `$3`.
    static let months = CountList(
        Column(
            """
            (
                SELECT json_agg(
                    json_build_object(
                        'month', m.month, 'readCount', \(Self.readsOfMonth), 'pages', \(Self.pagesOfMonth),
                        'hours', \(Self.hoursOfMonth)
                    )
                    ORDER BY m.month
                )
                FROM generate_series(1, 12) AS m (month)
            )::text
            """, .text))

    /// The number of finished reads of the month `m.month` of the year `$3`.
    static let readsOfMonth = ofMonth("number")
    /// The pages of these reads, at most the greatest `Int` of GraphQL.
    static let pagesOfMonth = "least(\(ofMonth("pages")), 2147483647)"
    static let hoursOfMonth = "\(ofMonth("seconds"))::float8 / 3600"

    private static func ofMonth(_ column: String) -> String {
        "coalesce((SELECT k.\(column) FROM \(year.counts("MONTH")) AND k.key = to_char(m.month, 'FM00')), 0)"
    }

    // MARK: - Ratings

    var reviewCount: Column {
        Column("coalesce((SELECT sum(k.number) FROM \(counts("RATING"))), 0)::int8", .integer)
    }

    var averageRating: Column {
        Column(
            """
            (
                SELECT sum(k.key::int * k.number)::float8 / nullif(sum(k.number), 0) / 4
                FROM \(counts("RATING")) AND k.key <> '0'
            )
            """, .float)
    }

    var ratings: CountList {
        list(
            "'stars', n.key::float8 / 4, 'bookCount', n.number",
            from: """
                SELECT k.key, k.number
                FROM \(counts("RATING")) AND k.key <> '0' AND k.number > 0
                ORDER BY k.key::int DESC
                """)
    }

    // MARK: - Books and reads

    private var finished: String {
        "reads d WHERE d.user_id = $1 AND d.outcome = 'FINISHED'\(period)"
    }

    var longestBook: RowRelation { book(orderBy: "d.page_count DESC, d.book_id DESC") }
    var shortestBook: RowRelation { book(orderBy: "d.page_count, d.book_id") }

    private func book(orderBy order: String) -> RowRelation {
        RowRelation(
            .one, Book.type,
            key: Column(
                """
                (
                    SELECT d.book_id
                    FROM \(finished) AND d.page_count IS NOT NULL
                    ORDER BY \(order)
                    LIMIT 1
                )
                """, .uuid), matching: "b.id",
            from: "books b WHERE b.user_id = $1 AND b.id = $2")
    }

    /// The first and the last read of the year `$3`.
    static let firstRead = read(orderBy: "d.finished_on, d.id")
    static let lastRead = read(orderBy: "d.finished_on DESC, d.id DESC")

    /// Only reads whose day is known have an order. The tilde sorts after all months.
    private static func read(orderBy order: String) -> RowRelation {
        RowRelation(
            .one, Read.type,
            key: Column(
                """
                (
                    SELECT d.id
                    FROM reads d
                    WHERE d.user_id = $1
                        AND d.outcome = 'FINISHED'
                        AND d.finished_on >= ($3::int)::text
                        AND d.finished_on < ($3::int) || '~'
                        AND length(d.finished_on) = 10
                    ORDER BY \(order)
                    LIMIT 1
                )
                """, .uuid), matching: "r.id",
            from: "reads r WHERE r.user_id = $1 AND r.id = $2")
    }
}
