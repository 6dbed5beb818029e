import GraphQL
import GraphQLPostgres

/// The columns that `LibraryStats` and `YearInReview` share, over the finished reads of a library or of a year.
///
/// Every column is a subquery, so a statement computes only what an operation selects. The subqueries rely on this plan: an
/// index-only scan of `reads_finished`, whose rows have the facts of the books. Two tables would take three times as long.
struct ReadingSummary {
    /// The condition on `reads d` that selects the time.
    private let period: String

    static let all = ReadingSummary(period: "")
    /// The year is `$3`.
    static let year = ReadingSummary(period: ofYear("$3::int"))
    static let previousYear = ReadingSummary(period: ofYear("$3::int - 1"))

    /// The maximum number of genres and of authors.
    static let listMax = 50

    /// The condition that a read ended in a year. The tilde sorts after all months.
    private static func ofYear(_ year: String) -> String {
        " AND d.finished_on >= (\(year))::text AND d.finished_on < (\(year)) || '~'"
    }

    private var finished: String {
        "reads d WHERE d.user_id = $1 AND d.outcome = 'FINISHED'\(period)"
    }

    private var givenUp: String {
        "reads d WHERE d.user_id = $1 AND d.outcome = 'DID_NOT_FINISH'\(period)"
    }

    // MARK: - Totals

    /// Returns a join with one row of sums. PostgreSQL leaves it out if no column of it is selected, because it groups by the
    /// column of the join.
    func sums(as alias: String) -> String {
        """
        LEFT JOIN (
            SELECT
                d.user_id,
                count(*) AS reads,
                sum(d.page_count) FILTER (WHERE NOT is_listened(d.format, d.length_seconds)) AS pages,
                sum(d.length_seconds) FILTER (WHERE is_listened(d.format, d.length_seconds)) AS seconds
            FROM \(finished)
            GROUP BY d.user_id
        ) \(alias) ON \(alias).user_id = t.user_id
        """
    }

    /// The fields of `ReadingTotals`.
    ///
    /// - Parameter alias: The alias of the join that `sums` returns.
    func totals(_ alias: String) -> [String: RowField] {
        [
            "finishedReads": .column(Column("coalesce(\(alias).reads, 0)", .integer)),
            "finishedBooks": .column(
                Column(
                    "(SELECT count(*) FROM (SELECT DISTINCT d.book_id FROM \(finished)) k)",
                    .integer)),
            "abandonedReads": .column(Column("(SELECT count(*) FROM \(givenUp))", .integer)),
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

    private func list(_ json: String, from: String) -> Column {
        Column("(SELECT json_agg(json_build_object(\(json))) FROM (\(from)) n)::text", .text)
    }

    var genres: CountList {
        CountList(
            list(
                "'genre', n.genre, 'readCount', n.reads",
                from: """
                    SELECT d.genre, count(*) AS reads
                    FROM \(finished) AND d.genre IS NOT NULL
                    GROUP BY d.genre
                    ORDER BY reads DESC, d.genre COLLATE "C"
                    LIMIT \(Self.listMax)
                    """))
    }

    /// The spellings of a name have the same id; the first one in the alphabet is shown.
    var authors: CountList {
        CountList(
            list(
                "'person', n.author_id, 'name', n.name, 'readCount', n.reads",
                from: """
                    SELECT d.author_id, min(d.author COLLATE "C") AS name, count(*) AS reads
                    FROM \(finished) AND d.author_id IS NOT NULL
                    GROUP BY d.author_id
                    ORDER BY reads DESC, name, d.author_id
                    LIMIT \(Self.listMax)
                    """))
    }

    var formats: CountList {
        CountList(
            list(
                "'format', n.format, 'readCount', n.reads",
                from: """
                    SELECT d.format, count(*) AS reads
                    FROM \(finished) AND d.format IS NOT NULL
                    GROUP BY d.format
                    ORDER BY d.format
                    """))
    }

    /// The months of the year `$3`.
    static let months = CountList(
        Column(
            """
            (
                SELECT json_agg(json_build_object('month', m.month, 'readCount', (\(Self.readsOfMonth))) ORDER BY m.month)
                FROM generate_series(1, 12) AS m (month)
            )::text
            """, .text))

    /// The number of finished reads of the month `m.month` of the year `$3`.
    static let readsOfMonth = """
        SELECT count(*)
        FROM reads d
        WHERE d.user_id = $1
            AND d.outcome = 'FINISHED'
            AND d.finished_on >= $3::int || to_char(m.month, '"-"FM00')
            AND d.finished_on < $3::int || to_char(m.month, '"-"FM00"~"')
        """

    // MARK: - Ratings

    /// Returns a join with one row: the half stars of the ratings as an array. PostgreSQL leaves it out like `sums`.
    ///
    /// - Parameter reviews: The reviews `r`, with their condition.
    static func ratings(of reviews: String) -> String {
        """
        LEFT JOIN (
            SELECT r.user_id, count(*) AS reviews, array_agg(r.half_stars) AS half_stars
            FROM \(reviews)
            GROUP BY r.user_id
        ) v ON v.user_id = t.user_id
        """
    }

    static let averageRating = Column(
        "(SELECT avg(n.half_stars)::float8 / 2 FROM unnest(v.half_stars) AS n (half_stars))", .float
    )

    static let ratings = CountList(
        Column(
            """
            (
                SELECT json_agg(json_build_object('stars', n.half_stars::float8 / 2, 'bookCount', n.books))
                FROM (
                    SELECT r.half_stars, count(*) AS books
                    FROM unnest(v.half_stars) AS r (half_stars)
                    WHERE r.half_stars IS NOT NULL
                    GROUP BY r.half_stars
                    ORDER BY r.half_stars DESC
                ) n
            )::text
            """, .text))

    /// The reviews of the books that were finished in the time, also those that are hidden because the book is read again.
    var reviews: String {
        """
        (SELECT DISTINCT d.book_id FROM \(finished)) f
        JOIN reviews r ON r.user_id = $1 AND r.book_id = f.book_id
        """
    }

    // MARK: - Books and reads

    var longestBook: RowRelation { book(orderBy: "d.page_count DESC") }
    var shortestBook: RowRelation { book(orderBy: "d.page_count") }

    private func book(orderBy order: String) -> RowRelation {
        RowRelation(
            .one, Book.type,
            key: Column(
                """
                (
                    SELECT d.book_id
                    FROM \(finished) AND d.page_count IS NOT NULL
                    ORDER BY \(order), d.book_id
                    LIMIT 1
                )
                """, .uuid), matching: "b.id",
            from: "books b WHERE b.user_id = $1 AND b.id = $2")
    }

    var firstRead: RowRelation { read(orderBy: "d.finished_on, d.id") }
    var lastRead: RowRelation { read(orderBy: "d.finished_on DESC, d.id DESC") }

    /// Only reads whose day is known have an order.
    private func read(orderBy order: String) -> RowRelation {
        RowRelation(
            .one, Read.type,
            key: Column(
                """
                (
                    SELECT d.id
                    FROM \(finished) AND length(d.finished_on) = 10
                    ORDER BY \(order)
                    LIMIT 1
                )
                """, .uuid), matching: "r.id",
            from: "reads r WHERE r.user_id = $1 AND r.id = $2")
    }
}
