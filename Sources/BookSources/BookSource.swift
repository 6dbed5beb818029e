/// A service that knows books, as functions: a double for a test is a value.
///
/// Each call ends by its deadline. A book that the source does not know is nil or missing, not an error.
package struct BookSource: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package var name: SourceName
    /// The edition of an ISBN. What is beside the point and late, such as an author's name, is left out.
    package var edition: @Sendable (BookNumber, Instant) async throws(SourceError) -> BookRecord?
    /// Many editions by one request, with less of each; nil where the source has no such request.
    package var editions:
        (@Sendable ([BookNumber], Instant) async throws(SourceError) -> [BookNumber: BookRecord])?
    /// Books by words of title and author, the likeliest first; so many at most.
    package var search:
        @Sendable (BookWords, Int, Instant) async throws(SourceError) -> [BookRecord]

    package init(
        name: SourceName,
        edition:
            @escaping @Sendable (BookNumber, Instant) async throws(SourceError) -> BookRecord?,
        editions: (
            @Sendable ([BookNumber], Instant) async throws(SourceError) -> [BookNumber: BookRecord]
        )? = nil,
        search:
            @escaping @Sendable (BookWords, Int, Instant) async throws(SourceError) -> [BookRecord]
    ) {
        self.name = name
        self.edition = edition
        self.editions = editions
        self.search = search
    }
}

/// What a search looks for.
package enum BookWords: Sendable, Hashable {
    /// As typed into a search box.
    case anywhere(String)
    case title(String, author: String?)
}
