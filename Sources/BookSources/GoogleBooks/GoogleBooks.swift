import Glibc
import HTTPFetch

/// Google's volumes.
///
/// API: https://developers.google.com/books/docs/v1/using
struct GoogleBooks: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A hundred a minute for each caller.
    static let limit = RateLimit(perSecond: 1.6, burst: 40)

    let client: SourceClient
    /// Without a slash at its end.
    let url: String
    let key: String?

    init(_ fetcher: Fetcher, _ limits: SourceLimits, url: String, key: String?) {
        client = SourceClient(
            fetcher, limit: Self.limit, gate: limits.gate(of: .googleBooks), hold: Self.hold)
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
        // `isbn:` sometimes finds another edition, or none where the bare number finds it.
        for query in ["isbn:\(number.isbn13)", number.isbn13] {
            let volumes = try await volumes(query, 5, options)
            if let record = volumes.first(where: { number.isAmong($0.isbns) }) { return record }
        }
        return nil
    }

    private func search(
        _ words: BookWords, _ count: Int, _ options: CallOptions
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
        // The country, because an address that cannot be placed is refused.
        var address =
            "\(url)/volumes?q=\(queryEncoded(query))&maxResults=\(min(count, 40))"
            + "&printType=books&country=US"
        if let key { address += "&key=\(queryEncoded(key))" }
        return try await client.json(address, options: options)?["items"]?.items
            .compactMap(Self.record(volume:)) ?? []
    }

    /// A quota of a day comes back at midnight in California, whatever is tried before.
    @Sendable private static func hold(_ response: FetchResponse) -> Duration? {
        guard response.status == 429,
            String(decoding: response.body, as: UTF8.self).contains("per day")
        else { return nil }
        let secondsOfDay = time(nil) % 86_400
        // 08:00 UTC; in summer that is an hour late, which harms nobody.
        return .seconds((8 * 3600 - secondsOfDay + 86_400) % 86_400 + 60)
    }

    static func record(volume: JSON) -> BookRecord? {
        guard let info = volume["volumeInfo"], let title = info["title"]?.text else { return nil }
        let identifiers = info["industryIdentifiers"]?.items ?? []
        return BookRecord(
            title: title, subtitle: info["subtitle"]?.text, authors: info.texts("authors"),
            isbns: ["ISBN_13", "ISBN_10"].flatMap { type in
                identifiers.filter { $0["type"]?.text == type }
                    .compactMap { $0["identifier"]?.text }
            },
            publisher: info["publisher"]?.text,
            publishedDate: info["publishedDate"]?.text.flatMap(publishedDate),
            pageCount: info["pageCount"]?.pageCount,
            language: info["language"]?.text.map(languageCode),
            genres: genres(info.texts("categories")),
            description: info["description"]?.text.flatMap(plainText),
            covers: cover(info["imageLinks"]).map { [$0] } ?? [],
            keys: volume["id"]?.text.map { [SourceKey(source: .googleBooks, key: $0)] } ?? [])
    }

    /// "Fiction / Science Fiction / General" is a path of which the most telling step is taken.
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

    /// The larger pictures of scanned books are pages from inside, so the thumbnail's own is asked for in
    /// a larger size, without the curl that is drawn into its corner.
    private static func cover(_ links: JSON?) -> CoverCandidate? {
        guard var url = links?["thumbnail"]?.text ?? links?["smallThumbnail"]?.text else {
            return nil
        }
        if url.hasPrefix("http://books.google") { url = "https" + url.dropFirst(4) }
        url = url.replacing("&edge=curl", with: "")
        // A signed address is good for its own size only.
        if !url.contains("sig="), url.contains("?") { url += "&fife=w800-h1200" }
        return CoverCandidate(source: .googleBooks, url: url)
    }
}
