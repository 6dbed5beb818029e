/// A service with data about books, as a struct of functions, so that a test can replace it.
///
/// Each call ends by its deadline. A book that the source does not know is nil or missing, not an error.
package struct BookSource: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package var name: SourceName
    /// The edition of an ISBN. What is beside the point and late, such as an author's name, is left out.
    package var edition:
        @Sendable (BookNumber, CallOptions) async throws(SourceError) -> BookRecord?
    /// Many editions by one request, with less of each; nil where the source has no such request.
    package var editions:
        (
            @Sendable ([BookNumber], CallOptions) async throws(SourceError)
                -> [BookNumber: BookRecord]
        )?
    /// Books by words of title and author, the best match first. The number is the maximum.
    package var search:
        @Sendable (BookWords, Int, CallOptions) async throws(SourceError) -> [BookRecord]
    /// The instant before which the source refuses requests of a priority; nil where it is not paused.
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
            @escaping @Sendable (BookWords, Int, CallOptions) async throws(SourceError)
            -> [BookRecord],
        pausedUntil: @escaping @Sendable (RequestPriority) -> Instant? = { _ in nil }
    ) {
        self.name = name
        self.edition = edition
        self.editions = editions
        self.search = search
        self.pausedUntil = pausedUntil
    }
}

/// What a search looks for.
package enum BookWords: Sendable, Hashable {
    /// As typed into a search box.
    case anywhere(String)
    case title(String, author: String?)
}
