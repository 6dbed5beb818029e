import BookSources

/// A record of the CSV file that Hardcover exports.
enum HardcoverRecord: TableFormat {
    static let needed = ["Title", "Author", "Status"]
    static let distinctive = ["Hardcover Book ID"]
    static let redundant = ["Hardcover Edition ID", "ISBN 10", "Review Slate"]

    private static let statuses: [String: ReadingStatus] = [
        "want to read": .wantToRead, "currently reading": .reading, "read": .read,
        "paused": .paused, "did not finish": .didNotFinish, "stopped": .didNotFinish,
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        var book = try fields.book(
            authors: "Author",
            as: { text in
                // The names are in any order: `Helena Fraga (Translator), Dan Simmons`.
                let names = Contributor.list(text)
                return BookAuthors(
                    names.filter { $0.role == .author } + names.filter { $0.role != .author })
            }, key: fields.raw("Hardcover Book ID").trimmed, of: "hardcover")
        let series = ImportedSeries.numbered(fields.raw("Series"))
        book.series = series.first
        fields.report("Series", leftOut: series.dropFirst())
        if series.isEmpty,
            let name = fields.text("Series", max: ImportedSeries.nameCharactersMax)
        {
            book.series = ImportedSeries(name: name, position: nil)
        }
        book.isbn = fields.isbn("ISBN 13", "ISBN 10")
        let media = fields.text("Media", max: ImportedBook.bindingCharactersMax)
        book.binding = fields.text("Binding", max: ImportedBook.bindingCharactersMax) ?? media
        book.language = fields.language("Language Code")
        book.pageCount = fields.count("Pages")
        book.publishedDate = fields.date("Publish Date")?.text
        book.publisher = fields.text("Publisher", max: BookFacts.publisherCharactersMax)
        let genres = fields.names("Genres", max: BookCreation.labelCharactersMax)
        book.genre = genres.first
        if genres.count > 1 {
            fields.report(
                "Genres",
                "A book has one genre: “\(genres.dropFirst().joined(separator: ", ").prefix(200))” was left out."
            )
        }
        book.moods = fields.moods("Moods")
        book.setCopies(count: fields.flag("Owned") ? 1 : 0)
        book.privateNotes = fields.notes("Private Notes")
        book.contentNotes = fields.contentNotes("Content Warnings")
        fields.setAdded("Date Added", of: &book)
        setStatus(of: &book, fields)
        // A list in which the book has a number is written as `To discuss (#19)`.
        book.shelves = fields.names("Tags", max: Shelf.nameCharactersMax)
        for list in fields.names("Lists", max: Shelf.nameCharactersMax) {
            let name = withoutNumber(list)
            if !book.shelves.contains(where: { $0.lowercased() == name.lowercased() }) {
                book.shelves.append(name)
            }
        }
        fields.addReview(text: "Review", rating: "Rating", to: &book)
        book.review?.hasSpoilers = fields.flag("Review Contains Spoilers")
        let reviewed = fields.time("Review Date")
        book.review?.createdAt = reviewed.at
        book.review?.createdOn = reviewed.on
        return book
    }

    private static func setStatus(of book: inout ImportedBook, _ fields: ImportFields) {
        let read = fields.read(
            from: fields.raw("Date Started"), "Date Started", to: fields.raw("Date Finished"),
            "Date Finished")
        let status = fields.raw("Status").trimmed
        if let known = statuses[status.lowercased()] {
            book.status = known
        } else {
            fields.report("Status", "“\(status.prefix(40))” is unknown. It was left out.")
            book.status = read?.finishedOn == nil ? .wantToRead : .read
        }
        book.reads = read.map { [$0] } ?? []
        let length = "Duration in Seconds"
        book.lengthSeconds = fields.count(length)
        book.finishReads()
        // A read book without dates gets its reads later.
        if let seconds = book.lengthSeconds,
            book.format != .audio || book.reads.isEmpty && book.readCount == 0
        {
            fields.report(
                length,
                "“\(seconds)” is the length of a read of an audiobook, which the record does not have. It was left out."
            )
        }
    }

    private static func withoutNumber(_ list: String) -> String {
        guard list.last == ")", let open = list.lastRange(of: " (#") else { return list }
        return list[..<open.lowerBound].trimmed
    }
}

extension StringProtocol {
    fileprivate func lastRange(of text: String) -> Range<Index>? { ranges(of: text).last }
}
