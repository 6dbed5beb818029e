import GraphQL
import GraphQLPostgres
import Postgres

/// The cover image of a book in a reader's library.
enum Cover {
    static let userID = Column("c.user_id", .uuid)
    static let bookID = Column("c.book_id", .uuid)
    static let version = Column("c.version", .text)

    static let type: RowType = RowType(
        name: "Cover", table: "covers c", scope: "c.user_id = $1", id: bookID,
        fields: [
            "url": .relation(ImageURL.ofCover),
            "width": .column(Column("c.width", .integer)),
            "height": .column(Column("c.height", .integer)),
            "dominantColor": .column(Column("c.dominant_color", .text)),
            "blurHash": .column(Column("c.blur_hash", .text)),
            "source": .column(Column("c.source", .text)),
            "updatedAt": .column(Column("c.updated_at", .timestamp)),
        ])

    static let ofBook = RowRelation(
        .one, type, key: Book.id, matching: "c.book_id",
        from: "covers c WHERE c.user_id = $1 AND c.book_id = $2")

    /// The value of `Book.coverStatus`.
    ///
    /// It is FETCHING for less than a minute, even if no server is running that could end the wait (`EndCoverWaits`).
    static let statusOfBook = Column(
        """
        CASE
            WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds'
            THEN CASE
                WHEN EXISTS (SELECT FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id)
                THEN 'READY'
                ELSE 'NOT_FOUND'
            END::cover_status
            ELSE b.cover_status
        END
        """, .text)
}

/// Where a cover came from.
enum CoverSource: String, Sendable {
    case manualUpload = "MANUAL_UPLOAD"
    case url = "URL"
    case openLibrary = "OPEN_LIBRARY"
    case googleBooks = "GOOGLE_BOOKS"
    case webSearch = "WEB_SEARCH"

    /// The sources of covers that a search found.
    static let found: [CoverSource] = [.openLibrary, .googleBooks, .webSearch]
}
