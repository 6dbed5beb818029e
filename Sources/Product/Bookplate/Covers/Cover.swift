import GraphQLPostgres
import Postgres

/// The cover image of a book in a reader's library.
package enum Cover {
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
package enum CoverSource: String, Sendable {
    case manualUpload = "MANUAL_UPLOAD"
    case url = "URL"
    case openLibrary = "OPEN_LIBRARY"
    case googleBooks = "GOOGLE_BOOKS"
    case webSearch = "WEB_SEARCH"

    /// The sources of covers that a search found.
    static let found: [CoverSource] = [.openLibrary, .googleBooks, .webSearch]
}
