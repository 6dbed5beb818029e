import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The paginated lists of books: those of a library and those of a shelf.
extension Book {
    /// Relies on these plans: without filters, the entries of a page come from the index of `listed_books` for the order, five scans of
    /// `LIMIT` entries at most, one for each status, which are merged. The indexes contain all columns of the entries, and the books
    /// are found by their keys. `BookFilters` explains the plan with filters.
    static let ofUser = RowConnection(
        type, key: User.id, orders: BookOrder.all,
        source: { arguments, order throws(BookplateError) in
            let filters = try BookFilters(arguments, order)
            return .init(
                entries: { filters.entries($0) }, row: row, count: filters.count,
                filters: filters.text, bind: { filters.bind(&$0) })
        })

    /// Relies on these plans: in the orders by hand, date, title, and author, the entries of a page come from an index of `shelf_books`. In the
    /// other orders, all books of the shelf are sorted.
    static let ofShelf = RowConnection(
        type, key: Shelf.id, orders: BookOrder.all,
        source: { _, order in
            let hasIndex = ["l.added_at", "l.sort_title", "l.sort_author", "l.position"]
                .contains(order.columns[0].sql)
            return .init(
                entries: { window in
                    if hasIndex {
                        return """
                            SELECT l.book_id, \(BookOrder.names(order))
                            FROM shelf_books l
                            WHERE l.user_id = $1 AND l.shelf_id = k.id\(window.isAfterCursor)
                            ORDER BY \(window.order.sql)
                            LIMIT \(window.limit)
                            """
                    }
                    return """
                        SELECT l.book_id, \(BookOrder.names(order))
                        FROM shelf_books sb
                        CROSS JOIN LATERAL (
                            SELECT l.*, 0::float8 AS score
                            FROM listed_books l
                            WHERE l.user_id = $1 AND l.book_id = sb.book_id
                            OFFSET 0
                        ) l
                        WHERE sb.user_id = $1 AND sb.shelf_id = k.id\(window.isAfterCursor)
                        """
                }, row: row,
                count: Shelf.bookCount(of: "k.id"), filters: "", bind: { _ in })
        })

    /// The book of an entry. OFFSET 0 keeps PostgreSQL from reading all books of the reader for a join.
    private static let row = """
        SELECT *
        FROM books b
        WHERE b.user_id = $1 AND b.id = l.book_id
        OFFSET 0
        """
}

/// The values of the schema's enum `BookOrder`. The default is first.
enum BookOrder {
    static let relevance = "RELEVANCE"
    static let status = "STATUS"
    /// The reader's order of the books on a shelf.
    static let shelf = "SHELF"
    private static let addedAt = Column("l.added_at", .timestamp)
    private static let title = Column("l.sort_title", .text)
    private static let id = Column("l.book_id", .uuid)

    /// Without a search, `RELEVANCE` is the order by date. See `BookFilters.order`.
    static let all: [RowOrder] = [
        order("ADDED_DESC", [addedAt], isDescending: true),
        order("ADDED_ASC", [addedAt], isDescending: false),
        order("TITLE_ASC", [title], isDescending: false),
        order("AUTHOR_ASC", [Column("l.sort_author", .text), title], isDescending: false),
        order("UPDATED_DESC", [Column("l.updated_at", .timestamp)], isDescending: true),
        order("FINISHED_DESC", [Column("l.finished_at", .timestamp), addedAt], isDescending: true),
        order("RATING_DESC", [Column("l.quarter_stars", .integer), addedAt], isDescending: true),
        order(status, [Column("l.list_rank", .integer), addedAt], isDescending: true),
        order(shelf, [Column("l.position", .text)], isDescending: false),
        order(relevance, [Column("l.score", .float), addedAt], isDescending: true),
    ]

    private static func order(
        _ name: String, _ columns: [Column], isDescending: Bool
    ) -> RowOrder {
        RowOrder(
            name: name, columns: (columns + [id]).map { .init($0) }, isDescending: isDescending)
    }

    /// The keys of an order without the id, as a list of expressions.
    static func names(_ order: RowOrder) -> String {
        order.columns.dropLast().map(\.sql).joined(separator: ", ")
    }
}
