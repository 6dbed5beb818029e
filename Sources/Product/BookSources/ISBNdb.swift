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
                    .flatMap { Self.record(book: $0, onUnreadable: client.recordUnreadable) }
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
                    .compactMap { Self.record(book: $0, onUnreadable: client.recordUnreadable) }
                    ?? []
            }, pausedUntil: client.pausedUntil)
    }

    static func record(
        book: JSON, onUnreadable: @escaping (RecordField) -> Void = { _ in }
    ) -> BookRecord? {
        let reader = RecordReader(book, onUnreadable: onUnreadable)
        guard let title = reader.line("title", as: .title) else { return nil }
        let separated = SeriesName.separate(title)
        return BookRecord(
            title: separated?.title ?? title, subtitle: reader.line("subtitle", as: .subtitle),
            authors: reader.lines("authors", as: .authors).map(Contributor.givenNameFirst),
            isbns: ["isbn13", "isbn", "isbn10"].flatMap { reader.isbns($0) },
            publisher: reader.line("publisher", as: .publisher),
            publishedDate: reader.date("date_published"), pageCount: reader.pageCount("pages"),
            language: reader.language("language"),
            genres: Array(reader.lines("subjects", as: .genres).prefix(30)),
            description: reader.paragraphs("synopsis", "overview", as: .description),
            covers: reader.value("image", as: .covers) { $0.text }
                .map { [CoverCandidate(source: .isbnDB, url: $0)] } ?? [],
            series: separated?.series)
    }
}
