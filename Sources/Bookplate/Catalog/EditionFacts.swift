import BookSources
import Postgres

/// What the outside sources say of an edition, within the limits of the catalogue.
struct EditionFacts {
    private let isbn: ISBN
    private let record: BookRecord
    private let title: String

    private static let titleCharactersMax = 500
    private static let textCharactersMax = 500
    private static let descriptionCharactersMax = 20_000

    /// - Parameter isbn: under which it is kept, whatever numbers the source writes.
    /// - Returns: nil where there is no title that can be kept.
    init?(_ record: BookRecord, isbn: ISBN) {
        self.isbn = isbn
        self.record = record
        guard let title = Self.kept(record.title, Self.titleCharactersMax) else { return nil }
        self.title = title
    }

    /// Adds the edition, or fills what is not known of it yet. The row answers its id.
    func append(to segment: inout Pipeline) { segment.append(Self.save, parameters) }

    var number: String { isbn.description }

    /// A source's name and an address each.
    var coverLinks: [String] {
        record.covers.prefix(10).map { "\($0.source.rawValue) \($0.url)" }
    }

    /// Of `save`.
    var parameters: Parameters {
        var parameters = Parameters()
        parameters.append(text: isbn.description)
        parameters.append(text: isbn.isbn10)
        parameters.append(text: title)
        parameters.append(text: Self.kept(record.subtitle, Self.textCharactersMax))
        parameters.append(texts: Self.kept(record.authors, max: CatalogRecord.authorsMax))
        parameters.append(text: Self.kept(record.publisher, Self.textCharactersMax))
        parameters.append(text: record.publishedDate)
        parameters.append(int32: record.pageCount.flatMap { Int32(exactly: $0) })
        parameters.append(text: Self.kept(record.language, 35))
        parameters.append(texts: Self.kept(record.genres, max: CatalogRecord.genresMax))
        let description = Self.kept(record.description, Self.descriptionCharactersMax)
        parameters.append(text: description)
        parameters.append(text: description.flatMap { hook(of: $0) })
        parameters.append(texts: coverLinks)
        let keys = record.keys.filter { $0.key.unicodeScalars.count <= 200 }
        parameters.append(texts: keys.map(\.source.rawValue))
        parameters.append(texts: keys.map(\.key))
        return parameters
    }

    /// Trimmed, without what a database cannot hold, and cut: nobody is there who could be told.
    private static func kept(_ text: String?, _ charactersMax: Int) -> String? {
        guard let text else { return nil }
        let scalars = text.unicodeScalars.filter { $0 != "\0" }
            .drop { $0.properties.isWhitespace }.prefix(charactersMax)
        let end = scalars.lastIndex { !$0.properties.isWhitespace }
        return end.map { String(String.UnicodeScalarView(scalars[...$0])) }
    }

    private static func kept(_ texts: [String], max: Int) -> [String] {
        texts.prefix(max).compactMap { kept($0, textCharactersMax) }
    }

    static let save = Statement(
        """
        SELECT save_edition($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        """)
}

extension BookNumber {
    init(_ isbn: ISBN) { self.init(isbn13: isbn.description, isbn10: isbn.isbn10) }
}
