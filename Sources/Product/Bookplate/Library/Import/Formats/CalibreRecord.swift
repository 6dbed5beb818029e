import BookSources
import Requests

/// A record of the CSV catalog that Calibre creates. Calibre does not know the status of a book: a book with a rating has been read.
enum CalibreRecord: TableFormat {
    static let needed = ["title", "authors"]
    static let distinctive = ["author_sort", "timestamp"]
    /// Besides repetitions, these are facts about the files of a book.
    static let redundant = [
        "author_sort", "title_sort", "id", "cover", "size", "library_name", "ondevice",
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        var book = try fields.book(
            title: "title", authors: "authors",
            as: { text in
                text.contains(" & ")
                    ? BookAuthors(
                        text.split(separator: " & ").map { Contributor(labeled: String($0)) })
                    : BookAuthors(Contributor.list(text))
            }, key: fields.raw("uuid").trimmed, of: "calibre")
        book.isbn = fields.isbn("isbn")
        for part in fields.raw("identifiers").split(separator: ",") {
            let (name, value) = (
                part.prefix { $0 != ":" }.trimmed, part.drop { $0 != ":" }.dropFirst()
            )
            if name == "goodreads", !value.isEmpty,
                value.utf8.allSatisfy({ $0.isASCIIDigit })
            {
                book.goodreadsID = String(value)
            } else if name == "isbn", book.isbn == nil,
                case .success(let isbn) = ISBN.read(String(value))
            {
                book.isbn = isbn
            }
        }
        let position = ImportedSeries.position(fields.raw("series_index"))
        book.series = fields.text("series", max: ImportedSeries.nameCharactersMax).map {
            ImportedSeries(name: $0, position: position)
        }
        book.description = fields.paragraphs("comments", max: BookFacts.descriptionCharactersMax)
        book.publisher = fields.text("publisher", max: BookFacts.publisherCharactersMax)
        book.publishedDate = publishedDate(fields)
        book.language = fields.language("languages")
        book.binding = fields.text("formats", max: ImportedBook.bindingCharactersMax)
        fields.setAdded("timestamp", of: &book)
        book.shelves = fields.names("tags", max: Shelf.nameCharactersMax)
        fields.addReview(text: "", rating: "rating", to: &book)
        if book.review != nil { book.status = .read }
        return book
    }

    /// Calibre writes the year 101 if it does not know the date.
    private static func publishedDate(_ fields: ImportFields) -> String? {
        fields.raw("pubdate").hasPrefix("0101-01-0") ? nil : fields.date("pubdate")?.text
    }
}
