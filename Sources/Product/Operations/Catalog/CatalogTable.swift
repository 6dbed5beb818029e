import BookSources
import Bookplate

/// The columns of a catalog file with comma-separated values, recognized by their usual names.
struct CatalogTable {
    private let columnIndexes: [String: Int]
    private let cellCount: Int

    /// The possible names of the columns for each field, the preferred name first.
    private static let names: [String: [String]] = [
        "title": ["title", "book", "original_title"],
        "subtitle": ["subtitle"], "series": ["series"], "series_position": ["series_position"],
        "authors": ["authors"], "author": ["author"],
        "isbn13": ["isbn13", "isbn_13"], "isbn": ["isbn", "isbn10", "isbn_10"],
        "publisher": ["publisher"],
        "date": [
            "published_date", "publisheddate", "published_year", "publish_date", "date_published",
            "publication_date", "original_publication_year", "inception",
        ],
        "language": ["language", "language_code"],
        "pages": ["page_count", "pagecount", "num_pages", "# num_pages", "pages"],
        "genres": ["genres", "categories"], "description": ["description"],
        "rating": ["average_rating", "avg_rating", "rating"],
        "ratings": ["ratings_count", "num_ratings", "voters"],
        "goodreads": ["goodreads_book_id", "bookid"], "id": ["id"],
        "goodreads_work": ["goodreads_work_id"],
        "open_library_work": ["open_library_work_id", "openlibrary_work_id", "work_key"],
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

    /// - Throws: A problem with the number of its column, from 1.
    func record(_ cells: [String]) throws(CatalogRecord.Problem) -> CatalogRecord {
        do throws(CatalogRecord.Problem) {
            return try read(cells)
        } catch {
            guard let index = error.member.flatMap({ columnIndexes[$0] }) else { throw error }
            throw .init("\(error.message) (column \(index + 1))")
        }
    }

    private func read(_ cells: [String]) throws(CatalogRecord.Problem) -> CatalogRecord {
        guard cells.count == cellCount else {
            throw .init("\(cells.count) cells, but the header has \(cellCount) columns")
        }
        // Spreadsheets and catalogs have several words for an empty cell.
        func cell(_ name: String) -> String? {
            guard let index = columnIndexes[name] else { return nil }
            let text = trimmed(cells[index])
            return ["", "none", "nan", "null", "n/a", "[]"].contains(text.lowercased()) ? nil : text
        }
        /// A text of one line without markup.
        func line(_ name: String) -> String? { cell(name).flatMap(plainLine) }
        guard let title = line("title") else { throw .init("title is missing", member: "title") }
        var record = try CatalogRecord(title: title)
        record.subtitle = try CatalogRecord.text(line("subtitle"), "subtitle")
        record.series = try CatalogRecord.text(line("series"), "series")
        record.seriesPosition = try CatalogRecord.text(cell("series_position"), "series_position")
        record.authors = Array(
            (line("authors").map(Self.authors) ?? line("author").map(Self.names) ?? [])
                .filter { !Self.isWikidataKey($0) }.prefix(CatalogRecord.authorsMax)
                .map { Contributor(labeled: $0) })
        record.isbn = try Self.isbn(
            ["isbn13", "isbn"].compactMap { name in cell(name).map { (name, $0) } })
        record.publisher = try CatalogRecord.text(
            line("publisher").flatMap { Self.isWikidataKey($0) ? nil : $0 }, "publisher")
        record.publishedDate = cell("date").flatMap(publishedDate)
        record.language = cell("language").flatMap(Self.language)
        record.pageCount = cell("pages").flatMap { Double($0) }
            .flatMap { Int32(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
        let subjects = line("genres").map(Self.names) ?? []
        for subject in subjects.prefix(EditionFacts.genresMax)
        where !record.subjects.contains(subject) { record.subjects.append(subject) }
        record.description = try CatalogRecord.text(
            cell("description").map { plainText(ofHTML: $0, isCatalog: true) }, "description",
            max: CatalogRecord.descriptionCharactersMax)
        record.averageRating = cell("rating").flatMap { Double($0) }
            .flatMap { (0...5).contains($0) ? $0 : nil }
        record.ratingsCount =
            cell("ratings").flatMap { Double($0.filter { $0 != "," }) }
            .flatMap { Int32(exactly: $0.rounded()) }.map { max(0, $0) } ?? 0
        if let key = cell("goodreads"), Int(key) != nil {
            record.sources.append(("goodreads", key))
        }
        if let key = cell("id"), Self.isWikidataKey(key) {
            record.sources.append(("wikidata", key))
            record.addWorkKey("wikidata", key)
        }
        if let key = cell("goodreads_work"), Int(key) != nil {
            record.addWorkKey("goodreads", key)
        }
        if let key = cell("open_library_work") { record.addWorkKey("open_library", key) }
        return record
    }

    /// Returns the first ISBN in the cells.
    ///
    /// Spreadsheets remove leading zeros, which this function restores. They also round long numbers, which cannot be
    /// restored.
    ///
    /// - Throws: If there are numbers but none is a valid ISBN.
    private static func isbn(
        _ cells: [(name: String, text: String)]
    ) throws(CatalogRecord.Problem) -> ISBN? {
        var problem: CatalogRecord.Problem?
        // The cell of a work may list the ISBNs of its editions.
        for (name, cell) in cells.flatMap({ cell in
            cell.text.split(separator: ",").map { (cell.name, trimmed($0)) }
        }) {
            let digits = cell.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "X" || $0 == "x") }
            let padded =
                digits && (6..<10).contains(cell.utf8.count)
                ? String(repeating: "0", count: 10 - cell.utf8.count) + cell : cell
            switch ISBN.read(padded) {
            case .success(let isbn): return isbn
            case .failure(let failure):
                problem =
                    problem
                    ?? .init("ISBN \(cell.prefix(40)): \(failure.message)", member: name)
            }
        }
        if let problem { throw problem }
        return nil
    }

    /// Parses names such as `['Coelho, Paulo', 'Clarke, Alan']`, `Charles Osborne;Agatha Christie`, or
    /// `J.K. Rowling, Mary GrandPré`.
    private static func authors(_ cell: String) -> [String] {
        if cell.hasPrefix("[") {
            return list(cell).map(Contributor.givenNameFirst)
        }
        let separator: Character = cell.contains(";") ? ";" : ","
        return cell.split(separator: separator).map { trimmed($0) }.filter { !$0.isEmpty }
    }

    /// Parses a list, names separated by semicolons, or one name.
    private static func names(_ cell: String) -> [String] {
        if cell.hasPrefix("[") { return list(cell) }
        return cell.split(separator: ";").map { trimmed($0) }.filter { !$0.isEmpty }
    }

    /// Parses a list in Python's syntax.
    private static func list(_ cell: String) -> [String] {
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

    /// Returns `en` for `eng`, `English`, and `en-US`; nil if the text is not a language.
    private static func language(_ text: String) -> String? {
        Languages.tag(text).map { tag in String(tag.prefix { $0 != "-" }) }
    }
}

private func trimmed(_ text: some StringProtocol) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
}
