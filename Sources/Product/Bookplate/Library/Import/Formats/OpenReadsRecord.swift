import BookSources

/// A record of the CSV file that Openreads exports.
enum OpenReadsRecord: TableFormat {
    static let needed = ["title", "author", "status"]
    static let distinctive = ["olid"]
    static let redundant = ["date_modified"]

    private static let statuses: [String: ReadingStatus] = [
        "planned": .wantToRead, "in_progress": .reading, "finished": .read,
        "abandoned": .didNotFinish,
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        guard !fields.flag("deleted") else {
            throw ImportProblem("The book is in the trash of Openreads. It was left out.")
        }
        var book = try fields.book(
            title: "title", authors: "author",
            as: { BookAuthors(Contributor.authors($0)) },
            key: fields.raw("olid").trimmed, of: "openlibrary")
        book.subtitle = fields.text("subtitle", max: BookFacts.subtitleCharactersMax)
        book.description = fields.paragraphs("description", max: BookFacts.descriptionCharactersMax)
        book.isbn = fields.isbn("isbn")
        book.pageCount = fields.count("pages")
        book.publisher = fields.text("publisher", max: BookFacts.publisherCharactersMax)
        book.publishedDate = fields.year("publication_year").map { String($0) }
        book.binding = fields.text("book_format", max: ImportedBook.bindingCharactersMax)
        book.privateNotes = fields.notes("notes")
        fields.setAdded("date_added", of: &book)
        book.reads = reads(fields)
        let status = fields.raw("status").trimmed.lowercased()
        if let known = statuses[status] {
            book.status = known
        } else {
            fields.report("status", "“\(status.prefix(40))” is unknown. It was left out.")
        }
        book.finishReads()
        book.shelves = fields.names("tags", separator: "|||||", max: Shelf.nameCharactersMax)
        if fields.flag("favourite"),
            !book.shelves.contains(where: { $0.lowercased() == "favourites" })
        {
            book.shelves.append("Favourites")
        }
        fields.addReview(text: "my_review", rating: "rating", to: &book)
        return book
    }

    /// Returns the readings of a cell such as `2022-02-01T00:00:00.000|2022-02-11T00:00:00.000|3600000;…`: the start, the end,
    /// and the time spent. Older versions have columns for the dates of one reading.
    private static func reads(_ fields: ImportFields) -> [ImportedRead] {
        let older = fields.read(
            from: fields.raw("start_date"), "start_date", to: fields.raw("finish_date"),
            "finish_date")
        let readings = fields.raw("readings").split(separator: ";")
        if readings.isEmpty { return older.map { [$0] } ?? [] }
        return readings.prefix(ImportedRead.countMax).compactMap { reading in
            let parts = reading.split(separator: "|", omittingEmptySubsequences: false)
            guard parts.count >= 2 else {
                fields.report(
                    "readings", "“\(reading.prefix(40))” is not a reading. It was left out.")
                return nil
            }
            return fields.read(from: parts[0], to: parts[1], of: "readings")
        }
    }
}
