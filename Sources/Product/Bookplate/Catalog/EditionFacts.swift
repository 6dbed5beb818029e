import BookSources
import Postgres

/// An external source's data of an edition, cut to the limits of the catalog.
package struct EditionFacts {
    /// Nil for an edition without an ISBN, which its ids at the sources identify.
    let isbn: ISBN?
    private let record: BookRecord
    private let title: String

    /// The maximum number of genres of an edition.
    package static let genresMax = 30
    private static let titleCharactersMax = 500
    private static let textCharactersMax = 500
    private static let descriptionCharactersMax = 20_000

    /// - Parameter isbn: The ISBN under which the edition is saved, even if the source returns another one.
    /// - Returns: Nil if the record has no valid title.
    package init?(_ record: BookRecord, isbn: ISBN) { self.init(record, optionalISBN: isbn) }

    /// - Returns: Nil if the record has no valid title, or no id at its source.
    init?(withoutISBN record: BookRecord) {
        var record = record
        // A search of Open Library returns works. Those without an ISBN have hardly ever several editions.
        if record.keys.isEmpty { record.keys = record.workKeys }
        self.init(record, optionalISBN: nil)
        guard !keys.isEmpty else { return nil }
    }

    private init?(_ record: BookRecord, optionalISBN isbn: ISBN?) {
        self.isbn = isbn
        self.record = record
        guard let title = Self.normalized(record.title, Self.titleCharactersMax) else { return nil }
        self.title = title
    }

    /// Adds the editions to the catalog, or fills missing data of existing editions.
    ///
    /// - Returns: The keys of the results, in the order of the editions. An edition whose result is false was not saved, because
    ///   another transaction has locked this edition or an earlier one of the pipeline, or rows that follow from it.
    @discardableResult
    static func append(
        _ editions: [EditionFacts], to pipeline: inout Pipeline
    ) -> [ResultKey<Bool>] {
        let keys = editions.map { pipeline.append(save, $0.parameters) }
        if let authors = authorParameters(of: editions) { pipeline.append(saveAuthors, authors) }
        return keys
    }

    var number: String? { isbn?.description }

    /// A text by which editions are saved in the same order in all requests.
    var order: String { number ?? keys.first.map { "\($0.source.rawValue) \($0.key)" } ?? "" }

    private var keys: [SourceKey] { record.keys.filter { $0.key.unicodeScalars.count <= 200 } }

    /// URLs of images; see `CoverCandidate.init(link:)`.
    var coverLinks: [String] {
        record.covers.prefix(10).map { "\($0.source.rawValue) \($0.url)" }
    }

    /// The authors, followed by translators, illustrators, and others.
    private var authors: BookAuthors {
        let authors = record.authors.map { Contributor(name: $0) } + record.contributors
        return BookAuthors(
            authors.compactMap { author in
                Self.normalized(author.name, Self.textCharactersMax).map {
                    Contributor(name: $0, role: author.role)
                }
            })
    }

    /// Returns the sources' records of the authors of these editions as the parameters of `saveAuthors`. Nil if there are none.
    ///
    /// One statement saves all of them in a fixed order, so that two transactions cannot deadlock.
    package static func authorParameters(of editions: [EditionFacts]) -> Parameters? {
        let records = editions.flatMap(\.record.authorRecords)
        return records.isEmpty ? nil : AuthorFacts(records).parameters
    }

    /// The parameters of `save`.
    package var parameters: Parameters {
        var parameters = Parameters()
        parameters.append(text: number)
        parameters.append(text: title)
        parameters.append(text: Self.normalized(record.subtitle, Self.textCharactersMax))
        let authors = authors
        parameters.append(texts: authors.names)
        parameters.append(texts: authors.roles)
        parameters.append(text: Self.normalized(record.publisher, Self.textCharactersMax))
        parameters.append(text: record.publishedDate?.text)
        parameters.append(int32: record.pageCount.flatMap { Int32(exactly: $0) })
        parameters.append(text: Self.normalized(record.language, 35))
        parameters.append(texts: Self.normalized(record.genres, max: Self.genresMax))
        let description = Self.normalized(record.description, Self.descriptionCharactersMax)
        parameters.append(text: description)
        parameters.append(text: description.flatMap { hook(of: $0) })
        parameters.append(texts: coverLinks)
        let keys = keys
        parameters.append(texts: keys.map(\.source.rawValue))
        parameters.append(texts: keys.map(\.key))
        let series = record.series
        let workKeys = record.workKeys.filter { $0.key.unicodeScalars.count <= 200 }
        parameters.append(texts: workKeys.map(\.source.rawValue))
        parameters.append(texts: workKeys.map(\.key))
        parameters.append(text: series?.name)
        parameters.append(text: series?.position)
        return parameters
    }

    /// Returns a text without surrounding whitespace and NUL characters, which PostgreSQL cannot store, and cut to the
    /// maximum length. Nil if nothing is left.
    private static func normalized(_ text: String?, _ charactersMax: Int) -> String? {
        guard let text else { return nil }
        let scalars = text.unicodeScalars.filter { $0 != "\0" }
            .drop { $0.properties.isWhitespace }.prefix(charactersMax)
        let end = scalars.lastIndex { !$0.properties.isWhitespace }
        return end.map { String(String.UnicodeScalarView(scalars[...$0])) }
    }

    private static func normalized(_ texts: [String], max: Int) -> [String] {
        texts.prefix(max).compactMap { normalized($0, textCharactersMax) }
    }

    package static let save = TypedStatement<Bool>(
        """
        SELECT save_edition(
            $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            $19
        ) IS NOT NULL
        """)
    package static let saveAuthors = Statement("SELECT save_authors($1, $2, $3, $4)")
}

extension BookNumber {
    package init(_ isbn: ISBN) { self.init(isbn13: isbn.description, isbn10: isbn.isbn10) }
}
