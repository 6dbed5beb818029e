import BookSources
import Postgres

/// A record of a Goodreads export. Many other applications write the same format.
enum GoodreadsRecord {
    static let columns = ["Title", "Author", "Exclusive Shelf"]

    /// The statuses by the name of the exclusive shelf. Goodreads itself only has `to-read`, `currently-reading`, and `read`;
    /// the others are common names of shelves that readers add.
    private static let statuses = [
        "to-read": "WANT_TO_READ", "currently-reading": "READING", "read": "READ",
        "did-not-finish": "DID_NOT_FINISH", "dnf": "DID_NOT_FINISH", "abandoned": "DID_NOT_FINISH",
        "paused": "PAUSED", "on-hold": "PAUSED", "on-pause": "PAUSED",
    ]

    static func book(_ fields: ImportFields) throws(ImportFields.Problem) -> ImportedBook {
        let key = fields.raw("Book Id").trimmed
        // Bookplate's export adds the roles of translators and others in parentheses.
        let others = try fields.text("Additional Authors", max: ImportFields.authorsCharactersMax)
        var book = try fields.book(
            authors: "Author",
            as: { BookAuthors([Contributor(labeled: $0)] + Contributor.list(others ?? "")) },
            key: key, of: "goodreads")
        // Bookplate's own export has Bookplate's ids.
        if let id = UUID(key) {
            book.id = id
        } else if !key.isEmpty, key.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            book.goodreadsID = key
        }
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
            // The reader's own exclusive shelf does not show the status, but a book with a finishing date has been read.
            book.status = book.finishedAt == nil ? "WANT_TO_READ" : "READ"
            let shelf = try fields.text("Exclusive Shelf", max: Shelf.nameCharactersMax)
            if let shelf, !book.shelves.contains(where: { $0.lowercased() == exclusive }) {
                book.shelves.append(shelf)
            }
        }
        try fields.addReview(text: "My Review", rating: "My Rating", to: &book)
        return book
    }
}

/// Returns the text that a browser would show: line breaks are kept, other tags are removed, and character references are
/// decoded.
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

/// Returns whether the text begins with a tag. A `<` without a name after it is text, as in "a < b".
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
