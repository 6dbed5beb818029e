import Basics
import BookSources

/// The cells of one CSV record, accessed by the column names of the header.
struct ImportFields {
    /// The reason why a record is skipped, as a sentence.
    struct Problem: Error, Equatable {
        let message: String

        init(_ message: String) { self.message = message }
    }

    private let columns: [String: Int]
    private let fields: [String]

    /// The maximum length of a cell with the names of authors.
    static let authorsCharactersMax = 4000

    init(columns: [String: Int], fields: [String]) {
        self.columns = columns
        self.fields = fields
    }

    /// Returns the text of a cell without the apostrophe that Bookplate's export adds (see `GoodreadsTable.guarded`). It is
    /// empty if there is no such column.
    func raw(_ name: String) -> String {
        guard let index = columns[name], index < fields.count else { return "" }
        return GoodreadsTable.unguarded(fields[index])
    }

    /// Returns the trimmed text of a cell; nil if it is empty.
    ///
    /// - Throws: If the text has more than `max` characters. Texts are never shortened.
    func text(_ name: String, max: Int) throws(Problem) -> String? {
        try mappingError({ Problem($0.message) }) { () throws(BookplateError) in
            try TextInput.optional(raw(name), field: name, charactersMax: max)
        }
    }

    /// Returns a book with its title and authors.
    ///
    /// - Parameters:
    ///   - column: The name of the authors' column.
    ///   - readAuthors: Reads the authors in this column.
    ///   - key: The id that the source has given the book. If it is empty, the title and author identify the book.
    ///   - source: The name of the source, such as `goodreads`.
    /// - Throws: If the title is missing.
    func book(
        authors column: String, as readAuthors: (String) -> BookAuthors, key: String,
        of source: String
    ) throws(Problem) -> ImportedBook {
        guard let title = try text("Title", max: BookCreation.titleCharactersMax) else {
            throw Problem("The title is missing.")
        }
        let author = try text(column, max: Self.authorsCharactersMax)
        var book = ImportedBook(
            id: key.isEmpty
                ? .derived(from: "title", title.lowercased(), author?.lowercased() ?? "")
                : .derived(from: source, key),
            title: title)
        book.authors = readAuthors(author ?? "")
        return book
    }

    /// Adds the review to a book whose status is known. Ratings with quarters of a star are rounded, to at least one star.
    /// A book that has not been read loses its finishing date.
    func addReview(
        text column: String, rating ratingColumn: String, to book: inout ImportedBook
    ) throws(Problem) {
        if book.status != "READ" { book.finishedAt = nil }
        let text = plainText(ofHTML: raw(column))
        guard text.unicodeScalars.count <= Review.textCharactersMax else {
            throw Problem("\(column) may have at most \(Review.textCharactersMax) characters.")
        }
        let rating = raw(ratingColumn).trimmed
        guard let stars = rating.isEmpty ? 0 : Double(rating), (0...5).contains(stars) else {
            throw Problem("\(ratingColumn) is not between 0 and 5: \(rating.prefix(40))")
        }
        guard stars > 0 || !text.isEmpty else { return }
        book.review = ImportedReview(
            rating: stars > 0 ? max(1, Int(stars.rounded())) : nil,
            text: text.isEmpty ? nil : text)
        book.review?.createdAt = book.finishedAt ?? book.addedAt
    }

    /// Returns the first ISBN of some columns; nil if they have none. Numbers that are not ISBNs are ignored.
    ///
    /// A cell may have the form `="9780439023481"`, which keeps spreadsheets from turning the ISBN into a number.
    func isbn(_ names: String...) -> ISBN? {
        for name in names {
            var cell = raw(name)[...]
            if cell.hasPrefix("=\""), cell.hasSuffix("\""), cell.count > 3 {
                cell = cell.dropFirst(2).dropLast()
            }
            if !cell.isEmpty, case .success(let isbn) = ISBN.read(String(cell)) { return isbn }
        }
        return nil
    }

    /// Returns a positive number; nil for 0 and for anything else.
    func count(_ name: String) -> Int32? {
        Int32(raw(name).trimmed).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Reads a date such as `2021/03/14` or `2021-03-14` as midnight UTC; nil if the cell is empty.
    func day(_ name: String) throws(Problem) -> Instant? {
        try Self.day(raw(name), of: name)
    }

    static func day(_ text: some StringProtocol, of name: String) throws(Problem) -> Instant? {
        let text = String(text).trimmed
        if text.isEmpty { return nil }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "-" }
        func twoDigits(_ part: Substring) -> String {
            part.count == 1 ? "0\(part)" : String(part)
        }
        guard parts.count == 3, parts[0].count == 4,
            let instant = Instant(
                "\(parts[0])-\(twoDigits(parts[1]))-\(twoDigits(parts[2]))T00:00:00Z")
        else { throw Problem("\(name) is not a date like 2021/03/14: \(text.prefix(40))") }
        return instant
    }

    /// Returns the names of a comma-separated list. Names that differ only in case are the same name.
    func names(_ name: String, max: Int, except excluded: Set<String> = []) throws(Problem)
        -> [String]
    {
        var names: [String] = []
        var known = excluded
        for part in raw(name).split(separator: ",") {
            let text = try mappingError({ _ in
                Problem("A name in \(name) may have at most \(max) characters.")
            }) { () throws(BookplateError) in
                try TextInput.optional(String(part), field: name, charactersMax: max)
            }
            if let text, known.insert(text.lowercased()).inserted { names.append(text) }
        }
        guard names.count <= BookCreation.shelvesMax else {
            throw Problem("\(name) has more than \(BookCreation.shelvesMax) names.")
        }
        return names
    }
}

extension String {
    /// The text without leading and trailing whitespace.
    var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
