/// What a source says of one edition. Empty and nil are "does not say".
package struct BookRecord: Sendable, Equatable {
    package var title: String
    package var subtitle: String?
    /// Names, the main author first.
    package var authors: [String]
    /// As the source writes them, with hyphens and wrong digits where it has such.
    package var isbns: [String]
    package var publisher: String?
    /// A year, a month or a day: `1965`, `1965-08`, `1965-08-01`.
    package var publishedDate: String?
    package var pageCount: Int?
    /// ISO 639-1 where there is one, else ISO 639-2.
    package var language: String?
    package var genres: [String]
    /// Plain text.
    package var description: String?
    /// The likeliest first.
    package var covers: [CoverCandidate]
    /// Its ids at the sources, at most one of each.
    package var keys: [SourceKey]

    package init(
        title: String, subtitle: String? = nil, authors: [String] = [], isbns: [String] = [],
        publisher: String? = nil, publishedDate: String? = nil, pageCount: Int? = nil,
        language: String? = nil, genres: [String] = [], description: String? = nil,
        covers: [CoverCandidate] = [], keys: [SourceKey] = []
    ) {
        self.title = title
        self.subtitle = subtitle
        self.authors = authors
        self.isbns = isbns
        self.publisher = publisher
        self.publishedDate = publishedDate
        self.pageCount = pageCount
        self.language = language
        self.genres = genres
        self.description = description
        self.covers = covers
        self.keys = keys
    }

    /// Whether a reader would know the book by it.
    var isRecognizable: Bool { !authors.isEmpty }

    /// Whether another source has nothing to add that a page shows.
    var isComplete: Bool {
        !authors.isEmpty && publisher != nil && publishedDate != nil && pageCount != nil
            && description != nil && !covers.isEmpty
    }

    /// Takes from another record of the same edition what this one does not say.
    mutating func fill(from other: BookRecord) {
        subtitle = subtitle ?? other.subtitle
        if authors.isEmpty { authors = other.authors }
        isbns += other.isbns.filter { !isbns.contains($0) }
        publisher = publisher ?? other.publisher
        // A day tells more than the year it is in.
        if let date = other.publishedDate, date.hasPrefix(publishedDate ?? "") {
            publishedDate = date
        }
        pageCount = pageCount ?? other.pageCount
        language = language ?? other.language
        if genres.isEmpty { genres = other.genres }
        description = description ?? other.description
        covers += other.covers.filter { !covers.contains($0) }
        keys += other.keys.filter { key in !keys.contains { $0.source == key.source } }
    }
}

/// A book's id at a source.
package struct SourceKey: Sendable, Hashable {
    package var source: SourceName
    package var key: String

    package init(source: SourceName, key: String) {
        self.source = source
        self.key = key
    }
}

/// The sources, by the names that the catalogue keeps their ids under.
package enum SourceName: String, Sendable, Hashable, CaseIterable {
    case openLibrary = "open_library"
    case googleBooks = "google_books"
    case isbnDB = "isbndb"
}

/// Where a cover may be had. What is there may be a placeholder or another book's: look before it is used.
package struct CoverCandidate: Sendable, Hashable {
    package var source: SourceName
    package var url: String

    package init(source: SourceName, url: String) {
        self.source = source
        self.url = url
    }
}

/// An ISBN whose check digit was verified.
package struct BookNumber: Sendable, Hashable {
    /// 13 digits.
    package var isbn13: String
    /// nil for the prefix 979, which has none.
    package var isbn10: String?

    package init(isbn13: String, isbn10: String?) {
        self.isbn13 = isbn13
        self.isbn10 = isbn10
    }

    /// Whether one of the numbers, as a source writes them, is this one.
    func isAmong(_ isbns: [String]) -> Bool {
        isbns.contains { written in
            let digits = written.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }.uppercased()
            return digits == isbn13 || digits == isbn10
        }
    }
}
