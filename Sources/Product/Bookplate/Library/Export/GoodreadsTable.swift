import BookSources
import Requests

/// Writes books in the format of a Goodreads export, which many other applications can import.
enum GoodreadsTable {
    /// The line with the names of the columns.
    static let header = bytes([
        "Book Id", "Title", "Author", "Author l-f", "Additional Authors", "ISBN", "ISBN13",
        "My Rating", "Average Rating", "Publisher", "Binding", "Number of Pages",
        "Year Published", "Original Publication Year", "Date Read", "Date Added", "Bookshelves",
        "Bookshelves with positions", "Exclusive Shelf", "My Review", "Spoiler", "Private Notes",
        "Read Count", "Owned Copies",
    ])

    /// Returns the line of a book, with a line feed at its end.
    static func line(_ book: ExportedBook) -> [UInt8] {
        let shelves = book.shelves
        let exclusive = exclusiveShelf(of: book.status)
        let author = book.authors.first
        // Goodreads separates the names with commas.
        let others = book.authors.dropFirst().map {
            labeled(Contributor(name: Contributor.givenNameFirst($0.name), role: $0.role))
        }
        return bytes([
            book.id.description, line(title(book)), line(author.map(labeled)),
            guarded(lastFirst(author?.name ?? "")), line(others.joined(separator: ", ")),
            // The same notation as in a Goodreads export. It keeps spreadsheets from removing leading zeros, and is safe
            // without `guarded` because an ISBN has only digits and X.
            "=\"\(book.isbn?.isbn10 ?? "")\"", "=\"\(book.isbn?.description ?? "")\"",
            "\(book.review?.rating ?? 0)", "", line(book.publisher),
            line(book.binding), book.pageCount.map { "\($0)" } ?? "",
            year(book.publishedDate), book.originalYear.map { "\($0)" } ?? "",
            dateRead(book), book.addedOn,
            guarded(([exclusive].filter { $0 != "read" } + shelves).joined(separator: ", ")),
            guarded(
                shelves.enumerated().map { "\($1) (#\($0 + 1))" }.joined(separator: ", ")),
            exclusive, guarded(html(ofText: book.review?.text ?? "")),
            book.review?.hasSpoilers == true ? "true" : "",
            guarded(html(ofText: book.privateNotes ?? "")), "\(readCount(book))",
            "\(book.copies.count)",
        ])
    }

    /// Returns the title with the series as Goodreads writes it: `The Hunger Games (The Hunger Games, #1)`.
    private static func title(_ book: ExportedBook) -> String {
        guard let series = book.series, let position = book.seriesPosition else {
            return book.title
        }
        return "\(book.title) (\(series), #\(position))"
    }

    /// Returns the last day of the latest finished read. Other applications need the whole date.
    private static func dateRead(_ book: ExportedBook) -> String {
        let days = book.reads.filter { $0["outcome"]?.string == ReadOutcome.finished.rawValue }
            .compactMap { $0["finishedOn"]?.string }
        guard let last = days.last, last.utf8.count == 10 else { return "" }
        return last.replacing("-", with: "/")
    }

    private static func readCount(_ book: ExportedBook) -> Int {
        max(
            book.reads.count { $0["outcome"]?.string == ReadOutcome.finished.rawValue },
            book.status == ReadingStatus.read.rawValue ? 1 : 0)
    }

    /// Returns `Jay Rubin (Translator)` for a translator, and only the name for an author.
    private static func labeled(_ author: Contributor) -> String {
        let role = author.role.rawValue
        return author.role == .author
            ? author.name : "\(author.name) (\(role.prefix(1))\(role.dropFirst().lowercased()))"
    }

    /// Returns a line of comma-separated values. Fields with commas, quotes, or line breaks are quoted.
    private static func bytes(_ fields: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            guard field.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else {
                bytes += field.utf8
                continue
            }
            bytes.append(UInt8(ascii: "\""))
            for byte in field.utf8 {
                if byte == UInt8(ascii: "\"") { bytes.append(byte) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        return bytes + [UInt8(ascii: "\n")]
    }

    /// Returns the text with an apostrophe before it if a spreadsheet would run it as a formula.
    ///
    /// https://owasp.org/www-community/attacks/CSV_Injection
    static func guarded(_ text: String) -> String {
        needsGuard(text[...]) ? "'" + text : text
    }

    /// Returns the text that `guarded` was called with.
    static func unguarded(_ text: String) -> String {
        text.first == "'" && needsGuard(text.dropFirst()) ? String(text.dropFirst()) : text
    }

    private static func needsGuard(_ text: Substring) -> Bool {
        // Leading apostrophes are skipped: such a text gets another one, so that `unguarded` restores it.
        guard let first = text.drop(while: { $0 == "'" }).unicodeScalars.first else { return false }
        return "=+-@\t\r\n＝＋－＠".unicodeScalars.contains(first)
    }

    private static func exclusiveShelf(of status: String) -> String {
        switch ReadingStatus(rawValue: status) {
        case .read: "read"
        case .reading: "currently-reading"
        case .paused: "paused"
        case .didNotFinish: "did-not-finish"
        case .wantToRead, nil: "to-read"
        }
    }

    /// Returns `Collins, Suzanne` for `Suzanne Collins`.
    private static func lastFirst(_ name: String) -> String {
        guard let space = name.lastIndex(of: " "), !name.contains(",") else { return name }
        return "\(name[name.index(after: space)...]), \(name[..<space])"
    }

    private static func year(_ date: String?) -> String {
        guard let year = date?.prefix(4), year.count == 4, year.allSatisfy(\.isNumber) else {
            return ""
        }
        return String(year)
    }

    /// Returns a text of one line so that an import reads it unchanged. Only a text that looks like HTML is escaped, because other
    /// applications show the text as it is.
    private static func line(_ text: String?) -> String {
        guard let text else { return "" }
        return guarded(plainLine(text) == text ? text : html(ofText: text))
    }
}
