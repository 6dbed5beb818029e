import Basics

/// An external host. Each has a daily budget and a circuit breaker.
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

    /// The host that the images of a source are fetched from.
    init(imagesOf source: SourceName) {
        self =
            switch source {
            case .openLibrary: .openLibraryCovers
            case .googleBooks: .googleBooksCovers
            case .isbnDB: .isbnDBCovers
            }
    }
}

/// Whether a user is waiting for the result of a request. Background work is sent after the requests of users, and may use only a
/// part of a daily budget.
package enum RequestPriority: String, Sendable, Hashable, CaseIterable {
    case interactive, background
}

/// The deadline and the priority of a call to a source.
package struct CallOptions: Sendable {
    package var deadline: ContinuousClock.Instant
    package var priority: RequestPriority
    /// The user for whom the call is. Users take turns. nil for work for no user.
    package var reader: UUID?

    package init(
        deadline: ContinuousClock.Instant, priority: RequestPriority, reader: UUID? = nil
    ) {
        self.deadline = deadline
        self.priority = priority
        self.reader = reader
    }

    func ending(earlierBy duration: Duration) -> CallOptions {
        CallOptions(
            deadline: deadline.advanced(by: .zero - duration), priority: priority, reader: reader)
    }
}
