import Basics
import BookSources
import GraphQL
import Identity
import Postgres
import Requests

/// The file `library.json` of Bookplate's own export, which has all data of a library except its covers.
package struct BookplateFile {
    static let name = "bookplate library"

    private let items: JSONItems

    /// - Throws: If this is not such a file.
    init(_ items: JSONItems) throws(ImportProblem) {
        guard let format = items["format"], let version = items["version"],
            try items.value(format).string == Self.name, try items.value(version).int == 1
        else { throw ImportProblem("This file is not a library that Bookplate has exported.") }
        self.items = items
    }

    /// The records of all lists. A record comes after those that it refers to: the profile, shelves, books, progress,
    /// notes, the documents and positions of e-readers, and swipes. The `line` of a record is its position in the lists,
    /// from 1. The profile is not in a list, so it has the line 0.
    var records: Records { Records(items) }

    struct Records: Sequence, IteratorProtocol {
        private let items: JSONItems
        private var lists: ArraySlice<String> = [
            "shelves", "books", "progressEntries", "notes", "ereaderDocuments", "ereaderPositions",
            "swipes",
        ]
        private var list: (name: String, items: JSONItems.Items)?
        private var line = 0
        private var profile: JSONItems.Member?

        fileprivate init(_ items: JSONItems) {
            self.items = items
            profile = items["profile"]
        }

        mutating func next() -> ImportRecord? {
            if let member = profile {
                profile = nil
                let value = Result { () throws(ImportProblem) in try items.value(member) }
                return BookplateFile.record(of: "profile", value, line: 0)
            }
            while true {
                if let name = list?.name, let item = list?.items.next() {
                    line += 1
                    return BookplateFile.record(of: name, item, line: line)
                }
                guard let name = lists.popFirst() else { return nil }
                list = items[name].map { (name, items.list($0)) }
            }
        }
    }

    private static func record(
        of list: String, _ item: Result<Value, ImportProblem>, line: Int
    ) -> ImportRecord {
        do throws(ImportProblem) {
            let members = BookplateMembers(try item.get())
            let content: ImportRecord.Content =
                switch list {
                case "profile": profile(members)
                case "shelves": try shelf(members)
                case "books": .book(try book(members))
                case "progressEntries": try progress(members)
                case "notes": .note(try members.note)
                case "ereaderDocuments": .document(try members.document)
                case "ereaderPositions": .position(try members.ereaderPosition)
                default: try swipe(members)
                }
            return ImportRecord(line: line, content: content, problems: members.problems)
        } catch {
            return ImportRecord(line: line, content: .nothing, problems: [error])
        }
    }

    private static func profile(_ members: BookplateMembers) -> ImportRecord.Content {
        .profile(
            ImportedProfile(
                displayName: members.text("displayName", max: Sessions.displayNameCharactersMax),
                preferredGenres: Array(
                    members.texts("preferredGenres", max: BookCreation.labelCharactersMax)
                        .prefix(User.preferredGenresMax)),
                languages: ReaderLanguages.known(
                    members.texts("languages", max: BookCreation.labelCharactersMax)),
                timeZone: members.text("timeZone", max: 100), readingGoals: members.goals,
                followedAuthors: members.followedAuthors, scans: members.scans))
    }

    private static func shelf(
        _ members: BookplateMembers
    ) throws(ImportProblem) -> ImportRecord.Content {
        guard let name = members.text("name", max: Shelf.nameCharactersMax) else {
            throw ImportProblem("The name is missing or too long. The shelf was left out.")
        }
        return .shelf(
            ImportedShelf(
                id: members.id("id"), name: name,
                description: members.text("description", max: Shelf.descriptionCharactersMax),
                color: members.optionalChoice("color", ImportedNote.colors),
                isUpNext: members.member("isUpNext")?.boolean ?? false,
                createdAt: members.instant("createdAt")))
    }

    private static func swipe(
        _ members: BookplateMembers
    ) throws(ImportProblem) -> ImportRecord.Content {
        guard let card = members.id("cardId"), let time = members.instant("swipedAt"),
            let action = members.choice("action", Swipe.actions)
        else {
            throw ImportProblem("cardId, action, or swipedAt is missing. The swipe was left out.")
        }
        let scope = members.choice("scope", SwipeScope.allCases.map(\.rawValue))
        return .swipe(
            ImportedSwipe(
                cardID: card, action: action,
                scope: action == "DISLIKE"
                    ? scope.flatMap { SwipeScope(rawValue: $0) } ?? .book : .book,
                store: members.text("store", max: 100),
                // Times in the future are clamped to the end of the current second: `recordSwipes` clamps them, too.
                swipedAt: Instant(
                    microseconds: min(time.microseconds, (unixSecondsNow() + 1) * 1_000_000))))
    }

    private static func progress(
        _ members: BookplateMembers
    ) throws(ImportProblem) -> ImportRecord.Content {
        guard let id = members.id("id"), let read = members.id("readId"),
            let at = members.instant("at"), let position = members.position
        else {
            throw ImportProblem(
                "id, readId, at, or the position is missing. The entry was left out.")
        }
        return .progress(
            ImportedProgress(
                id: id, readID: read, at: at, position: position,
                note: members.text("note", max: ImportedRead.noteCharactersMax),
                createdAt: members.instant("createdAt"), updatedAt: members.instant("updatedAt")))
    }

    package static func book(_ members: BookplateMembers) throws(ImportProblem) -> ImportedBook {
        guard let title = members.text("title", max: BookCreation.titleCharactersMax) else {
            throw ImportProblem("The title is missing or too long. The book was left out.")
        }
        var book = ImportedBook(
            id: members.id("id") ?? .derived(from: "title", title), title: title)
        book.isArchived = members.id("id") != nil
        book.isIdentified = book.isArchived
        book.cardID = members.id("cardId")
        book.linkedBy = members.optionalChoice("linkedBy", ["CARD", "ISBN", "SOURCE", "TITLE"])
        book.subtitle = members.text("subtitle", max: BookFacts.subtitleCharactersMax)
        book.authors = members.authors
        if let text = members.text("isbn13", max: 200) ?? members.text("isbn", max: 200) {
            if case .success(let isbn) = ISBN.read(text) {
                book.isbn = isbn
            } else {
                members.report("isbn13", "“\(text.prefix(40))” is not an ISBN.")
            }
        }
        book.publisher = members.text("publisher", max: BookFacts.publisherCharactersMax)
        book.publishedDate = members.text("publishedDate", max: 100)
        book.pageCount = members.number("pageCount", 1...Int(Int32.max)).map(Int32.init)
        book.language = members.text("language", max: 35)
        book.category = members.text("category", max: BookCreation.labelCharactersMax)
        book.genre = members.text("genre", max: BookCreation.labelCharactersMax)
        book.description = members.text("description", max: BookFacts.descriptionCharactersMax)
        book.binding = members.text("binding", max: ImportedBook.bindingCharactersMax)
        book.originalYear = members.number("originalPublicationYear", -5000...9999)
            .map(Int32.init)
        book.copies = members.copies
        book.contentNotes = members.text(
            "contentNotes", max: ImportedBook.contentNotesCharactersMax)
        book.privateNotes = members.text("privateNotes", max: ImportedBook.notesCharactersMax)
        book.moods = Array(
            members.texts("moods", max: BookCreation.labelCharactersMax)
                .prefix(ImportedBook.moodsMax))
        book.status =
            members.choice("status", ReadingStatus.allCases.map(\.rawValue))
            .flatMap(ReadingStatus.init(rawValue:)) ?? .wantToRead
        book.currentPage = members.number("currentPage", 0...Int(Int32.max)).map(Int32.init)
        book.addedAt = members.instant("addedAt")
        book.startedAt = members.instant("startedAt")
        book.finishedAt = members.instant("finishedAt")
        book.updatedAt = members.instant("updatedAt")
        book.shelves = members.texts("shelves", max: Shelf.nameCharactersMax)
        let positions = members.shelfPositions
        if positions.count == book.shelves.count { book.shelfPositions = positions }
        if book.shelves.count > BookCreation.shelvesMax {
            members.report(
                "shelves", "The book is on too many shelves.",
                effect: "Only the first \(BookCreation.shelvesMax) were kept.")
            book.shelves = Array(book.shelves.prefix(BookCreation.shelvesMax))
            book.shelfPositions = Array(book.shelfPositions.prefix(BookCreation.shelvesMax))
        }
        book.review = members.review
        book.series = members.series
        book.reads = members.reads(of: "reads") ?? book.derivedReads
        return book
    }
}

extension ImportedBook {
    /// The reads that follow from the status and the dates of the book. A file without a list of reads means these.
    ///
    /// A finishing date of a book that is READING belongs to an earlier read.
    package var derivedReads: [ImportedRead] {
        let started = Self.date(startedAt)
        let finished = Self.date(finishedAt)
        func read(
            _ outcome: ReadOutcome, _ start: PartialDate?, _ end: PartialDate?
        ) -> ImportedRead {
            ImportedRead(
                // The id is the same each time, so that a second import finds the read.
                id: .derived(from: "read", id.description, outcome.rawValue, end?.text ?? ""),
                startedOn: start, finishedOn: end, outcome: outcome)
        }
        let earlier = finished.map { [read(.finished, nil, $0)] } ?? []
        switch status {
        case .read:
            let isReversed = started.flatMap { start in finished?.isBefore(start) } ?? false
            return [read(.finished, isReversed ? nil : started, finished)]
        case .didNotFinish:
            return earlier + [read(.didNotFinish, started, nil)]
        case .wantToRead, .reading, .paused:
            let isOpen = status == .reading || (started != nil && finished == nil)
            return earlier + (isOpen ? [read(.reading, started, nil)] : [])
        }
    }

    private static func date(_ instant: Instant?) -> PartialDate? {
        instant.flatMap { try? PartialDate.read($0.text, order: nil) }
    }
}
