import Basics

/// A source's data about an edition. Empty and nil mean that the source has no data.
package struct BookRecord: Sendable, Equatable {
    package var title: String
    package var subtitle: String?
    /// The authors' names, the main author first.
    package var authors: [String]
    /// Translators, illustrators, and others.
    package var contributors: [Contributor]
    /// Records of some of the authors, if the source returned them with the book.
    package var authorRecords: [AuthorRecord]
    /// The ISBNs in the source's spelling. They may contain hyphens and wrong check digits.
    package var isbns: [String]
    package var publisher: String?
    package var publishedDate: PartialDate?
    package var pageCount: Int?
    /// A language tag (BCP 47).
    package var language: String?
    package var genres: [String]
    package var series: SeriesName?
    /// Plain text.
    package var description: String?
    /// Covers, the most likely one first.
    package var covers: [CoverCandidate]
    /// The IDs of the edition at the sources, at most one per source.
    package var keys: [SourceKey]
    /// The IDs of the work at the sources, at most one per source.
    package var workKeys: [SourceKey]

    package init(
        title: String, subtitle: String? = nil, authors: [String] = [], isbns: [String] = [],
        publisher: String? = nil, publishedDate: PartialDate? = nil, pageCount: Int? = nil,
        language: String? = nil, genres: [String] = [], description: String? = nil,
        covers: [CoverCandidate] = [], keys: [SourceKey] = [], contributors: [Contributor] = [],
        authorRecords: [AuthorRecord] = [], workKeys: [SourceKey] = [], series: SeriesName? = nil
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
        self.contributors = contributors
        self.authorRecords = authorRecords
        self.workKeys = workKeys
        self.series = series
    }

    /// Whether a user would recognize the book from the record.
    var isRecognizable: Bool { !authors.isEmpty }

    /// Whether the record has all data that a book page shows, so that no other source is needed.
    var isComplete: Bool {
        !authors.isEmpty && publisher != nil && publishedDate != nil && pageCount != nil
            && description != nil && !covers.isEmpty
    }

    /// Fills missing data from another record of the same edition.
    mutating func fill(from other: BookRecord) {
        subtitle = subtitle ?? other.subtitle
        if authors.isEmpty { authors = other.authors }
        if contributors.isEmpty { contributors = other.contributors }
        if authorRecords.isEmpty { authorRecords = other.authorRecords }
        isbns += other.isbns.filter { !isbns.contains($0) }
        publisher = publisher ?? other.publisher
        if let date = other.publishedDate, publishedDate.map(date.isWithin) != false {
            publishedDate = date
        }
        pageCount = pageCount ?? other.pageCount
        language = language ?? other.language
        if genres.isEmpty { genres = other.genres }
        series = series ?? other.series
        description = description ?? other.description
        covers += other.covers.filter { !covers.contains($0) }
        keys += other.keys.filter { key in !keys.contains { $0.source == key.source } }
        workKeys += other.workKeys.filter { key in !workKeys.contains { $0.source == key.source } }
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

/// A source of book data. The raw values are the names in the catalog, where they qualify the sources' IDs.
package enum SourceName: String, Sendable, Hashable, CaseIterable {
    case openLibrary = "open_library"
    case googleBooks = "google_books"
    case isbnDB = "isbndb"
}

/// A possible cover of a book. It must be checked before it is used, because it may be a placeholder or the cover of another book.
package struct CoverCandidate: Sendable, Hashable {
    package var source: SourceName
    package var url: String

    package init(source: SourceName, url: String) {
        self.source = source
        self.url = url
    }
}

/// An ISBN whose check digit has been verified.
package struct BookNumber: Sendable, Hashable {
    /// 13 digits.
    package var isbn13: String
    /// nil for the prefix 979, for which there are no 10-digit ISBNs.
    package var isbn10: String?

    package init(isbn13: String, isbn10: String?) {
        self.isbn13 = isbn13
        self.isbn10 = isbn10
    }

    /// Whether this ISBN is one of `isbns`, which are in a source's spelling.
    func isAmong(_ isbns: [String]) -> Bool {
        isbns.contains { isbn in
            let digits = isbn.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }.uppercased()
            return digits == isbn13 || digits == isbn10
        }
    }
}
