/// An external service that requests are counted for. Each has a daily budget and a circuit breaker.
///
/// The raw values are the names in the configuration and in the database.
package enum SourceHost: String, Sendable, Hashable, CaseIterable {
    case openLibrary = "open-library"
    case openLibraryCovers = "open-library-covers"
    case googleBooks = "google-books"
    case googleBooksCovers = "google-books-covers"
    case isbnDB = "isbndb"
    case isbnDBCovers = "isbndb-covers"
    case webSearch = "web-search"

    /// The host that the pictures of a source are fetched from.
    init(picturesOf source: SourceName) {
        self =
            switch source {
            case .openLibrary: .openLibraryCovers
            case .googleBooks: .googleBooksCovers
            case .isbnDB: .isbnDBCovers
            }
    }
}

/// Whether a person waits for a request. Background work may use only a share of a daily budget.
package enum RequestPriority: String, Sendable, Hashable, CaseIterable {
    case interactive, background
}

/// When a call of a source must end, and how urgent it is.
package struct CallOptions: Sendable {
    package var deadline: ContinuousClock.Instant
    package var priority: RequestPriority

    package init(deadline: ContinuousClock.Instant, priority: RequestPriority) {
        self.deadline = deadline
        self.priority = priority
    }
}
