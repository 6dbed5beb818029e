import GraphQL
import GraphQLPostgres
import Postgres

/// A named list of books. A book can be on any number of shelves.
package enum Shelf {
    static let id = Column("s.id", .uuid)

    static let type: RowType = RowType(
        name: "Shelf", table: "shelves s", scope: "s.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "name": .column(Column("s.name", .text)),
            "position": .column(Column("s.position", .integer)),
            "description": .column(Column("s.description", .text)),
            "color": .column(Column("s.color", .text)),
            "isUpNext": .column(Column("s.is_up_next", .boolean)),
            "createdAt": .column(Column("s.created_at", .timestamp)),
            "updatedAt": .column(Column("s.updated_at", .timestamp)),
            "bookCount": .column(
                Column(bookCount(of: "s.id"), .integer)),
            "books": .relation(Book.ofShelf),
        ])

    /// Returns the SQL expression of the number of books on a shelf.
    static func bookCount(of id: String) -> String {
        """
        coalesce((SELECT c.books FROM shelf_counts c WHERE c.user_id = $1 AND c.shelf_id = \(id)), 0)
        """
    }

    static let ofUser = RowRelation(
        .many, type, key: User.id, matching: "s.user_id",
        from: "shelves s WHERE s.user_id = $1 AND s.user_id = $2 ORDER BY s.position, s.id")

    /// The queue of the books that the reader wants to read next.
    static let upNext = RowRelation(
        .one, type, key: User.id, matching: "s.user_id",
        from: "shelves s WHERE s.user_id = $1 AND s.user_id = $2 AND s.is_up_next")

    static let ofBook = RowRelation(
        .many, type, key: Book.id, matching: "sb.book_id",
        from: """
            shelf_books sb
            JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
            WHERE sb.user_id = $1 AND sb.book_id = $2
            ORDER BY s.position, s.id
            """)
}
