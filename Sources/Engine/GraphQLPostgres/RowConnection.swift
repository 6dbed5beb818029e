import GraphQL
import Postgres
import Synchronization

/// A list of rows for each parent, in pages that are continued by a cursor: `Shelf.books`, `User.books`.
///
/// Pages use keyset pagination, not offsets. Rows that are inserted or deleted before the cursor do not shift the next
/// page.
///
/// Spec: https://relay.dev/graphql/connections.htm
package struct RowConnection: RowLoader {
    /// Called when an operation is planned, because the types refer to each other.
    let type: @Sendable () -> RowType
    /// The parent's id, available to the source as `k.id`.
    let key: Column
    /// The orders by the value of `orderBy`. A list without that argument has a single order.
    let orders: [RowOrder]
    /// Returns the source of the rows, without order and page.
    let source: @Sendable (ArgumentValues, RowOrder) throws -> Source

    package init(
        _ type: @autoclosure @escaping @Sendable () -> RowType, key: Column, orders: [RowOrder],
        source:
            @escaping @Sendable (ArgumentValues, RowOrder) throws -> Source
    ) {
        self.type = type
        self.key = key
        self.orders = orders
        self.source = source
    }

    /// The tables and conditions of one parent's rows. `$1` is the caller.
    package struct Source {
        /// For example `books b WHERE b.user_id = $1`. Several sources have no common rows; a page reads the first rows of
        /// each, so that each can use an index of its own.
        package var from: [String]
        /// Appends the parameters from `$5` on.
        package var bind: (inout Parameters) -> Void
        /// The expressions of the order's keys in terms of these tables; nil for those of the order.
        package var keys: [String]?
        /// Returns the query of the page's entries, if the page is read from an index and not from `from`.
        package var entries: Entries?
        /// The SQL expression of the number of rows; nil to count those of `from`.
        package var count: String?
        /// The arguments that select the rows, as a text. A cursor belongs to a list with the same ones.
        package var filters = ""

        /// A query of the first entries of a page, in any order. Its columns are the keys of the order, with the names that the order
        /// gives them under the alias `l`.
        package typealias Entries = @Sendable (Window) -> String

        package init(
            from: String, keys: [String]? = nil,
            bind: @escaping (inout Parameters) -> Void = { _ in }
        ) {
            self.init(fromEach: [from], bind: bind)
            self.keys = keys
        }

        package init(fromEach from: [String], bind: @escaping (inout Parameters) -> Void = { _ in })
        {
            self.from = from
            self.bind = bind
        }

        /// - Parameters:
        ///   - entries: The query of the page's entries.
        ///   - row: The row of the type that an entry `l` identifies: `SELECT * FROM books b WHERE b.id = l.book_id`.
        package init(
            entries: @escaping Entries, row: String, count: String, filters: String,
            bind: @escaping (inout Parameters) -> Void
        ) {
            self.init(fromEach: [row], bind: bind)
            self.entries = entries
            self.count = count
            self.filters = filters
        }
    }

    /// The part of a list that a page shows.
    package struct Window: Sendable {
        /// The order in which the page is read, which is the reverse order for a page before a cursor.
        package let order: RowOrder
        /// The parameters with the keys of the cursor; nil without a cursor.
        package let cursor: [String]?
        /// The parameter with the number of entries.
        package let limit = "$3"

        package init(order: RowOrder, cursor: [String]?) {
            self.order = order
            self.cursor = cursor
        }

        /// The condition that an entry is after the cursor, with AND before it.
        package var isAfterCursor: String {
            cursor.map { " AND " + order.isAfter($0) } ?? ""
        }
    }

    package var parentColumns: [Column] { [key] }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let type = type()
        let layouts = ConnectionLayouts(field, of: type, columns: &columns)
        return Prepared(
            connection: self, alias: type.alias, selection: field.selections[0], layouts: layouts,
            columns: columns)
    }

    private final class Prepared: RowLoad {
        let connection: RowConnection
        let alias: Substring
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let columns: ColumnSet
        /// The statements by their text. Arguments select one of a few.
        private let statements = Mutex<[String: Statement]>([:])

        init(
            connection: RowConnection, alias: Substring, selection: PlannedSelection,
            layouts: ConnectionLayouts, columns: ColumnSet
        ) {
            self.connection = connection
            self.alias = alias
            self.selection = selection
            self.layouts = layouts
            self.columns = columns
        }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
        ) throws -> Load {
            let placeholderKey = (parents as? PlaceholderRow)?.value(of: connection.key)
            if parents is PlaceholderRow, placeholderKey == nil { return .needsParents }
            let size = try PageSize(arguments)
            let first = size.first
            let order = connection.order(arguments)
            let source = try connection.source(arguments, order)
            let argument = size.isBackward ? "before" : "after"
            let after = try arguments[argument]?.string.map { text in
                try Cursor(text, of: order, filters: source.filters, argument: argument)
            }
            let natural = source.keys.map { order.withKeys($0) } ?? order
            let keys = size.isBackward ? natural.reversed : natural

            // The columns of the order follow those of the selections.
            var columns = columns
            let orderIndices = order.columns.map { columns.index(of: $0.column) }
            var parameters = Parameters()
            parameters.append(uuid: try request.callerID())
            parameters.appendArray(of: .uuid) { keys in
                if let placeholderKey { keys.append(uuid: placeholderKey) }
                guard let parents = parents as? RowBatch else { return }
                for object in 0..<parents.count {
                    keys.append(cell: parents.cell(connection.key, of: object))
                }
            }
            var counting = parameters
            parameters.append(int32: Int32(first + 1))
            // $4 is used only to keep the numbers of the source's parameters, with and without a cursor.
            parameters.append(bool: after != nil)
            source.bind(&parameters)
            let cursor = after.map { cursor in
                let first = parameters.count + 1
                cursor.append(to: &parameters)
                return keys.columns.indices.map { "$\(first + $0)" }
            }
            let window = Window(order: keys, cursor: cursor)
            let page = request.pending(
                statement(
                    source.entries.map {
                        pageSQL(of: source, $0(window), window, naturalOrder: natural, columns)
                    }
                        ?? """
                        SELECT \(columns.sql), k.n
                        FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
                        CROSS JOIN LATERAL (
                            \(pageSQL(of: source, keys, window.isAfterCursor))
                        ) \(alias)
                        """), parameters)
            var total: (any PendingResult)?
            if layouts.selectsTotalCount {
                counting.append(int32: 0)
                counting.append(bool: false)
                source.bind(&counting)
                total = request.pending(
                    statement(
                        """
                        SELECT \(source.count ?? source.from.map { "(SELECT count(*) FROM \($0))" }.joined(separator: " + "))
                        FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
                        ORDER BY k.n
                        """), counting)
            }
            let parentIndex = columns.count
            return .afterFlush { [layouts, selection, filters = source.filters] parents in
                request.children(of: parents) {
                    let rows = try page.rows()
                    let totals = try total?.rows()
                    let pages = rows.pages(
                        parents: parents.count, parentIndex: parentIndex, size: size,
                        hasCursor: after != nil, totals: totals)
                    return .each(
                        of: ConnectionBatch(
                            rows, pages: pages, layouts: layouts, selection: selection
                        ) { row in
                            Cursor.text(of: rows, row, orderIndices, order, filters: filters)
                        })
                }
            }
        }

        private func pageSQL(of source: Source, _ order: RowOrder, _ keyset: String) -> String {
            let pages = source.from.map { from in
                """
                SELECT \(alias).*
                FROM \(from)\(keyset)
                ORDER BY \(order.sql)
                LIMIT $3
                """
            }
            guard pages.count > 1 else { return pages.joined() }
            return """
                SELECT \(alias).*
                FROM ((\(pages.joined(separator: ") UNION ALL (")))) \(alias)
                ORDER BY \(order.sql)
                LIMIT $3
                """
        }

        /// Returns the statement of a page that is read from an index. The rows are found by the entries, one by one, and only those
        /// of the page.
        private func pageSQL(
            of source: Source, _ entries: String, _ window: Window, naturalOrder: RowOrder,
            _ columns: ColumnSet
        ) -> String {
            """
            SELECT \(columns.sql), k.n
            FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
            CROSS JOIN LATERAL (
                SELECT l.*
                FROM (
                    \(entries)
                ) l
                ORDER BY \(window.order.sql)
                LIMIT \(window.limit)
            ) l
            CROSS JOIN LATERAL (
                \(source.from.joined())
            ) \(alias)
            ORDER BY k.n, \(naturalOrder.sql)
            """
        }

        private func statement(_ text: String) -> Statement {
            statements.withLock { statements in
                if let statement = statements[text] { return statement }
                let statement = Statement(text)
                statements[text] = statement
                return statement
            }
        }
    }

    private func order(_ arguments: ArgumentValues) -> RowOrder {
        let name = arguments["orderBy"]?.string
        // The schema's enum restricts the names. The first order is the default, also for null.
        return orders.first { $0.name == name } ?? orders[0]
    }
}

/// The arguments `first` and `last`.
package struct PageSize {
    /// The maximum number of rows on a page.
    package static let max = 100
    package let first: Int
    /// Whether the page contains the last rows, or those before the cursor `before`.
    package let isBackward: Bool

    /// `first` has a default in the schema, so it does not count with `last` or `before`.
    ///
    /// - Throws: `.invalidPageSize` unless the argument is between 1 and `max`, or `.mixedDirections`.
    package init(_ arguments: ArgumentValues, default: Int = 20) throws(RowError) {
        let last = arguments["last"]?.int
        isBackward = last != nil || arguments["before"]?.string != nil
        if isBackward, arguments["after"]?.string != nil { throw .mixedDirections }
        first = last ?? arguments["first"]?.int ?? `default`
        guard (1...Self.max).contains(first) else {
            throw .invalidPageSize(argument: last == nil ? "first" : "last", max: Self.max)
        }
    }
}

extension Rows {
    /// Splits the rows into one page per parent. The statement returns up to one row more than a page contains, which
    /// shows that there is a next page.
    ///
    /// The lateral join returns the rows of each parent together, parents in order, and rows in the order of the list.
    ///
    /// If the page is before a cursor, the additional row is the first one.
    fileprivate func pages(
        parents: Int, parentIndex: Int, size: PageSize, hasCursor: Bool, totals: Rows?
    ) -> [ConnectionBatch.Page] {
        var pages: [ConnectionBatch.Page] = []
        pages.reserveCapacity(parents)
        var row = 0
        for parent in 0..<parents {
            let start = row
            while row < count, int64(row, parentIndex) == Int64(parent + 1) { row += 1 }
            let hasMore = row - start > size.first
            let (positions, hasNext, hasPrevious) =
                size.isBackward
                ? (Swift.max(start, row - size.first)..<row, hasCursor, hasMore)
                : (start..<Swift.min(row, start + size.first), hasMore, hasCursor)
            pages.append(
                ConnectionBatch.Page(
                    positions: Int32(positions.lowerBound)..<Int32(positions.upperBound),
                    hasNextPage: hasNext, hasPreviousPage: hasPrevious,
                    totalCount: totals.flatMap { $0.int64(parent, 0) }.map { Int($0) }))
        }
        return pages
    }
}

extension RowType {
    /// The alias of the table, `b` for `books b`.
    package var alias: Substring { table.split(separator: " ").last ?? "" }
}
