/// The cells of one record by the names of the header, read as what they stand for.
struct ImportFields {
    /// Why the record is passed over, as a sentence.
    struct Problem: Error, Equatable {
        let message: String

        init(_ message: String) { self.message = message }
    }

    private let columns: [String: Int]
    private let fields: [String]

    init(columns: [String: Int], fields: [String]) {
        self.columns = columns
        self.fields = fields
    }

    /// The cell, without what our own export guards it with; empty where there is no such column.
    func raw(_ name: String) -> String {
        guard let index = columns[name], index < fields.count else { return "" }
        return GoodreadsTable.unguarded(fields[index])
    }

    /// Trimmed; nil where it is empty.
    ///
    /// - Throws: above `max` characters: nothing is cut.
    func text(_ name: String, max: Int) throws(Problem) -> String? {
        do throws(BookplateError) {
            return try TextInput.optional(raw(name), field: name, charactersMax: max)
        } catch {
            throw Problem(error.message)
        }
    }

    /// A book with its title and author.
    ///
    /// - Parameter key: its id at that shop; empty where it has none, and its words are its name.
    /// - Throws: where the title is missing.
    func book(author column: String, key: String, of shop: String) throws(Problem) -> ImportedBook {
        guard let title = try text("Title", max: BookCreation.titleCharactersMax) else {
            throw Problem("The title is missing.")
        }
        let author = try text(column, max: BookCreation.authorCharactersMax)
        var book = ImportedBook(
            id: key.isEmpty
                ? .derived(from: "title", title.lowercased(), author?.lowercased() ?? "")
                : .derived(from: shop, key),
            title: title)
        book.author = author
        return book
    }

    /// Adds the review to a book whose status is known; one that is not read was not finished either. Quarters of a
    /// star become the nearest whole one, which is not less than one.
    ///
    /// - Returns: why there is none, where one was written.
    func addReview(
        text column: String, rating ratingColumn: String, to book: inout ImportedBook
    ) throws(Problem) -> String? {
        if book.status != "READ" { book.finishedAt = nil }
        let text = plainText(ofHTML: raw(column))
        guard text.unicodeScalars.count <= Review.textCharactersMax else {
            throw Problem("\(column) may have at most \(Review.textCharactersMax) characters.")
        }
        let rating = raw(ratingColumn).trimmed
        guard let stars = rating.isEmpty ? 0 : Double(rating), (0...5).contains(stars) else {
            throw Problem("\(ratingColumn) is not 0 to 5: \(rating.prefix(40))")
        }
        guard stars > 0 else {
            return text.isEmpty ? nil : "The review was left out, for it comes without a rating."
        }
        book.review = ImportedReview(
            rating: max(1, Int(stars.rounded())), text: text.isEmpty ? nil : text)
        book.review?.createdAt = book.finishedAt ?? book.addedAt
        return nil
    }

    /// An ISBN, be it written as `="9780439023481"` to keep spreadsheets from making it a number; nil where
    /// there is none, or another shop's number.
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

    /// A positive number; nil for anything else, as for 0.
    func count(_ name: String) -> Int32? {
        Int32(raw(name).trimmed).flatMap { $0 > 0 ? $0 : nil }
    }

    /// A day as `2021/03/14` or `2021-03-14`, at midnight UTC; nil where it is empty.
    func day(_ name: String) throws(Problem) -> Instant? {
        try Self.day(raw(name), of: name)
    }

    static func day(_ text: some StringProtocol, of name: String) throws(Problem) -> Instant? {
        let text = String(text).trimmed
        if text.isEmpty { return nil }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "-" }
        func two(_ part: Substring) -> String { part.count == 1 ? "0\(part)" : String(part) }
        guard parts.count == 3, parts[0].count == 4,
            let instant = Instant("\(parts[0])-\(two(parts[1]))-\(two(parts[2]))T00:00:00Z")
        else { throw Problem("\(name) is not a date like 2021/03/14: \(text.prefix(40))") }
        return instant
    }

    /// Names between commas, each once whatever its case.
    func names(_ name: String, max: Int, except excluded: Set<String> = []) throws(Problem)
        -> [String]
    {
        var names: [String] = []
        var known = excluded
        for part in raw(name).split(separator: ",") {
            let text: String?
            do throws(BookplateError) {
                text = try TextInput.optional(String(part), field: name, charactersMax: max)
            } catch {
                throw Problem("A name in \(name) may have at most \(max) characters.")
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
    /// Without white space around it.
    var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
