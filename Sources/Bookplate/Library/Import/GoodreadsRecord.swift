import Postgres

/// A record of the file that Goodreads exports, and that many others write too.
enum GoodreadsRecord {
    static let columns = ["Title", "Author", "Exclusive Shelf"]

    /// Goodreads has three statuses; the others are what readers call the exclusive shelves they add.
    private static let statuses = [
        "to-read": "WANT_TO_READ", "currently-reading": "READING", "read": "READ",
        "did-not-finish": "DID_NOT_FINISH", "dnf": "DID_NOT_FINISH", "abandoned": "DID_NOT_FINISH",
        "paused": "PAUSED", "on-hold": "PAUSED", "on-pause": "PAUSED",
    ]

    /// - Returns: the book, and what of it could not be kept.
    static func book(
        _ fields: ImportFields
    ) throws(ImportFields.Problem) -> (ImportedBook, problem: String?) {
        let key = fields.raw("Book Id").trimmed
        var book = try fields.book(author: "Author", key: key, of: "goodreads")
        // Our own export has our own ids.
        if let id = UUID(key) { book.id = id }
        book.isbn = fields.isbn("ISBN13", "ISBN")
        book.publisher = try fields.text("Publisher", max: 500)
        book.publishedDate = fields.count("Year Published").map { String($0) }
        book.pageCount = fields.count("Number of Pages")
        book.addedAt = try fields.day("Date Added")
        book.finishedAt = try fields.day("Date Read")
        let exclusive = fields.raw("Exclusive Shelf").trimmed.lowercased()
        book.shelves = try fields.names(
            "Bookshelves", max: Shelf.nameCharactersMax, except: Set(statuses.keys))
        if let status = statuses[exclusive] {
            book.status = status
        } else {
            // An exclusive shelf of the reader's own says nothing of how far the book is read.
            book.status = book.finishedAt == nil ? "WANT_TO_READ" : "READ"
            let shelf = try fields.text("Exclusive Shelf", max: Shelf.nameCharactersMax)
            if let shelf, !book.shelves.contains(where: { $0.lowercased() == exclusive }) {
                book.shelves.append(shelf)
            }
        }
        let problem = try fields.addReview(text: "My Review", rating: "My Rating", to: &book)
        return (book, problem)
    }
}

/// What a browser shows of a review: line breaks are kept, other tags go, character references are read.
func plainText(ofHTML html: String) -> String {
    var text = ""
    var rest = html[...]
    while let next = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
        text += rest[..<next]
        rest = rest[next...]
        if rest.first == "<", let end = rest.firstIndex(of: ">"), isTag(rest[..<end]) {
            let name = rest[..<end].dropFirst().lowercased()
            if name.hasPrefix("br") { text += "\n" }
            if name.hasPrefix("/p") || name.hasPrefix("/blockquote") { text += "\n\n" }
            rest = rest[rest.index(after: end)...]
        } else if rest.first == "&", let end = rest.prefix(10).firstIndex(of: ";"),
            let character = character(rest[rest.index(after: next)..<end])
        {
            text += character
            rest = rest[rest.index(after: end)...]
        } else {
            text.append(rest.removeFirst())
        }
    }
    return (text + rest).trimmed
}

/// `<` begins a tag only where a name follows; else somebody wrote "a < b".
private func isTag(_ text: Substring) -> Bool {
    guard let first = text.dropFirst().first else { return false }
    return first == "/" || first == "!" || (first.isASCII && first.isLetter)
}

private func character(_ reference: Substring) -> String? {
    switch reference {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    case "nbsp": return " "
    default:
        guard reference.first == "#" else { return nil }
        let digits = reference.dropFirst()
        let isHex = digits.first == "x" || digits.first == "X"
        return UInt32(isHex ? digits.dropFirst() : digits, radix: isHex ? 16 : 10)
            .flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }.map { String(Character($0)) }
    }
}
