import GraphQL
import Postgres

/// The lists of books: a library's and a shelf's.
extension Book {
    static let ofUser = RowConnection(
        type, key: User.id, orders: BookOrder.of("b.added_at", "b.id"),
        source: { arguments, _ throws(BookplateError) in
            var conditions = ["b.user_id = $1"]
            var binds: [(inout Parameters) -> Void] = []
            // The first four parameters are the caller, the parents and the page.
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
                    "EXISTS (SELECT FROM shelf_books f WHERE f.user_id = $1 "
                        + "AND f.shelf_id = \(parameter) AND f.book_id = b.id)")
            }
            if let search = arguments["search"]?.string {
                let pattern = try LikePattern(containing: search, field: "search")
                let parameter = bind { $0.append(text: pattern.text) }
                conditions.append("(b.title ILIKE \(parameter) OR b.author ILIKE \(parameter))")
            }
            let from = "books b WHERE \(conditions.joined(separator: " AND "))"
            return .init(from: from) { [binds] parameters in
                for bind in binds { bind(&parameters) }
            }
        })

    static let ofShelf = RowConnection(
        type, key: Shelf.id, orders: BookOrder.of("sb.added_at", "sb.book_id"),
        source: { _, _ in
            .init(
                from: """
                    shelf_books sb JOIN books b ON b.user_id = sb.user_id AND b.id = sb.book_id \
                    WHERE sb.user_id = $1 AND sb.shelf_id = k.id
                    """)
        })
}

/// The values of the schema's `BookOrder`, its default first.
private enum BookOrder {
    static let addedAt = Column("b.added_at", .timestamp)
    static let updatedAt = Column("b.updated_at", .timestamp)
    // The root collation of Unicode: case and accents decide last.
    static let title = Column("b.title", .text)
    static let author = Column("coalesce(b.author, '')", .text)
    static let hasNoAuthor = Column("(b.author IS NULL)", .boolean)

    /// - Parameters: the place where the date added and the id are found in an index, in that order.
    static func of(_ added: String, _ id: String) -> [RowOrder] {
        let newest = [RowOrder.Key(added, addedAt), RowOrder.Key(id, Book.id)]
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
        ]
    }
}

/// A pattern of `ILIKE` that finds a text anywhere, taken literally.
struct LikePattern {
    let text: String

    init(containing search: String, field: String) throws(BookplateError) {
        let search = try TextInput.line(search, field: field, charactersMax: 200)
        var text = "%"
        for character in search.unicodeScalars {
            if character == "%" || character == "_" || character == "\\" { text += "\\" }
            text.unicodeScalars.append(character)
        }
        self.text = text + "%"
    }
}
