import Basics
import HTTPFetch

/// Open Library.
///
/// The record of an edition contains only the keys of its authors, and often not even those. The record of its work then
/// contains them, and the description too. A lookup therefore fetches the edition, and then its work and authors concurrently.
///
/// API: https://openlibrary.org/developers/api
struct OpenLibrary: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Open Library allows three requests per second to clients that send a contact in their user agent.
    static let limit = RateLimit(perSecond: 3, burst: 20)
    private static let authorsMax = 10
    private static let redirectsMax = 3
    /// Requests for works and authors end this long before the deadline, so that the edition can be returned without them.
    private static let returnReserve = Duration.milliseconds(150)

    let client: SourceClient
    /// Has no trailing slash.
    let url: String
    /// nil if covers are switched off.
    let coversURL: String?

    /// - Parameter fetcher: Its user agent must contain a contact. Otherwise Open Library refuses requests.
    init(_ fetcher: Fetcher, _ limits: SourceLimits, url: String, coversURL: String?) {
        client = SourceClient(fetcher, limit: Self.limit, gate: limits.gate(of: .openLibrary))
        self.url = url
        self.coversURL = coversURL
    }

    var source: BookSource {
        BookSource(
            name: .openLibrary,
            edition: { number, options async throws(SourceError) in
                try await edition(number, options)
            },
            editions: { numbers, options async throws(SourceError) in
                try await editions(numbers, options)
            },
            search: { words, count, options async throws(SourceError) in
                try await search(words, count, options)
            },
            authors: { query, options async throws(SourceError) in
                try await authors(query, options)
            }, pausedUntil: client.pausedUntil)
    }

    private func edition(
        _ number: BookNumber, _ options: CallOptions
    ) async throws(SourceError) -> BookRecord? {
        guard let edition = try await document("/isbn/\(number.isbn13)", options),
            var record = record(edition: edition)
        else { return nil }
        record.isbns.append(number.isbn13)
        let earlier = options.ending(earlierBy: Self.returnReserve)
        let references = authors(edition)
        async let work = optionalDocument(workKey(edition), earlier)
        async let authors = authorRecords(references, earlier)
        var found = await authors
        if let work = await work {
            if references.isEmpty {
                found = await authorRecords(self.authors(work), earlier)
            }
            fill(&record, from: work)
        }
        record.authorRecords = found.filter { $0.key != nil }
        record.authors = found.map(\.name)
        return record
    }

    /// Returns the authors in the order of the references. Records that do not arrive in time are omitted. An author of whom the book
    /// contains only a name has no key.
    private func authorRecords(
        _ references: [AuthorReference], _ options: CallOptions
    ) async -> [AuthorRecord] {
        let references = references.prefix(Self.authorsMax)
        return await withTaskGroup(of: (Int, AuthorRecord?).self) { group in
            var authors = [AuthorRecord?](repeating: nil, count: references.count)
            for (index, reference) in references.enumerated() {
                switch reference {
                case .name(let name): authors[index] = AuthorRecord(name: name)
                case .key(let key):
                    group.addTask {
                        let author = await optionalDocument(key, options)
                        return (index, author.flatMap { record(author: $0, key: key) })
                    }
                }
            }
            for await (index, author) in group { authors[index] = author }
            return authors.compactMap { $0 }
        }
    }

    /// Returns an author, or the authors of an edition or, if it names none, of its work. Fails if a record cannot be fetched.
    private func authors(
        _ query: AuthorQuery, _ options: CallOptions
    ) async throws(SourceError) -> [AuthorRecord] {
        var keys: [String]
        switch query {
        case .key(let key): keys = Self.key(in: "/authors/\(key)").map { [$0] } ?? []
        case .edition(let number):
            guard let edition = try await document("/isbn/\(number.isbn13)", options) else {
                return []
            }
            keys = authorKeys(edition)
            if keys.isEmpty, let workKey = workKey(edition) {
                keys = try await document(workKey, options).map(authorKeys) ?? []
            }
        }
        var authors: [AuthorRecord] = []
        for key in keys.prefix(Self.authorsMax) {
            guard let author = try await document(key, options) else { continue }
            if let record = record(author: author, key: key) { authors.append(record) }
        }
        return authors
    }

    private func optionalDocument(_ key: String?, _ options: CallOptions) async -> JSON? {
        guard let key else { return nil }
        return try? await document(key, options)
    }

    /// Fetches the record with a key such as `/works/OL45804W`. If it was merged into another record, returns that one.
    ///
    /// The URL of an ISBN redirects to the edition at Open Library's public address. Only the key is taken from that address and
    /// requested at the configured one, which may be a mirror.
    private func document(_ key: String, _ options: CallOptions) async throws(SourceError) -> JSON?
    {
        var key = key
        for _ in 0...Self.redirectsMax {
            switch try await client.response(url + key + ".json", options: options) {
            case .missing: return nil
            case .moved(let location):
                guard let next = Self.key(in: location) else { throw .malformed }
                key = next
            case .json(let json):
                switch json["type"]?["key"]?.text {
                case "/type/redirect":
                    guard let next = json["location"]?.text.flatMap(Self.key) else { return nil }
                    key = next
                case "/type/delete": return nil
                default: return json["error"] == nil ? json : nil
                }
            }
        }
        return nil
    }

    /// Extracts a key such as `/books/OL7353617M` from an address. Nothing else of a response becomes part of a request.
    static func key(in text: String) -> String? {
        guard text.contains("/OL") else { return nil }
        return text.firstMatch(of: /\/(?:books|works|authors)\/OL[0-9]{1,15}[A-Z]/).map {
            String($0.output)
        }
    }

    /// Fetches many editions with one request. They include names of authors, but no descriptions.
    private func editions(
        _ numbers: [BookNumber], _ options: CallOptions
    ) async throws(SourceError) -> [BookNumber: BookRecord] {
        let keys = numbers.map { "ISBN:\($0.isbn13)" }.joined(separator: ",")
        let json = try await client.json(
            "\(url)/api/books?bibkeys=\(keys)&jscmd=data&format=json", options: options)
        var records: [BookNumber: BookRecord] = [:]
        for number in numbers {
            guard let data = json?["ISBN:\(number.isbn13)"], var record = record(data: data)
            else { continue }
            record.isbns.append(number.isbn13)
            records[number] = record
        }
        return records
    }

    private func search(
        _ words: BookQuery, _ count: Int, _ options: CallOptions
    ) async throws(SourceError) -> [BookRecord] {
        let query: String
        switch words {
        case .anywhere(let words): query = "q=\(words.percentEncoded())"
        case .title(let title, let author):
            query =
                "title=\(title.percentEncoded())"
                + (author.map { "&author=\($0.percentEncoded())" } ?? "")
        }
        let fields =
            "key,title,subtitle,author_name,first_publish_year,isbn,cover_i,language,"
            + "number_of_pages_median,publisher,subject,editions,editions.key,editions.isbn"
        let json = try await client.json(
            "\(url)/search.json?\(query)&fields=\(fields)&limit=\(count)", options: options)
        return json?["docs"]?.itemsOrSelf.prefix(count).compactMap { record(document: $0) } ?? []
    }
}
