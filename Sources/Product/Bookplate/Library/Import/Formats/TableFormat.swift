import BookSources

/// The tables that an application exports: the columns by which they are recognized, and how a record is read.
protocol TableFormat: Sendable {
    /// The columns without which a file is not such a table.
    static var needed: [String] { get }
    /// The further columns by which a file is recognized if the client names no format.
    static var distinctive: [String] { get }
    /// The columns whose content other columns have, too.
    static var redundant: [String] { get }

    /// - Throws: If the record is not imported.
    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook
}

extension TableFormat {
    static var distinctive: [String] { [] }
    static var redundant: [String] { [] }
}

extension ImportFormat {
    /// The formats of tables in the order in which they are tried: those with more columns of their own come first.
    static let tables: [(format: ImportFormat, table: any TableFormat.Type)] = [
        (.hardcover, HardcoverRecord.self), (.storyGraph, StoryGraphRecord.self),
        (.openReads, OpenReadsRecord.self), (.calibre, CalibreRecord.self),
        (.libraryThing, LibraryThingRecord.self), (.goodreads, GoodreadsRecord.self),
    ]

    var table: (any TableFormat.Type)? { Self.tables.first { $0.format == self }?.table }

    /// The name in messages.
    var name: String {
        switch self {
        case .goodreads: "Goodreads"
        case .storyGraph: "The StoryGraph"
        case .hardcover: "Hardcover"
        case .libraryThing: "LibraryThing"
        case .calibre: "Calibre"
        case .openReads: "Openreads"
        case .bookplate: "Bookplate"
        }
    }
}

extension ImportedBook {
    /// Moves the series out of a title such as `The Hunger Games (The Hunger Games, #1)`.
    ///
    /// - Parameter fields: Gets a report of further series.
    mutating func separateSeries(_ fields: ImportFields) {
        guard let (rest, series, others) = ImportedSeries.separate(title) else { return }
        title = rest
        self.series = self.series ?? series
        fields.report("Title", leftOut: others)
    }
}

extension ImportFields {
    /// Reports further series of a book.
    func report(_ field: String, leftOut series: some Collection<ImportedSeries>) {
        guard !series.isEmpty else { return }
        let names = series.map { series in
            series.position.map { "\(series.name), #\($0)" } ?? series.name
        }
        report(
            field,
            "A book has one series: “\(names.joined(separator: "; ").prefix(200))” was left out.")
    }
}

/// The series of a book to import.
typealias ImportedSeries = SeriesName
