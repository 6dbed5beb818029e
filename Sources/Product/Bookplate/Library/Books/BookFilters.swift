import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The filters of `User.books`, and the queries of a page and of the number of books.
///
/// An index has the books of one order, but not the combinations of filters. A page with filters is therefore read in three steps, of
/// which the next one runs only if the one before has not found the page:
/// 1. The first entries of the list, five times as many as the page has. Filters that many books match end here.
/// 2. The books that match the most selective filter, from its own index. Unless there are more than `sortedMax` of them, they are sorted.
/// 3. If more books match that filter, the list is read from the cursor until the page is full. As many books match, that is soon.
///
/// Each step reads at most a few hundred rows, except the last one if all matching books are at the end of the list.
struct BookFilters: Sendable {
    /// A filter with an index of its own.
    private struct Filter: Sendable {
        /// The condition on an entry `l`. It is a subquery with one row instead of EXISTS, which PostgreSQL would make a join of all
        /// entries.
        let condition: String
        /// The query of the ids of the matching books, as `book_id`.
        let ids: String
        /// The column of the order whose index has the matching books as a range.
        var indexedColumn: String?
        /// Whether few books of any library match.
        var isSelective = false
    }

    /// The maximum number of books that the second step sorts.
    private static let sortedMax = 300
    /// The maximum number of books that the relevance is computed for.
    private static let rankedMax = 250
    /// The maximum of `totalCount` with filters.
    static let countedMax = 1000

    private var order: RowOrder
    private var search: BookSearch?
    private var searchParameter = ""
    /// The filters, the most selective one first.
    private var filters: [Filter] = []
    private var binds: [@Sendable (inout Parameters) -> Void] = []
    /// The arguments as a text, for cursors.
    private(set) var text = ""

    /// The ranks of the statuses in lists, as `list_rank` returns them.
    private static let ranks: [String: Int32] = [
        "READING": 5, "PAUSED": 4, "WANT_TO_READ": 3, "READ": 2, "DID_NOT_FINISH": 1,
    ]

    /// - Throws: `.badUserInput` for an argument that is not valid.
    init(_ arguments: ArgumentValues, _ order: RowOrder) throws(BookplateError) {
        self.order = order
        guard order.name != BookOrder.shelf else {
            throw .badUserInput(
                field: "orderBy",
                .init(.invalidChoice, detail: "Only the books of a shelf have this order."))
        }
        try addStatuses(arguments)
        if let text = arguments["search"]?.string {
            search = try BookSearch(text)
            let text = search?.text ?? ""
            searchParameter = bind("search", text) { $0.append(text: text) }
        }
        if let id = arguments["seriesId"]?.string { addSeries(id) }
        if let id = arguments["shelfId"]?.string { addShelf(id) }
        if let copies = arguments["copies"]?.string { addCopies(copies) }
        if let year = arguments["finishedIn"]?.int { try addYear(year) }
        try addRatings(arguments)
        if let format = arguments["format"]?.string { addFormat(format) }
        if let language = arguments["language"]?.string { try addLanguage(language) }
    }

    /// Adds a parameter, and returns its place. The first four are the caller, the parents, the page size, and whether there is a cursor.
    private mutating func bind(
        _ name: String, _ value: String, _ append: @escaping @Sendable (inout Parameters) -> Void
    ) -> String {
        if name != "statuses" || !value.isEmpty { text += "\(name)=\(value);" }
        binds.append(append)
        return "$\(4 + binds.count)"
    }

    func bind(_ parameters: inout Parameters) {
        for bind in binds { bind(&parameters) }
    }

    // MARK: - Filters

    private mutating func addStatuses(_ arguments: ArgumentValues) throws(BookplateError) {
        var names = Set(Self.ranks.keys)
        if let status = arguments["status"]?.string { names.formIntersection([status]) }
        if let list = arguments["statuses"]?.list, !list.isEmpty {
            names.formIntersection(list.compactMap(\.string))
        }
        let ranks = names.compactMap { Self.ranks[$0] }.sorted()
        let isAll = ranks.count == Self.ranks.count
        _ = bind("statuses", isAll ? "" : ranks.map(String.init).joined(separator: ",")) {
            $0.appendArray(of: .int32) { array in
                for rank in ranks { array.append(int32: rank) }
            }
        }
    }

    private mutating func addSeries(_ id: String) {
        let series = bind("series", id) { $0.append(uuid: UUID(id)) }
        filters.append(
            Filter(
                condition: """
                    (
                      SELECT coalesce(f.series_id, e.series_id) = \(series)
                      FROM books f
                      LEFT JOIN editions e ON e.id = f.edition_id
                      WHERE f.user_id = $1 AND f.id = l.book_id
                    )
                    """,
                ids: """
                    SELECT f.id AS book_id
                    FROM books f
                    WHERE f.user_id = $1 AND f.series_id = \(series)
                    UNION ALL
                    SELECT f.id
                    FROM editions e
                    CROSS JOIN LATERAL (
                      SELECT o.id
                      FROM books o
                      WHERE o.user_id = $1 AND o.edition_id = e.id AND o.series_id IS NULL
                      OFFSET 0
                    ) f
                    WHERE e.series_id = \(series)
                    """, isSelective: true))
    }

    private mutating func addShelf(_ id: String) {
        let shelf = bind("shelf", id) { $0.append(uuid: UUID(id)) }
        filters.append(
            Filter(
                condition: """
                    (
                      SELECT true
                      FROM shelf_books f
                      WHERE f.user_id = $1 AND f.shelf_id = \(shelf) AND f.book_id = l.book_id
                    )
                    """,
                ids: """
                    SELECT f.book_id
                    FROM shelf_books f
                    WHERE f.user_id = $1 AND f.shelf_id = \(shelf)
                    """))
    }

    private mutating func addCopies(_ name: String) {
        let areLent = bind("copies", name) { $0.append(bool: name == "LENT") }
        let copies = "book_copies f WHERE f.user_id = $1"
        let isMatch = "(NOT \(areLent) OR f.loan_id IS NOT NULL)"
        filters.append(
            Filter(
                condition: """
                    (SELECT true FROM \(copies) AND f.book_id = l.book_id AND \(isMatch) LIMIT 1)
                    """,
                ids: """
                    SELECT DISTINCT f.book_id
                    FROM \(copies) AND \(isMatch)
                    """))
    }

    private mutating func addYear(_ year: Int) throws(BookplateError) {
        guard ReadingGoal.years.contains(year) else {
            throw .badUserInput(field: "finishedIn", .init(.outOfRange, min: 1_000, max: 9_998))
        }
        let parameter = bind("year", "\(year)") { $0.append(int32: Int32(year)) }
        func start(_ year: String) -> String {
            """
            (
              SELECT make_timestamptz(\(year), 1, 1, 0, 0, 0, known_zone(u.time_zone))
              FROM users u
              WHERE u.id = $1
            )
            """
        }
        let condition =
            "l.finished_at >= \(start(parameter)) AND l.finished_at < \(start("\(parameter) + 1"))"
        filters.append(
            Filter(
                condition: condition, ids: Self.ids(where: condition),
                indexedColumn: "l.finished_at"))
    }

    private mutating func addRatings(_ arguments: ArgumentValues) throws(BookplateError) {
        var quarterStars: [Int32?] = []
        for name in ["ratingMin", "ratingMax"] {
            guard let value = arguments[name], !value.isNull else {
                quarterStars.append(nil)
                continue
            }
            let stars: Double =
                switch value {
                case .int(let stars): Double(stars)
                case .float(let stars): stars
                default: 0
                }
            guard (0.25...5).contains(stars) else {
                throw .badUserInput(field: name, .init(.outOfRange, min: 0.25, max: 5))
            }
            // A limit between two ratings includes those that are within it.
            quarterStars.append(
                Int32((stars * 4).rounded(name == "ratingMin" ? .up : .down)))
        }
        guard quarterStars.contains(where: { $0 != nil }) else { return }
        let (lowest, highest) = (quarterStars[0] ?? 1, quarterStars[1] ?? 20)
        let low = bind("ratingMin", "\(lowest)") { $0.append(int32: lowest) }
        let high = bind("ratingMax", "\(highest)") { $0.append(int32: highest) }
        let condition = "l.quarter_stars >= \(low) AND l.quarter_stars <= \(high)"
        filters.append(
            Filter(
                condition: condition, ids: Self.ids(where: condition),
                indexedColumn: "l.quarter_stars"))
    }

    private mutating func addFormat(_ name: String) {
        let format = bind("format", name) { $0.append(text: name) }
        filters.append(
            Filter(
                condition: """
                    (
                      SELECT bool_or(f.format = \(format)::text::read_format)
                      FROM reads f
                      WHERE f.user_id = $1 AND f.book_id = l.book_id AND f.format IS NOT NULL
                    )
                    """,
                ids: """
                    SELECT DISTINCT f.book_id
                    FROM reads f
                    WHERE f.user_id = $1 AND f.format IS NOT NULL AND f.format = \(format)::text::read_format
                    """))
    }

    /// A language without a region, such as `pt`, includes those with one, such as `pt-BR`.
    private mutating func addLanguage(_ tag: String) throws(BookplateError) {
        let tag = try TextInput.line(tag, field: "language", charactersMax: 100)
        let language = bind("language", tag) { $0.append(text: tag) }
        // In the order of bytes, the only tags in this range are the tag and those that continue with a hyphen.
        let isInRange = """
            f.language COLLATE "C" >= \(language) AND f.language COLLATE "C" < \(language) || '.'
            """
        filters.append(
            Filter(
                condition: """
                    (SELECT \(isInRange) FROM books f WHERE f.user_id = $1 AND f.id = l.book_id)
                    """,
                ids: """
                    SELECT f.id AS book_id
                    FROM books f
                    WHERE f.user_id = $1 AND \(isInRange)
                    """))
    }

    /// Returns a query of the ids of entries, with a condition on the second column of an index.
    private static func ids(where condition: String) -> String {
        Self.ranks.values.sorted().map { rank in
            """
            SELECT l.book_id
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = \(rank) AND \(condition)
            """
        }.joined(separator: "\nUNION ALL\n")
    }

    // MARK: - Queries

    /// Returns the query of the entries of a page.
    func entries(_ window: RowConnection.Window) -> String {
        if order.name == BookOrder.relevance { return rankedEntries(window) }
        let names = BookOrder.names(order)
        let ranged = filters.filter { $0.indexedColumn == order.columns[0].sql }
        let range = ranged.map { " AND \($0.condition)" }.joined()
        let rest = filters.filter { $0.indexedColumn != order.columns[0].sql }
        guard search != nil || !rest.isEmpty else {
            return list(window, columns: "l.book_id, \(names)", limit: window.limit, range)
        }
        let restOfFound = rest.map { " AND \($0.condition)" }.joined()
        let condition = restOfFound + (search.map { " AND \($0.condition(searchParameter))" } ?? "")
        let isSelective = search?.isISBN == true || rest.contains { $0.isSelective }
        let walked =
            isSelective
            ? "SELECT l.book_id, \(names) FROM listed_books l WHERE l.user_id = $1 AND false"
            : matches(window, first: "\(window.limit) * 5", range, condition)
        return """
            WITH walked AS MATERIALIZED (
              \(walked)
            ), \(found(if: "(SELECT count(*) FROM walked) < \(window.limit)"))
            (
              SELECT *
              FROM walked
              WHERE (SELECT count(*) FROM walked) >= \(window.limit)
            )
            UNION ALL
            (
              SELECT l.book_id, \(names)
              FROM found l
              WHERE NOT \(isWalked)
                AND l.list_rank = ANY($5)\(range)\(restOfFound)\(window.isAfterCursor)
            )
            UNION ALL
            (
              SELECT *
              FROM (
                \(matches(window, first: "\(window.limit) * 1000000", range, condition))
              ) l
              WHERE \(isWalked)
            )
            """
    }

    /// The condition that too many books match to sort them, so that the list is walked. A search for signs, or with slight misspellings,
    /// sorts those that it has found.
    private var isWalked: String {
        let exact = search.map { " AND bool_or(\($0.condition(searchParameter)))" } ?? ""
        return "(SELECT count(*) > \(Self.sortedMax)\(exact) FROM ids l)"
    }

    /// Returns a query of the first entries of a page among the first `entriesMax` entries of the list. These are merged before the
    /// condition is checked: otherwise, all entries with a status would be read if none of them matches. PostgreSQL does not know
    /// `entriesMax`, and so reads entries one by one instead of sorting all of them.
    private func matches(
        _ window: RowConnection.Window, first entriesMax: String, _ range: String,
        _ condition: String
    ) -> String {
        """
        SELECT l.book_id, \(BookOrder.names(order))
        FROM (
          SELECT l.*
          FROM (
            \(list(window, columns: "l.*", limit: "(\(entriesMax))", range))
          ) l
          ORDER BY \(window.order.sql)
          LIMIT (\(entriesMax))
        ) l
        WHERE true\(condition)
        LIMIT \(window.limit)
        """
    }

    /// Returns a query of the entries with each of the statuses `$5`, as many as `limit` of each.
    private func list(
        _ window: RowConnection.Window, columns: String, limit: String, _ condition: String
    ) -> String {
        Self.ranks.values.sorted().map { rank in
            """
            (
              SELECT \(columns)
              FROM listed_books l
              WHERE l.user_id = $1 AND l.list_rank = \(rank) AND \(rank) = ANY($5)\(condition)\(isAfterCursor(window, rank: rank))
              ORDER BY \(window.order.sql)
              LIMIT \(limit)
            )
            """
        }.joined(separator: "\nUNION ALL\n")
    }

    /// Returns the condition that an entry with a status is after the cursor. If the list is sorted by status, PostgreSQL would
    /// otherwise read all entries with the status.
    private func isAfterCursor(_ window: RowConnection.Window, rank: Int32) -> String {
        guard order.name == BookOrder.status, let cursor = window.cursor else {
            return window.isAfterCursor
        }
        let (sign, end) = window.order.isDescending ? ("<", "infinity") : (">", "-infinity")
        return """
             AND \(rank) \(sign)= \(cursor[0])
                AND (l.added_at, l.book_id) \(sign) (CASE WHEN \(rank) = \(cursor[0]) THEN \(cursor[1]) ELSE '\(end)' END, \(cursor[2]))
            """
    }

    /// Returns the common table expressions of the second step: `ids` are the books that match the most selective filter, up to one
    /// more than are sorted, and `found` are their entries.
    private func found(if condition: String) -> String {
        let ids: String
        if search != nil {
            let hasRatings =
                order.columns[0].sql == "l.quarter_stars"
                || filters.contains { $0.indexedColumn == "l.quarter_stars" }
            ids =
                "SELECT * FROM search_books(\(searchParameter), \(Self.sortedMax + 1), \(hasRatings), NULL) l"
        } else {
            ids = "SELECT * FROM (\(filters.first?.ids ?? "")) c"
        }
        let limited = """
            ids AS MATERIALIZED (
              \(ids)
              WHERE \(condition)
              LIMIT \(Self.sortedMax + 1)
            )
            """
        guard search == nil else { return "\(limited), found AS (SELECT * FROM ids)" }
        return """
            \(limited), found AS MATERIALIZED (
              SELECT l.*
              FROM ids
              CROSS JOIN LATERAL (
                SELECT *
                FROM listed_books l
                WHERE l.user_id = $1 AND l.book_id = ids.book_id
                OFFSET 0
              ) l
              WHERE (SELECT count(*) FROM ids) <= \(Self.sortedMax)
            )
            """
    }

    /// The entries by relevance. OFFSET 0 keeps PostgreSQL from computing the score more than once per book.
    private func rankedEntries(_ window: RowConnection.Window) -> String {
        guard let search else {
            // Without a search, all books are equally relevant, and `added_at` decides.
            let byDate = RowConnection.Window(
                order: RowOrder(
                    name: order.name, columns: Array(window.order.columns.dropFirst()),
                    isDescending: window.order.isDescending),
                cursor: window.cursor.map { Array($0.dropFirst()) })
            return """
                SELECT l.book_id, 0::float8 AS score, l.added_at
                FROM (
                  \(unrankedEntries(byDate))
                ) l
                """
        }
        return """
            SELECT l.book_id, l.score, l.added_at
            FROM (
              SELECT l.*, \(search.score(searchParameter)) AS score
              FROM \(ranked)
              WHERE true\(filters.map { " AND \($0.condition)" }.joined())
              OFFSET 0
            ) l
            WHERE true\(window.isAfterCursor)
            """
    }

    /// The books to sort by relevance. Filters other than the status may leave few of them.
    private var ranked: String {
        "search_books(\(searchParameter), \(filters.isEmpty ? Self.rankedMax : 4 * Self.rankedMax), true, $5) l"
    }

    private func unrankedEntries(_ window: RowConnection.Window) -> String {
        var byDate = self
        byDate.order = window.order.named("ADDED_DESC")
        return byDate.entries(window)
    }

    /// The number of books as an SQL expression: from the counters of the library, or counted up to `countedMax`.
    var count: String {
        if search == nil, filters.isEmpty {
            return """
                coalesce(
                  (
                    SELECT
                      c.books[5] * (5 = ANY($5))::int
                      + c.books[4] * (4 = ANY($5))::int
                      + c.books[3] * (3 = ANY($5))::int
                      + c.books[2] * (2 = ANY($5))::int
                      + c.books[1] * (1 = ANY($5))::int
                    FROM library_counts c
                    WHERE c.user_id = $1
                  ),
                  (
                    SELECT count(*)
                    FROM listed_books l
                    WHERE l.user_id = $1 AND l.list_rank = ANY($5)
                  )
                )
                """
        }
        let conditions = filters.map { " AND \($0.condition)" }.joined()
        if search != nil, order.name == BookOrder.relevance {
            return """
                (
                  SELECT count(*)
                  FROM \(ranked)
                  WHERE true\(conditions)
                )
                """
        }
        let matches = search.map { " AND \($0.condition(searchParameter))" } ?? ""
        return """
            (
              WITH \(found(if: "true"))
              SELECT CASE
                WHEN NOT \(isWalked)
                  THEN (
                    SELECT count(*)
                    FROM found l
                    WHERE l.list_rank = ANY($5)\(conditions)
                  )
                ELSE (
                  SELECT count(*)
                  FROM (
                    SELECT
                    FROM listed_books l
                    WHERE l.user_id = $1 AND l.list_rank = ANY($5)\(conditions)\(matches)
                    LIMIT \(Self.countedMax)
                  ) n
                )
              END
            )
            """
    }
}
