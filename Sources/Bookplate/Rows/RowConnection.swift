import GraphQL
import Postgres
import Synchronization

/// A list of rows of each parent, in pages that a cursor continues: `Shelf.books`, `User.books`.
///
/// Pages are cut by key and not by offset: rows that come or go before the cursor move nothing.
struct RowConnection: RowLoader {
    /// Asked for when a plan is made: the types refer to one another in circles.
    let type: @Sendable () -> RowType
    /// The parent's id, which the source finds as `k.id`.
    let key: Column
    /// By the value of `orderBy`; a list without that argument has the one order.
    let orders: [RowOrder]
    /// Where the rows come from, without order and page.
    let source: @Sendable (ArgumentValues, RowOrder) throws(BookplateError) -> Source

    init(
        _ type: @autoclosure @escaping @Sendable () -> RowType, key: Column, orders: [RowOrder],
        source:
            @escaping @Sendable (ArgumentValues, RowOrder) throws(BookplateError) -> Source
    ) {
        self.type = type
        self.key = key
        self.orders = orders
        self.source = source
    }

    /// Tables and conditions of one parent's rows, `$1` being the caller.
    struct Source {
        /// `books b WHERE b.user_id = $1`
        var from: String
        /// Values for `$5` and on, in order.
        var bind: (inout Parameters) -> Void = { _ in }
    }

    var parentColumns: [Column] { [key] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let type = type()
        let layouts = ConnectionLayouts(field, of: type, columns: &columns)
        return Prepared(
            connection: self, alias: type.alias, selection: field.selections[0], layouts: layouts,
            columns: columns)
    }

    private final class Prepared: RequestLoad {
        let connection: RowConnection
        let alias: Substring
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let columns: ColumnSet
        /// By text up to the page: arguments choose among few.
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
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let foreseen = (parents as? ForeseenRow)?.value(of: connection.key)
            if parents is ForeseenRow, foreseen == nil { return .needsParents }
            let first = try PageSize(arguments).first
            let order = connection.order(arguments)
            let after = try arguments["after"]?.string.map { text throws(BookplateError) in
                try Cursor(text, of: order)
            }
            let source = try connection.source(arguments, order)

            // Columns of the order stand behind those of the selections.
            var columns = columns
            let orderIndices = order.columns.map { columns.index(of: $0.column) }
            var parameters = Parameters()
            parameters.append(uuid: try request.caller().userID)
            parameters.appendArray(of: .uuid) { keys in
                if let foreseen { keys.append(uuid: foreseen) }
                guard let parents = parents as? RowBatch else { return }
                for object in 0..<parents.count {
                    keys.append(cell: parents.cell(connection.key, of: object))
                }
            }
            var counting = parameters
            parameters.append(int32: Int32(first + 1))
            // $4 keeps its place whether or not there is a cursor.
            parameters.append(bool: after != nil)
            source.bind(&parameters)
            let keyset = after.map {
                " AND " + order.isAfter(firstParameter: parameters.count + 1, $0, &parameters)
            }
            let page = request.query(
                statement(
                    """
                    SELECT \(columns.sql), k.n FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n) \
                    CROSS JOIN LATERAL (SELECT \(alias).* FROM \(source.from)\
                    \(keyset ?? "") ORDER BY \(order.sql) LIMIT $3) \(alias)
                    """), parameters)
            var total: RequestContext.PendingRows?
            if layouts.wantsTotalCount {
                counting.append(int32: 0)
                counting.append(bool: false)
                source.bind(&counting)
                total = request.query(
                    statement(
                        """
                        SELECT (SELECT count(*) FROM \(source.from)) \
                        FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n) ORDER BY k.n
                        """), counting)
            }
            let parentIndex = columns.count
            return .afterFlush { [layouts, selection] parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try page.rows()
                    let totals = try total?.rows()
                    let pages = rows.pages(
                        parents: parents.count, parentIndex: parentIndex, first: first,
                        hasPrevious: after != nil, totals: totals)
                    return .each(
                        of: ConnectionBatch(
                            rows, pages: pages, layouts: layouts, selection: selection
                        ) { row in Cursor.text(of: rows, row, orderIndices, order) })
                }
            }
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
        // The schema's enum names the orders; the first is its default, for null too.
        return orders.first { $0.name == name } ?? orders[0]
    }
}

/// `first`, checked.
struct PageSize {
    static let max = 100
    let first: Int

    /// - Throws: `.badUserInput` unless it is 1 to 100.
    init(_ arguments: ArgumentValues, default: Int = 20) throws(BookplateError) {
        first = arguments["first"]?.int ?? `default`
        guard (1...Self.max).contains(first) else {
            throw .badUserInput(field: "first", "Ask for 1 to \(Self.max) at once.")
        }
    }
}

extension Rows {
    /// Cuts the rows into the parents' pages; each page may have one row more than it shows.
    ///
    /// A lateral join gives each parent's rows together, in the parents' order and their own.
    fileprivate func pages(
        parents: Int, parentIndex: Int, first: Int, hasPrevious: Bool, totals: Rows?
    ) -> [ConnectionBatch.Page] {
        var pages: [ConnectionBatch.Page] = []
        pages.reserveCapacity(parents)
        var row = 0
        for parent in 0..<parents {
            let start = row
            while row < count, int64(row, parentIndex) == Int64(parent + 1) { row += 1 }
            let end = min(row, start + first)
            pages.append(
                ConnectionBatch.Page(
                    rows: Int32(start)..<Int32(end), hasNextPage: row > end,
                    hasPreviousPage: hasPrevious,
                    totalCount: totals.flatMap { $0.int64(parent, 0) }.map { Int($0) }))
        }
        return pages
    }
}

extension RowType {
    /// `b` of `books b`.
    var alias: Substring { table.split(separator: " ").last ?? "" }
}
