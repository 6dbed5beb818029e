import BookSources

/// A record of an export of The StoryGraph.
enum StoryGraphRecord: TableFormat {
    static let needed = ["Title", "Authors", "Read Status", "Star Rating"]

    private static let statuses: [String: ReadingStatus] = [
        "to-read": .wantToRead, "currently-reading": .reading, "read": .read,
        "did-not-finish": .didNotFinish, "paused": .paused,
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        // Narrators and translators are in a column of their own, such as `Jim Dale (Narrator)`.
        let others = Contributor.list(
            fields.text("Contributors", max: ImportFields.authorsCharactersMax) ?? "")
        var book = try fields.book(
            authors: "Authors",
            as: { text in
                let others = others.map {
                    Contributor(name: $0.name, role: $0.role == .author ? .contributor : $0.role)
                }
                return BookAuthors(Contributor.list(text) + others)
            }, key: fields.raw("ISBN/UID").trimmed, of: "storygraph")
        book.separateSeries(fields)
        book.isbn = fields.isbn("ISBN/UID")
        book.binding = fields.text("Format", max: ImportedBook.bindingCharactersMax)
        book.moods = fields.moods("Moods")
        book.contentNotes = fields.contentNotes(
            "Content Warnings", "Content Warning Description")
        book.setCopies(count: fields.flag("Owned?") ? 1 : 0)
        fields.setAdded("Date Added", of: &book)
        book.reads = reads(fields)
        let status = fields.raw("Read Status").trimmed.lowercased()
        if let known = statuses[status] {
            book.status = known
        } else {
            fields.report("Read Status", "“\(status.prefix(40))” is unknown. It was left out.")
            book.status = book.reads.isEmpty ? .wantToRead : .read
        }
        book.finishReads(count: fields.count("Read Count", max: ImportedRead.countMax))
        book.shelves = fields.names("Tags", max: Shelf.nameCharactersMax)
        fields.addReview(text: "Review", rating: "Star Rating", to: &book)
        return book
    }

    /// Returns a reading for each part of `Dates Read`, such as `2022/02/01-2022/02/11, 2023/05/01`. If the record has no such
    /// dates, the book was read on `Last Date Read`.
    private static func reads(_ fields: ImportFields) -> [ImportedRead] {
        let name = "Dates Read"
        let last = fields.raw("Last Date Read")
        let parts = fields.raw(name).split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
        guard !parts.isEmpty else {
            return fields.pastDate(last, of: "Last Date Read").map {
                [.init(finishedOn: $0, outcome: .finished)]
            } ?? []
        }
        return parts.prefix(ImportedRead.countMax).compactMap { part in
            // Dates with hyphens have spaces around the hyphen between them.
            let days =
                part.contains(" - ")
                ? part.split(separator: " - ", omittingEmptySubsequences: false)
                : part.split(separator: "-", omittingEmptySubsequences: false)
            guard days.count == 2 else {
                let day = fields.pastDate(part, of: name)
                return day.map { .init(finishedOn: $0, outcome: .finished) }
            }
            return fields.read(from: days[0], to: days[1], of: name)
        }
    }
}
