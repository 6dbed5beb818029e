import Basics
import BookSources
import Requests

/// A record of a Goodreads export, or of the `goodreads_library_export.csv` of Bookplate's own export.
enum GoodreadsRecord: TableFormat {
    static let needed = ["Title", "Author", "Exclusive Shelf"]
    static let redundant = ["Author l-f", "Bookshelves with positions", "ISBN"]

    /// The statuses by the name of the exclusive shelf. Goodreads itself only has `to-read`, `currently-reading`, and `read`;
    /// the others are common names of shelves that readers add.
    private static let statuses: [String: ReadingStatus] = [
        "to-read": .wantToRead, "currently-reading": .reading, "read": .read,
        "did-not-finish": .didNotFinish, "dnf": .didNotFinish, "abandoned": .didNotFinish,
        "paused": .paused, "on-hold": .paused, "on-pause": .paused,
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        let key = fields.raw("Book Id").trimmed
        // Bookplate's export adds the roles of translators and others in parentheses.
        let others = fields.text("Additional Authors", max: ImportFields.authorsCharactersMax)
        var book = try fields.book(
            authors: "Author",
            as: { BookAuthors([Contributor(labeled: $0)] + Contributor.list(others ?? "")) },
            key: key, of: "goodreads")
        // Bookplate's own export has Bookplate's ids.
        if let id = UUID(key) {
            book.id = id
            book.isIdentified = true
        } else if !key.isEmpty, key.utf8.allSatisfy({ $0.isASCIIDigit }) {
            book.goodreadsID = key
        }
        book.separateSeries(fields)
        book.isbn = fields.isbn("ISBN13", "ISBN")
        book.publisher = fields.text("Publisher", max: BookFacts.publisherCharactersMax)
        book.publishedDate = fields.year("Year Published").map { String($0) }
        book.originalYear = fields.year("Original Publication Year")
        book.pageCount = fields.count("Number of Pages")
        book.binding = fields.text("Binding", max: ImportedBook.bindingCharactersMax)
        book.privateNotes = fields.notes("Private Notes")
        book.setCopies(count: fields.count("Owned Copies"))
        fields.setAdded("Date Added", of: &book)
        let read = fields.pastDate(fields.raw("Date Read"), of: "Date Read")
        setStatus(of: &book, fields, isRead: read != nil)
        if let read { book.reads = [.init(finishedOn: read, outcome: .finished)] }
        book.finishReads(count: fields.count("Read Count", max: ImportedRead.countMax))
        fields.addReview(text: "My Review", rating: "My Rating", to: &book)
        book.review?.hasSpoilers = fields.flag("Spoiler")
        return book
    }

    private static func setStatus(
        of book: inout ImportedBook, _ fields: ImportFields, isRead: Bool
    ) {
        let exclusive = fields.raw("Exclusive Shelf").trimmed.lowercased()
        book.shelves = fields.names(
            "Bookshelves", max: Shelf.nameCharactersMax, except: Set(statuses.keys))
        if let status = statuses[exclusive] {
            book.status = status
            return
        }
        // The reader's own exclusive shelf does not show the status, but a book with a finishing date has been read.
        book.status = isRead ? .read : .wantToRead
        let shelf = fields.text("Exclusive Shelf", max: Shelf.nameCharactersMax)
        if let shelf, !book.shelves.contains(where: { $0.lowercased() == exclusive }) {
            book.shelves.append(shelf)
        }
    }
}
