import Basics
import HTTPFetch

/// ISBNdb, a commercial service.
///
/// API: https://isbndb.com/apidocs/v2
struct ISBNdb: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The rate that the smallest plan allows.
    static let limit = RateLimit(perSecond: 1, burst: 5)

    let client: SourceClient
    /// Has no trailing slash.
    let url: String

    init(_ fetcher: Fetcher, _ limits: SourceLimits, url: String, key: String) {
        client = SourceClient(
            fetcher, limit: Self.limit, gate: limits.gate(of: .isbnDB),
            headers: [("Authorization", key)])
        self.url = url
    }

    var source: BookSource {
        BookSource(
            name: .isbnDB,
            edition: { number, options async throws(SourceError) in
                try await client.json("\(url)/book/\(number.isbn13)", options: options)?["book"]
                    .flatMap(Self.record(book:))
            },
            search: { words, count, options async throws(SourceError) in
                let text =
                    switch words {
                    case .anywhere(let words): words
                    case .title(let title, let author): author.map { "\(title) \($0)" } ?? title
                    }
                let path = text.percentEncoded()
                return try await client.json(
                    "\(url)/books/\(path)?pageSize=\(count)", options: options)?["books"]?.items
                    .compactMap(Self.record(book:)) ?? []
            }, pausedUntil: client.pausedUntil)
    }

    static func record(book: JSON) -> BookRecord? {
        guard let title = book["title"]?.text else { return nil }
        return BookRecord(
            title: title, authors: book.texts("authors").map(Contributor.givenNameFirst),
            isbns: ["isbn13", "isbn", "isbn10"].compactMap { book[$0]?.text },
            publisher: book["publisher"]?.text,
            publishedDate: book["date_published"].flatMap { $0.text ?? $0.int.map(String.init) }
                .flatMap(publishedDate),
            pageCount: book["pages"]?.pageCount,
            language: book["language"]?.text.map(languageCode),
            genres: Array(book.texts("subjects").prefix(30)),
            description: (book["synopsis"]?.text ?? book["overview"]?.text).flatMap(plainText),
            covers: book["image"]?.text.map { [CoverCandidate(source: .isbnDB, url: $0)] } ?? [])
    }
}
