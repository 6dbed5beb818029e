import GraphQL
import GraphQLPostgres
import Postgres

/// A reader's opinion of a book in the library, whatever the status of the book is: a rating, a text, or both. The view
/// `reader_signals` decides whether the feed learns from the rating.
enum Review {
    static let id = Column("r.id", .uuid)
    /// The SQL expression of the rating in whole stars, rounded to the nearest, at least 1. Half stars are rounded up.
    static let rating = "CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END"
    /// The SQL expression of the rating in stars.
    static let stars = "r.quarter_stars::float8 / 4"
    static let bookID = Column("r.book_id", .uuid)

    static let type: RowType = RowType(
        name: "Review", table: "reviews r",
        scope: "r.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "rating": .column(Column(rating, .integer)),
            "stars": .column(Column(stars, .float)),
            "text": .column(Column("r.text", .text)),
            "hasSpoilers": .column(Column("r.has_spoilers", .boolean)),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "createdAt": .column(createdAt),
            "updatedAt": .column(Column("r.updated_at", .timestamp)),
        ])

    private static let createdAt = Column("r.created_at", .timestamp)

    static let ofBook = RowRelation(
        .one, type, key: Book.id, matching: "r.book_id",
        from: "reviews r WHERE r.user_id = $1 AND r.book_id = $2")

    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(name: "created", columns: [.init(createdAt), .init(id)], isDescending: true)
        ],
        source: { _, _ in .init(from: "\(type.table) WHERE \(type.scope)") })
}
