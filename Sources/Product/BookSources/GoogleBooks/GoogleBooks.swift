import Basics
import Glibc
import HTTPFetch

/// Google Books. Its API calls books "volumes".
///
/// API: https://developers.google.com/books/docs/v1/using
struct GoogleBooks: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Google allows a hundred requests per minute and caller.
    static let limit = RateLimit(perSecond: 1.6, burst: 40)

    let client: SourceClient
    /// Has no trailing slash.
    let url: String
    let key: String?

    init(_ fetcher: Fetcher, _ limits: SourceLimits, url: String, key: String?) {
        client = SourceClient(
            fetcher, limit: Self.limit, gate: limits.gate(of: .googleBooks),
            retryDelay: Self.retryDelay)
        self.url = url
        self.key = key
    }

    var source: BookSource {
        BookSource(
            name: .googleBooks,
            edition: { number, options async throws(SourceError) in
                try await edition(number, options)
            },
            search: { words, count, options async throws(SourceError) in
                try await search(words, count, options)
            }, pausedUntil: client.pausedUntil)
    }

    private func edition(
        _ number: BookNumber, _ options: CallOptions
    ) async throws(SourceError) -> BookRecord? {
        // A query with `isbn:` sometimes finds another edition, or nothing although a query with the bare number succeeds.
        for query in ["isbn:\(number.isbn13)", number.isbn13] {
            let volumes = try await volumes(query, 5, options)
            if let record = volumes.first(where: { number.isAmong($0.isbns) }) { return record }
        }
        return nil
    }

    private func search(
        _ words: BookQuery, _ count: Int, _ options: CallOptions
    ) async throws(SourceError) -> [BookRecord] {
        switch words {
        case .anywhere(let words):
            return try await volumes(words, count, options)
        case .title(let title, let author):
            func quoted(_ text: String) -> String { "\"\(text.filter { $0 != "\"" })\"" }
            let query =
                "intitle:\(quoted(title))" + (author.map { " inauthor:\(quoted($0))" } ?? "")
            return try await volumes(query, count, options)
        }
    }

    private func volumes(
        _ query: String, _ count: Int, _ options: CallOptions
    ) async throws(SourceError) -> [BookRecord] {
        // Google refuses requests without a country if it cannot determine the location of the IP address.
        var address =
            "\(url)/volumes?q=\(query.percentEncoded())&maxResults=\(min(count, 40))"
            + "&printType=books&country=US"
        if let key { address += "&key=\(key.percentEncoded())" }
        return try await client.json(address, options: options)?["items"]?.items
            .compactMap { Self.record(volume: $0, onUnreadable: client.recordUnreadable) } ?? []
    }

    /// If the daily quota is used up, returns the time until its reset at midnight in California. Otherwise returns nil.
    @Sendable private static func retryDelay(_ response: FetchResponse) -> Duration? {
        guard response.status == 429,
            String(decoding: response.body, as: UTF8.self).contains("per day")
        else { return nil }
        let secondsOfDay = time(nil) % 86_400
        // 08:00 UTC. With daylight saving time the quota is reset an hour earlier, which does no harm.
        return .seconds((8 * 3600 - secondsOfDay + 86_400) % 86_400 + 60)
    }

    static func record(
        volume: JSON, onUnreadable: @escaping (RecordField) -> Void = { _ in }
    ) -> BookRecord? {
        guard let info = volume["volumeInfo"] else { return nil }
        let reader = RecordReader(info, onUnreadable: onUnreadable)
        guard let title = reader.line("title", as: .title) else { return nil }
        // Others are numbers of libraries, such as `UOM:39015`.
        let identifiers = reader.list("industryIdentifiers", as: .isbns) { item in
            (item["identifier"] ?? item).anyText.map { (type: item["type"]?.text, text: $0) }
        }
        let separated = SeriesName.separate(title)
        return BookRecord(
            title: separated?.title ?? title, subtitle: reader.line("subtitle", as: .subtitle),
            authors: reader.lines("authors", as: .authors),
            isbns: ["ISBN_13", "ISBN_10", nil].flatMap { type in
                identifiers.filter { $0.type == type }.map(\.text)
            },
            publisher: reader.line("publisher", as: .publisher),
            publishedDate: reader.date("publishedDate"),
            pageCount: reader.pageCount("pageCount", "printedPageCount"),
            language: reader.language("language"),
            genres: genres(reader.lines("categories", as: .genres)),
            description: reader.paragraphs("description", as: .description),
            covers: cover(info["imageLinks"]).map { [$0] } ?? [],
            keys: volume["id"]?.text.map { [SourceKey(source: .googleBooks, key: $0)] } ?? [],
            series: separated?.series)
    }

    /// Converts categories to genres. A category is a path, of which the second step is the most useful one: "Fiction / Science
    /// Fiction / General" becomes "Science Fiction".
    private static func genres(_ categories: [String]) -> [String] {
        var genres: [String] = []
        for category in categories {
            let steps = category.split(separator: "/").map { trimmed($0) }
                .filter { $0 != "General" && !$0.isEmpty }
            if let genre = steps.dropFirst().first ?? steps.first, !genres.contains(genre) {
                genres.append(genre)
            }
        }
        return Array(genres.prefix(6))
    }

    /// Returns the address of the cover.
    ///
    /// The larger images of scanned books show inner pages. The thumbnail is therefore requested in a larger size, and without the
    /// page curl that Google draws in its corner.
    private static func cover(_ links: JSON?) -> CoverCandidate? {
        guard var url = links?["thumbnail"]?.text ?? links?["smallThumbnail"]?.text else {
            return nil
        }
        if url.hasPrefix("http://books.google") { url = "https" + url.dropFirst(4) }
        url = url.replacing("&edge=curl", with: "")
        // A signed address is valid only for its own size.
        if !url.contains("sig="), url.contains("?") { url += "&fife=w800-h1200" }
        return CoverCandidate(source: .googleBooks, url: url)
    }
}
