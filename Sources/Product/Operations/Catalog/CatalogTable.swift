import BookSources
import Bookplate

/// The columns of a catalog file with comma-separated values, recognized by their usual names.
struct CatalogTable {
    private let columnIndexes: [String: Int]
    private let cellCount: Int

    /// The possible names of the columns for each member of a `CatalogRecord`, the preferred name first.
    private static let names: [String: [String]] = [
        "title": ["title", "book", "original_title"],
        "subtitle": ["subtitle"], "series": ["series"], "seriesPosition": ["series_position"],
        "authors": ["authors"], "author": ["author"],
        "isbn13": ["isbn13", "isbn_13"], "isbn": ["isbn", "isbn10", "isbn_10"],
        "publisher": ["publisher"],
        "publishedDate": [
            "published_date", "publisheddate", "published_year", "publish_date", "date_published",
            "publication_date", "original_publication_year", "inception",
        ],
        "language": ["language", "language_code"],
        "pageCount": ["page_count", "pagecount", "num_pages", "# num_pages", "pages"],
        "genres": ["genres", "categories"], "description": ["description"],
        "averageRating": ["average_rating", "avg_rating", "rating"],
        "ratingsCount": ["ratings_count", "num_ratings", "voters"],
        "goodreads_book_id": ["goodreads_book_id", "bookid"], "ids": ["id"],
        "goodreads_work_id": ["goodreads_work_id"],
        "works": ["open_library_work_id", "openlibrary_work_id", "work_key"],
    ]

    /// - Throws: If the header has no column for titles.
    init(header: [String]) throws(CatalogRecord.Problem) {
        let columns = header.map { trimmed($0).lowercased() }
        cellCount = columns.count
        columnIndexes = Self.names.compactMapValues { names in
            names.lazy.compactMap { columns.firstIndex(of: $0) }.first
        }
        guard columnIndexes["title"] != nil else {
            throw .init("the header has no column “title”")
        }
    }

    /// - Throws: A problem with the number of its column, from 1. The record's own problems have such numbers, too.
    func record(_ cells: [String]) throws(CatalogRecord.Problem) -> CatalogRecord {
        guard cells.count == cellCount else {
            throw .init("\(cells.count) cells, but the header has \(cellCount) columns")
        }
        var members: [String: JSON] = [:]
        for (member, index) in columnIndexes {
            let cell = trimmed(cells[index])
            guard !Self.emptyCells.contains(cell.lowercased()) else { continue }
            members[member] = Self.value(cell, of: member)
        }
        do throws(CatalogRecord.Problem) {
            var record = try CatalogRecord(.object(members))
            record.problems = record.problems.map(located)
            return record
        } catch {
            throw located(error)
        }
    }

    private func located(_ problem: CatalogRecord.Problem) -> CatalogRecord.Problem {
        guard let index = problem.member.flatMap({ columnIndexes[$0] }) else { return problem }
        return .init("\(problem.message) (column \(index + 1))")
    }

    /// Spreadsheets and catalogs have several words for an empty cell.
    private static let emptyCells: Set = ["", "none", "nan", "null", "n/a", "[]"]

    /// Returns the value of a cell as a member of a record; nil if it has none.
    private static func value(_ cell: String, of member: String) -> JSON? {
        switch member {
        case "authors", "author":
            // Decoded before it is split, because character references have semicolons.
            let text = plainLine(cell) ?? ""
            let names = (list(cell) ?? separated(text)).filter { !isWikidataKey($0) }
            // A single text may have several names with commas between them.
            return names == [text] ? .string(text) : .array(names.map { .string($0) })
        case "genres":
            return .array((list(cell) ?? separated(plainLine(cell) ?? "")).map { .string($0) })
        case "isbn", "isbn13":
            return .array(cell.split(separator: ",").map { .string(padded(trimmed($0))) })
        case "publisher": return isWikidataKey(cell) ? nil : .string(cell)
        case "language":
            // Tables of ratings have `en-US` for books in English.
            let language = Languages.tag(cell).map { tag in String(tag.prefix { $0 != "-" }) }
            return .string(language ?? cell)
        case "pageCount", "ratingsCount": return .string(cell.filter { $0 != "," })
        case "ids": return isWikidataKey(cell) ? .object(["wikidata": .string(cell)]) : nil
        default: return .string(cell)
        }
    }

    /// Returns the ISBN with the leading zeros that a spreadsheet has removed. An ISBN that was rounded cannot be restored.
    private static func padded(_ cell: String) -> String {
        let isNumber = cell.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "X" || $0 == "x") }
        guard isNumber, (6..<10).contains(cell.utf8.count) else { return cell }
        let padded = String(repeating: "0", count: 10 - cell.utf8.count) + cell
        // Other numbers, such as EAN-8, are reported as they are.
        return ISBN(padded) == nil ? cell : padded
    }

    private static func separated(_ cell: String) -> [String] {
        cell.split(separator: ";").map { trimmed($0) }.filter { !$0.isEmpty }
    }

    /// Parses a list in Python's syntax, such as `['Coelho, Paulo', 'Clarke, Alan']`. Nil for another text.
    private static func list(_ cell: String) -> [String]? {
        guard cell.hasPrefix("[") else { return nil }
        var items: [String] = []
        var rest = cell.dropFirst()
        while let quote = rest.firstIndex(where: { $0 == "'" || $0 == "\"" }) {
            rest = rest[rest.index(after: quote)...]
            guard let end = rest.firstIndex(of: cell[quote]) else { break }
            let item = trimmed(rest[..<end])
            if !item.isEmpty { items.append(item) }
            rest = rest[rest.index(after: end)...]
        }
        return items
    }

    /// Whether the text is a key of Wikidata, such as `Q6882`, instead of a name.
    private static func isWikidataKey(_ text: String) -> Bool {
        text.first == "Q" && text.count > 1
            && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
}

private func trimmed(_ text: some StringProtocol) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
}
