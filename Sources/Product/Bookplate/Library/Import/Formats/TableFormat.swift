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
    mutating func separateSeries() {
        guard let (rest, series) = ImportedSeries.split(title) else { return }
        title = rest
        self.series = self.series ?? series
    }
}

/// The series of a book, and its position in it.
struct ImportedSeries: Equatable {
    var name: String
    /// Such as `1`, `2.5`, or `1-3`.
    var position: String?

    static let nameCharactersMax = SeriesInput.nameCharactersMax
    static let positionCharactersMax = SeriesInput.positionCharactersMax

    /// Splits a title that ends with a series in parentheses. Of several series, the first counts.
    static func split(_ title: String) -> (title: String, series: ImportedSeries)? {
        guard title.last == ")", let open = title.lastIndex(of: "("), open > title.startIndex
        else { return nil }
        let rest = title[..<open].trimmed
        let inside = title[title.index(after: open)...].dropLast()
        guard !rest.isEmpty, let first = inside.split(separator: ";").first,
            let series = ImportedSeries(numbered: first)
        else { return nil }
        return (rest, series)
    }

    /// Reads `The Hunger Games, #1`, `Sprawl (#2.0)`, or `Discworld #1-3`; nil for a text without a number.
    init?(numbered text: some StringProtocol) {
        guard let mark = text.lastIndex(of: "#") else { return nil }
        let number = text[text.index(after: mark)...].prefix { $0 != ")" }.trimmed
        let name = String(text[..<mark].trimmed.reversed().drop { ", (:".contains($0) }.reversed())
        guard !name.isEmpty, name.unicodeScalars.count <= Self.nameCharactersMax,
            let position = Self.position(number)
        else { return nil }
        self.init(name: name, position: position)
    }

    init(name: String, position: String?) {
        self.name = name
        self.position = position
    }

    /// Returns a position without needless zeros: `1` for `1.0`. Nil if the text is not a number or a range of numbers.
    static func position(_ text: some StringProtocol) -> String? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "–" }
        guard (1...2).contains(parts.count), text.utf8.count <= positionCharactersMax else {
            return nil
        }
        var numbers: [String] = []
        for part in parts {
            let part = part.trimmed
            guard part.first?.isNumber == true,
                part.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
                let number = Double(part)
            else { return nil }
            numbers.append(
                number == number.rounded() && number < 1e6 ? String(Int(number)) : part)
        }
        return numbers.joined(separator: "-")
    }
}
