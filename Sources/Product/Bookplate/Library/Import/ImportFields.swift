import Basics
import BookSources
import Identity
import Postgres
import Requests

/// A problem of a record, with the field that was left out because of it.
package struct ImportProblem: Error, Equatable {
    /// The name of the column or of the JSON member; nil if the record was not imported at all.
    package let field: String?
    /// Sentences that say what is wrong and what was done.
    package let message: String

    package init(field: String? = nil, _ message: String) {
        self.field = field
        self.message = message
    }
}

/// The columns of a file: which of them the format reads, and which of them contain anything.
final class ImportColumns {
    /// The normalized names of the columns that the format reads.
    private var read: Set<String> = []
    /// The names as the file has them, by their normalized names, of the columns that contain something.
    private var filled: [String: String] = [:]
    private var order: [String] = []

    /// The names that columns have in common if they differ only in case, spaces, hyphens, and underscores.
    static func normalized(_ name: some StringProtocol) -> String {
        String(name.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" })
    }

    fileprivate func markRead(_ normalized: String) { read.insert(normalized) }

    /// Records the cells of a record.
    func fill(_ names: [String], _ cells: [String]) {
        for (name, cell) in zip(names, cells) where Self.hasValue(cell) {
            let key = Self.normalized(name)
            if filled.updateValue(name, forKey: key) == nil { order.append(key) }
        }
    }

    /// Whether the cell has a value other than those that exports write for a missing one.
    private static func hasValue(_ cell: String) -> Bool {
        guard cell.utf8.count <= 6 else { return true }
        return !["", "0", "0.0", "no", "false", "{}", "[]"].contains(cell.trimmed.lowercased())
    }

    /// The names of the columns with data that the format does not read.
    ///
    /// - Parameter redundant: The names of columns whose content is also in other columns.
    func ignored(except redundant: [String]) -> [String] {
        let known = read.union(redundant.map(Self.normalized))
        return order.filter { !known.contains($0) }.compactMap { filled[$0] }
    }
}

/// The cells of one record, accessed by the names of the columns. A cell that cannot be used is left out and reported in `problems`.
final class ImportFields {
    private let positions: [String: Int]
    private let cells: [String]
    private let columns: ImportColumns
    /// Whether days or months are first in the file's dates.
    private let dayOrder: DayOrder?
    private(set) var problems: [ImportProblem] = []

    /// The maximum length of a cell with the names of authors.
    static let authorsCharactersMax = 4000
    /// The maximum number of reported problems of a record.
    static let problemsMax = 20

    /// - Parameter positions: The positions of the cells by the normalized names of their columns.
    init(
        positions: [String: Int], cells: [String], columns: ImportColumns = ImportColumns(),
        dayOrder: DayOrder? = nil
    ) {
        self.positions = positions
        self.cells = cells
        self.columns = columns
        self.dayOrder = dayOrder
    }

    /// Reports a field that was left out.
    func report(_ field: String, _ message: String) {
        if problems.count < Self.problemsMax { problems.append(.init(field: field, message)) }
    }

    /// Returns the text of a cell without the apostrophe that Bookplate's export adds (see `GoodreadsTable.guarded`). It is
    /// empty if there is no such column.
    func raw(_ name: String) -> String {
        let name = ImportColumns.normalized(name)
        columns.markRead(name)
        guard let index = positions[name], index < cells.count else { return "" }
        return GoodreadsTable.unguarded(cells[index])
    }

    /// Returns the text of a cell as one line without markup; nil if it is empty or, with a report, if it has more than `max`
    /// characters. Texts are never shortened.
    func text(_ name: String, max: Int) -> String? {
        short(plainLine(raw(name)) ?? "", name, max: max)
    }

    /// Returns the text of a cell with its paragraphs and without markup, for descriptions that applications have from catalogs.
    func paragraphs(_ name: String, max: Int) -> String? {
        short(plainText(ofHTML: raw(name), isCatalog: true), name, max: max)
    }

    /// Returns the trimmed text; nil if it is empty or, with a report, if it has more than `max` characters.
    ///
    /// - Parameter name: The name of the field in the report.
    func short(_ text: String, _ name: String, max: Int) -> String? {
        do throws(BookplateError) {
            return try TextInput.optional(text, field: name, charactersMax: max)
        } catch {
            report(name, "\(error.message) It was left out.")
            return nil
        }
    }

    /// Returns a book with its title and authors.
    ///
    /// - Parameters:
    ///   - title: The name of the title's column.
    ///   - column: The name of the authors' column.
    ///   - readAuthors: Reads the authors in this column.
    ///   - key: The id that the source has given the book. If it is empty, the title and author identify the book.
    ///   - source: The name of the source, such as `goodreads`.
    /// - Throws: If there is no title, or if it is too long.
    func book(
        title titleColumn: String = "Title", authors column: String,
        as readAuthors: (String) -> BookAuthors, key: String, of source: String
    ) throws(ImportProblem) -> ImportedBook {
        let title: String?
        do throws(BookplateError) {
            title = try TextInput.optional(
                plainLine(raw(titleColumn)), field: titleColumn,
                charactersMax: BookCreation.titleCharactersMax)
        } catch {
            throw ImportProblem("\(error.message) The book was left out.")
        }
        guard let title else { throw ImportProblem("The title is missing. The book was left out.") }
        let author = text(column, max: Self.authorsCharactersMax)
        var book = ImportedBook(
            id: key.isEmpty
                ? .derived(from: "title", title.lowercased(), author?.lowercased() ?? "")
                : .derived(from: source, key),
            title: title)
        book.authors = readAuthors(author ?? "")
        return book
    }

    // MARK: - Values

    /// Returns the first ISBN of some columns; nil if they have none. Texts that do not look like an ISBN are ignored: the ids of
    /// electronic editions are in the same columns. A damaged ISBN, or the barcode of another product, is reported if there is no
    /// ISBN.
    ///
    /// A cell may have the form `="9780439023481"`, which keeps spreadsheets from turning the ISBN into a number, or `[9780439023481]`.
    func isbn(_ names: String...) -> ISBN? {
        var damaged: (name: String, message: String)?
        // All columns are read, so that none of them counts as unknown.
        let found = names.map { name -> ISBN? in
            for part in raw(name).split(separator: ",") {
                let digits = part.filter { !"=\"[]".contains($0) }.trimmed
                if digits.isEmpty { continue }
                switch ISBN.read(digits) {
                case .success(let isbn): return isbn
                case .failure(let problem):
                    let characters = digits.filter { $0 != "-" && $0 != " " }
                    let isNumber = characters.dropLast().allSatisfy { $0.isASCII && $0.isNumber }
                    let isMeant =
                        [10, 13].contains(characters.count) || problem == .ean8 || problem == .upc
                    if isNumber, isMeant, damaged == nil {
                        damaged = (name, "“\(digits)”: \(problem.message) It was left out.")
                    }
                }
            }
            return nil
        }
        let isbn = found.compactMap { $0 }.first
        if isbn == nil, let damaged { report(damaged.name, damaged.message) }
        return isbn
    }

    /// Returns a positive number; nil for 0 and for an empty cell. `320 p.`, `320.0`, and `1,024` are understood.
    func count(_ name: String, max: Int = Int(Int32.max)) -> Int32? {
        let text = raw(name).trimmed
        if text.isEmpty { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "," }
        let rest = text[digits.endIndex...].lowercased().filter { !$0.isWhitespace && $0 != "." }
        guard
            ["", "0", "00", "p", "pp", "pg", "pgs", "page", "pages", "s", "seiten"].contains(rest),
            let number = Int(digits.filter { $0 != "," }), (0...max).contains(number)
        else {
            report(name, "“\(text.prefix(40))” is not a number up to \(max). It was left out.")
            return nil
        }
        return number > 0 ? Int32(number) : nil
    }

    /// Returns a year from -5000 to 9999; nil for 0 and for an empty cell.
    func year(_ name: String) -> Int32? {
        let text = raw(name).trimmed
        if text.isEmpty || text == "0" { return nil }
        guard let year = Int32(text.prefix { $0 != "." }), (-5000...9999).contains(year) else {
            report(name, "“\(text.prefix(40))” is not a year. It was left out.")
            return nil
        }
        return year
    }

    /// Reads a date in one of the usual forms; nil if the cell is empty or, with a report, if it is not a date.
    func date(_ name: String) -> PartialDate? { date(raw(name), of: name) }

    func date(_ text: some StringProtocol, of name: String) -> PartialDate? {
        let text = String(text.filter { $0 != "[" && $0 != "]" }).trimmed
        if text.isEmpty { return nil }
        do throws(PartialDate.Problem) {
            let date = try PartialDate.read(text, order: dayOrder)
            if date.day == nil, PartialDate.hasDay(text) {
                report(name, "“\(text)” does not exist. The day was left out.")
            }
            return date
        } catch .ambiguous {
            report(
                name,
                "“\(text)” may be one of two days, and no other date of the file shows which. It was left out."
            )
        } catch {
            report(name, "“\(text.prefix(40))” is not a date like 2021-03-14. It was left out.")
        }
        return nil
    }

    /// Reads a day that cannot be in the future, such as that of a reading.
    func pastDate(_ text: some StringProtocol, of name: String) -> PartialDate? {
        guard let date = date(text, of: name) else { return nil }
        // A day later than today in UTC may have begun in the reader's time zone.
        guard let start = date.start, start.microseconds / 1_000_000 <= unixSecondsNow() + 86_400
        else {
            report(name, "“\(date.text)” is in the future. It was left out.")
            return nil
        }
        return date
    }

    /// Returns the time of a cell, or its day, which is a day of the reader.
    func time(_ name: String) -> (at: Instant?, on: String?) {
        let text = raw(name).trimmed
        if let instant = Instant(text.replacing(" ", with: "T")) { return (instant, nil) }
        let day = date(text, of: name).flatMap {
            PartialDate(year: $0.year, month: $0.month ?? 1, day: $0.day ?? 1)
        }
        return (nil, day?.text)
    }

    /// Sets when the reader has added the book.
    func setAdded(_ name: String, of book: inout ImportedBook) {
        (book.addedAt, book.addedOn) = time(name)
    }

    /// Returns the names of a list. Names that differ only in case are the same name.
    func names(
        _ name: String, separator: String = ",", max: Int, except excluded: Set<String> = []
    ) -> [String] {
        var names: [String] = []
        var known = excluded
        for part in raw(name).split(separator: separator) {
            if let text = short(String(part), name, max: max),
                known.insert(text.lowercased()).inserted
            {
                names.append(text)
            }
        }
        guard names.count <= BookCreation.shelvesMax else {
            report(
                name,
                "Only the first \(BookCreation.shelvesMax) of \(names.count) names were kept.")
            return Array(names.prefix(BookCreation.shelvesMax))
        }
        return names
    }

    /// Whether the cell contains a word for yes. An unknown word counts as no.
    func flag(_ name: String) -> Bool {
        ["true", "yes", "1", "y"].contains(raw(name).trimmed.lowercased())
    }

    // MARK: - Reviews

    /// Adds the review to a book. Ratings are rounded to quarter stars.
    func addReview(
        text column: String, rating ratingColumn: String, to book: inout ImportedBook
    ) {
        var text = plainText(ofHTML: raw(column))
        if text.unicodeScalars.count > Review.textCharactersMax {
            report(
                column,
                "\(column) may have at most \(Review.textCharactersMax) characters. It was left out."
            )
            text = ""
        }
        let quarterStars = quarterStars(ratingColumn)
        guard quarterStars != nil || !text.isEmpty else { return }
        book.review = ImportedReview(quarterStars: quarterStars, text: text.isEmpty ? nil : text)
    }

    private func quarterStars(_ name: String) -> Int? {
        let text = raw(name).trimmed.replacing(",", with: ".")
        if text.isEmpty { return nil }
        guard let stars = Double(text), (0...5).contains(stars) else {
            report(name, "“\(text.prefix(40))” is not between 0 and 5. It was left out.")
            return nil
        }
        return stars > 0 ? max(1, Int((4 * stars).rounded())) : nil
    }
}

extension StringProtocol {
    /// The text without leading and trailing whitespace.
    var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
