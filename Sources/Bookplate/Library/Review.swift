import GraphQL
import GraphQLPostgres
import Postgres

/// A reader's rating of a book in the library, with an optional text. It is kept but hidden while the book's status is
/// not READ.
enum Review {
    static let id = Column("r.id", .uuid)
    static let bookID = Column("r.book_id", .uuid)

    static let type: RowType = RowType(
        name: "Review", table: "reviews r",
        scope: """
            r.user_id = $1
              AND EXISTS (
                SELECT FROM books rb
                WHERE rb.user_id = r.user_id AND rb.id = r.book_id AND rb.status = 'READ'
              )
            """, id: id,
        fields: [
            "id": .column(id),
            "rating": .column(Column("r.rating", .integer)),
            "text": .column(Column("r.text", .text)),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = ANY($2)")),
            "createdAt": .column(createdAt),
            "updatedAt": .column(Column("r.updated_at", .timestamp)),
        ])

    private static let createdAt = Column("r.created_at", .timestamp)

    static let ofBook = RowRelation(
        .one, type, key: Book.id, matching: "r.book_id",
        from: "reviews r WHERE r.user_id = $1 AND r.book_id = ANY($2)",
        condition: .init(on: [Book.status]) { cells in
            cells[0].map { $0.elementsEqual("READ".utf8) } ?? false
        })

    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(name: "created", columns: [.init(createdAt), .init(id)], isDescending: true)
        ],
        source: { _, _ in .init(from: "\(type.table) WHERE \(type.scope)") })
}
