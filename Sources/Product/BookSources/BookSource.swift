/// A service with data about books. It is a struct of functions, so that tests can replace them.
///
/// Each call returns or fails by its deadline. A book that the source does not have is nil or missing in the result; it is not
/// an error.
package struct BookSource: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package var name: SourceName
    /// Returns the edition with an ISBN. Secondary data that does not arrive in time, such as authors' names, is omitted.
    package var edition:
        @Sendable (BookNumber, CallOptions) async throws(SourceError) -> BookRecord?
    /// Returns many editions with a single request, with less data per edition. nil if the source does not support batch lookups.
    package var editions:
        (
            @Sendable ([BookNumber], CallOptions) async throws(SourceError)
                -> [BookNumber: BookRecord]
        )?
    /// Searches books by title and author. Returns at most the given number of them, the best match first.
    package var search:
        @Sendable (BookQuery, Int, CallOptions) async throws(SourceError) -> [BookRecord]
    /// Returns records of authors. nil if the source has none.
    package var authors:
        (@Sendable (AuthorQuery, CallOptions) async throws(SourceError) -> [AuthorRecord])?
    /// Returns the instant until which the source is paused for requests of a priority. nil if it is not paused.
    package var pausedUntil: @Sendable (RequestPriority) -> Instant?

    package init(
        name: SourceName,
        edition:
            @escaping @Sendable (BookNumber, CallOptions) async throws(SourceError) -> BookRecord?,
        editions: (
            @Sendable ([BookNumber], CallOptions) async throws(SourceError)
                -> [BookNumber: BookRecord]
        )? = nil,
        search:
            @escaping @Sendable (BookQuery, Int, CallOptions) async throws(SourceError)
            -> [BookRecord],
        authors: (
            @Sendable (AuthorQuery, CallOptions) async throws(SourceError) -> [AuthorRecord]
        )? = nil,
        pausedUntil: @escaping @Sendable (RequestPriority) -> Instant? = { _ in nil }
    ) {
        self.name = name
        self.edition = edition
        self.editions = editions
        self.search = search
        self.authors = authors
        self.pausedUntil = pausedUntil
    }
}

/// The terms of a search for books.
package enum BookQuery: Sendable, Hashable {
    /// Words from a search box, which may occur in any field.
    case anywhere(String)
    case title(String, author: String?)
}
