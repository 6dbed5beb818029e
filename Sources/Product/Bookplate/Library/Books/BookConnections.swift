import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The paginated lists of books: those of a library and those of a shelf.
extension Book {
    /// Relies on this plan: in the orders by date, a page is read from `books_added_at`, starting after the cursor, and a count
    /// of all books reads only an index. The other orders, `shelfId`, and `search` read all books of the reader. A page of a rare status
    /// also does, because PostgreSQL compares enums after row-level security, and so not with an index.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: BookOrder.of("b.added_at", "b.id", score: Column("b.score", .float)),
        source: { arguments, order throws(BookplateError) in
            var conditions: [String] = []
            var binds: [(inout Parameters) -> Void] = []
            // The first four parameters are the caller, the parents, the page size, and whether there is a cursor.
            func bind(_ append: @escaping (inout Parameters) -> Void) -> String {
                binds.append(append)
                return "$\(4 + binds.count)"
            }
            if let status = arguments["status"]?.string {
                let parameter = bind { $0.append(text: status, as: .inferred) }
                conditions.append("b.status = \(parameter)::reading_status")
            }
            if let shelf = arguments["shelfId"]?.string {
                let parameter = bind { $0.append(uuid: UUID(shelf)) }
                conditions.append(
                    """
                    EXISTS (
                      SELECT FROM shelf_books f
                      WHERE f.user_id = $1 AND f.shelf_id = \(parameter) AND f.book_id = b.id
                    )
                    """)
            }
            var score = "0::float8"
            if let search = try BookSearch(arguments["search"]?.string) {
                let parameter = bind { $0.append(text: search.text) }
                conditions.append(search.condition(parameter))
                score = search.score(parameter)
            }
            let filter = conditions.map { " AND \($0)" }.joined()
            // OFFSET 0 keeps PostgreSQL from inlining the subquery and computing the score more than once per book.
            let books =
                order.name == BookOrder.relevance
                ? "(SELECT b.*, \(score) AS score FROM books b WHERE b.user_id = $1\(filter) OFFSET 0) b WHERE true"
                : "books b WHERE b.user_id = $1\(filter)"
            return .init(from: books) { [binds] parameters in
                for bind in binds { bind(&parameters) }
            }
        })

    static let ofShelf = RowConnection(
        type, key: Shelf.id, orders: BookOrder.of("sb.added_at", "sb.book_id"),
        source: { _, _ in
            .init(
                from: """
                    shelf_books sb
                    JOIN books b ON b.user_id = sb.user_id AND b.id = sb.book_id
                    WHERE sb.user_id = $1 AND sb.shelf_id = k.id
                    """)
        })
}

/// The values of the schema's enum `BookOrder`. The default is first.
private enum BookOrder {
    static let relevance = "RELEVANCE"
    static let addedAt = Column("b.added_at", .timestamp)
    static let updatedAt = Column("b.updated_at", .timestamp)
    static let title = Column("b.title", .text)
    static let author = Column("coalesce(b.author, '')", .text)
    static let hasNoAuthor = Column("(b.author IS NULL)", .boolean)

    /// Returns the orders of a list.
    ///
    /// - Parameters:
    ///   - added: The SQL expression of the date added, such that an index provides the order by date and id.
    ///   - id: The SQL expression of the book's id in that index.
    ///   - score: The relevance; nil for a list that cannot be searched.
    static func of(_ added: String, _ id: String, score: Column? = nil) -> [RowOrder] {
        let newest = [RowOrder.Key(added, addedAt), RowOrder.Key(id, Book.id)]
        // The root collation of Unicode. Case and accents only decide between texts that are otherwise equal.
        let unicode = "COLLATE \"und-x-icu\""
        return [
            RowOrder(name: "ADDED_DESC", columns: newest, isDescending: true),
            RowOrder(name: "ADDED_ASC", columns: newest, isDescending: false),
            RowOrder(
                name: "TITLE_ASC", columns: [.init("b.title \(unicode)", title), .init(Book.id)],
                isDescending: false),
            RowOrder(
                name: "AUTHOR_ASC",
                columns: [
                    .init(hasNoAuthor), .init("coalesce(b.author, '') \(unicode)", author),
                    .init("b.title \(unicode)", title), .init(Book.id),
                ], isDescending: false),
            RowOrder(
                name: "UPDATED_DESC", columns: [.init(updatedAt), .init(Book.id)],
                isDescending: true),
            RowOrder(
                name: relevance,
                columns: score.map { [.init($0), .init(addedAt), .init(Book.id)] } ?? newest,
                isDescending: true),
        ]
    }
}
