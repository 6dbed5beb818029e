/// A source's data about an author.
package struct AuthorRecord: Sendable, Hashable {
    package var name: String
    /// The author's key at Open Library, such as `OL34184A`.
    package var key: String?
    /// Plain text of at most `bioCharactersMax` characters.
    package var bio: String?
    /// Whether this is the author's own record, so that the source has no biography if `bio` is nil.
    package var isComplete: Bool

    package static let bioCharactersMax = 2000

    package init(name: String, key: String? = nil, bio: String? = nil, isComplete: Bool = false) {
        self.name = name
        self.key = key
        self.bio = bio
        self.isComplete = isComplete
    }

    /// Converts a biography in HTML or Markdown to plain text, and cuts it after the last sentence or word that fits.
    ///
    /// - Returns: nil if no text is left.
    package static func bio(_ text: String?) -> String? {
        // No biography is much longer than the limit after its markup has been removed.
        let start = text.map { String($0.unicodeScalars.filter { $0 != "\0" }.prefix(20_000)) }
        guard var bio = start.flatMap(plainText) else { return nil }
        bio.replace(/\s*\(?(?:[Ss]ource|[Ff]rom):?\s+https?:\/\/[^\s)]+\)?\.?/, with: "")
        bio = trimmed(bio[...])
        guard bio.unicodeScalars.count > bioCharactersMax else { return bio.isEmpty ? nil : bio }
        let scalars = bio.unicodeScalars.prefix(bioCharactersMax - 1)
        let text = Substring(scalars)
        // A sentence in the first half would leave out too much.
        let half = text.index(text.startIndex, offsetBy: text.count / 2)
        if let end = text[half...].ranges(of: /[.!?]\s/).last {
            return String(text[..<end.lowerBound]) + String(text[end.lowerBound])
        }
        let word = text.lastIndex(where: \.isWhitespace) ?? text.endIndex
        return trimmed(text[..<word]) + "…"
    }
}

/// Which authors a source returns.
package enum AuthorQuery: Sendable, Hashable {
    /// The author with a key at Open Library.
    case key(String)
    /// The authors of an edition.
    case edition(BookNumber)
}

extension SourceChain {
    /// Whether a source has records of authors.
    package var hasAuthors: Bool { sources.contains { $0.authors != nil } }

    /// Fetches records of authors, for background work.
    ///
    /// - Returns: The records of the first source that has any, or nil if a source could not answer.
    package func authors(_ query: AuthorQuery, within budget: Duration) async -> [AuthorRecord]? {
        let options = CallOptions(deadline: .now.advanced(by: budget), priority: .background)
        for source in sources {
            guard let authors = source.authors else { continue }
            do throws(SourceError) {
                let records = try await authors(query, options)
                if !records.isEmpty { return records }
            } catch {
                onFailure(source.name, error)
                return nil
            }
        }
        return []
    }
}
