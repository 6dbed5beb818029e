import BookSources

/// A record of the tab-separated file that LibraryThing exports. `LibraryThingFile` turns the JSON file into such records.
enum LibraryThingRecord: TableFormat {
    static let needed = ["Title", "Primary Author"]
    static let redundant = ["Sort Character", "Summary", "ISBNs"]

    /// The collections that LibraryThing itself has, by their names in lower case. They are not shelves.
    /// The value is nil for a collection that does not imply a status.
    private static let collections: [String: ReadingStatus?] = [
        "your library": nil, "to read": .wantToRead, "wishlist": .wantToRead,
        "currently reading": .reading, "read but unowned": .read,
    ]

    static func book(_ fields: ImportFields) throws(ImportProblem) -> ImportedBook {
        let others = names(
            fields.raw("Secondary Author"),
            fields.raw("Secondary Author Roles") + fields.raw("Secondary Author Role"))
        let role = fields.raw("Primary Author Role")
        var book = try fields.book(
            authors: "Primary Author",
            as: { BookAuthors(names($0, role) + others) }, key: fields.raw("Book Id").trimmed,
            of: "librarything")
        book.separateSeries(fields)
        book.isbn = fields.isbn("ISBN", "ISBNs")
        let publication = fields.raw("Publication")
        let publisher = publication[
            ..<(publication.firstIndex { "(,".contains($0) } ?? publication.endIndex)]
        book.publisher = fields.short(
            String(publisher), "Publication", max: BookFacts.publisherCharactersMax)
        book.publishedDate = fields.date("Date")?.text
        book.pageCount = fields.count("Page Count")
        book.binding = fields.text("Media", max: ImportedBook.bindingCharactersMax)
        book.language = fields.language("Languages")
        let comments = [fields.notes("Comment"), fields.notes("Private Comment")].compactMap { $0 }
        book.privateNotes = fields.short(
            comments.joined(separator: "\n\n"), "Private Comment",
            max: ImportedBook.notesCharactersMax)
        fields.setAdded("Entry Date", of: &book)
        // Books of other collections, such as the wishlist, have a number of copies, too.
        let collections = fields.names("Collections", max: Shelf.nameCharactersMax)
        let copies = fields.count("Copies")
        if collections.contains(where: { $0.lowercased() == "your library" }) {
            book.setCopies(count: copies)
        }
        fields.addReview(text: "Review", rating: "Rating", to: &book)
        book.reads = reads(fields)
        setStatus(of: &book, fields)
        book.finishReads()
        return book
    }

    private static func setStatus(of book: inout ImportedBook, _ fields: ImportFields) {
        let names = fields.names("Collections", max: Shelf.nameCharactersMax)
        let tags = fields.names("Tags", max: Shelf.nameCharactersMax)
        let known = names.compactMap { collections[$0.lowercased()] ?? nil }
        if book.reads.contains(where: { $0.outcome == .finished }) || known.contains(.read) {
            book.status = .read
        } else if !book.reads.isEmpty || known.contains(.reading) {
            book.status = .reading
        } else if known.contains(.wantToRead) || book.review == nil {
            book.status = .wantToRead
        } else {
            // A book with a rating or a review has been read.
            book.status = .read
        }
        for name in names where !collections.keys.contains(name.lowercased()) {
            book.shelves.append(name)
        }
        for name in tags
        where !book.shelves.contains(where: { $0.lowercased() == name.lowercased() }) {
            if book.shelves.count < BookCreation.shelvesMax { book.shelves.append(name) }
        }
    }

    /// Returns the readings. A book that was read several times has several dates in brackets: `[2007-04-16], [2011-01-02]`.
    private static func reads(_ fields: ImportFields) -> [ImportedRead] {
        let started = fields.raw("Date Started").split(separator: ",")
        let read = fields.raw("Date Read").split(separator: ",")
        return (0..<min(ImportedRead.countMax, max(started.count, read.count))).compactMap {
            index in
            fields.read(
                from: index < started.count ? started[index] : "", "Date Started",
                to: index < read.count ? read[index] : "", "Date Read")
        }
    }

    /// Reads names with the family name first, and their roles. Both have `|` between them.
    private static func names(_ names: String, _ roles: String) -> [Contributor] {
        let roles = roles.split(separator: "|", omittingEmptySubsequences: false)
        return names.split(separator: "|").enumerated().map { index, name in
            let role = index < roles.count ? roles[index].trimmed : ""
            return Contributor(
                name: Contributor.givenNameFirst(name.trimmed),
                role: role.isEmpty ? .author : AuthorRole(words: role) ?? .contributor)
        }
    }
}
