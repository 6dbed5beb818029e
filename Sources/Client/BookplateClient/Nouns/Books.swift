import Foundation
import GRDB

extension Library {
    /// The books of the library.
    public var books: Books { Books(library: self) }
}

/// The books of a library.
public struct Books: Sendable {
    let library: Library

    /// The values of a new book.
    public struct New: Sendable {
        /// The title.
        public var title: String?
        /// The authors and all other contributors, the main author first.
        public var authors: [Author] = []
        /// As typed or scanned. The server fills in the rest of the book.
        public var isbn: String?
        /// The id of a card of the catalog, which fills in the rest of the book.
        public var cardID: String?
        /// The ids of the shelves that it joins.
        public var shelves: [String] = []
        /// The status of the book.
        public var status = ReadingStatus.wantToRead
        /// The number of pages of the edition.
        public var pageCount: Int?

        /// A new book needs a title, an ISBN, or a card.
        public init(
            title: String? = nil, authors: [Author] = [], isbn: String? = nil,
            cardID: String? = nil,
            shelves: [String] = [], status: ReadingStatus = .wantToRead, pageCount: Int? = nil
        ) {
            self.title = title
            self.authors = authors
            self.isbn = isbn
            self.cardID = cardID
            self.shelves = shelves
            self.status = status
            self.pageCount = pageCount
        }
    }

    /// Adds a book, and returns its id. A book with an ISBN or a card has no other facts until the server has filled them in,
    /// unless the card is one of the feed on this device.
    @discardableResult
    public func add(_ new: New) throws -> String {
        try library.perform { db in
            let write = try adding(new, db)
            return (write.target, [write])
        }
    }

    private func adding(_ new: New, _ db: Database) throws -> Write {
        guard new.title != nil || new.isbn != nil || new.cardID != nil else {
            throw BookplateError.invalidInput("A new book needs a title, an ISBN, or a card.")
        }
        let id = library.environment.makeID()
        let readID = library.environment.makeID()
        var input: [String: JSON] = ["id": .string(id), "status": .string(new.status.rawValue)]
        input["title"] = new.title.map { .string($0.trimmed) }
        input["isbn"] = new.isbn.map(JSON.string)
        input["cardId"] = new.cardID.map(JSON.string)
        input["pageCount"] = new.pageCount.map { JSON($0) }
        if !new.authors.isEmpty { input["authors"] = .array(new.authors.map(\.input)) }
        if !new.shelves.isEmpty { input["shelfIds"] = .array(new.shelves.map(JSON.string)) }
        var creates: Set = [id]
        if let read = library.reads.input(startingWith: new.status, id: readID) {
            input["reads"] = [.object(read)]
            creates.insert(readID)
        }
        return Write(
            .createBook, id, input, needs: Set(new.shelves), creates: creates,
            card: try new.cardID.flatMap { try Deck(db: db).card($0) },
            at: library.environment.timestamp)
    }

    /// The outcome of a scan.
    public enum Scan: Hashable, Sendable {
        /// The book was added. The server completes it later.
        case added(String)
        /// The library has a book with this ISBN already.
        case inLibrary(String)

        /// The id of the book.
        public var book: String {
            switch self {
            case .added(let id), .inLibrary(let id): id
            }
        }
    }

    /// Adds a book by its bar code, also without a network. If no source knows the ISBN, the book stays in the library with the ISBN as its
    /// title, and a problem asks for the title.
    ///
    /// - Parameter code: the ISBN as typed or scanned.
    /// - Throws: `BookplateError.invalidInput` if it is not an ISBN.
    @discardableResult
    public func scan(
        _ code: String, shelves: [String] = [], status: ReadingStatus = .wantToRead
    ) throws -> Scan {
        guard let isbn = ISBN(scanned: code) else {
            throw BookplateError.invalidInput("\(code) is not an ISBN. Scan or type it again.")
        }
        return try library.perform { db in
            let sql = "SELECT id FROM book WHERE isbn13 = ?"
            let existing = try String.fetchOne(
                db.cachedStatement(sql: sql), arguments: [isbn.rawValue])
            if let existing { return (.inLibrary(existing), []) }
            let write = try adding(
                .init(isbn: isbn.rawValue, shelves: shelves, status: status), db)
            return (.added(write.target), [write])
        }
    }

    /// Changes the facts of a book: `try books.update(id) { $0.pageCount = 320 }`. Only the properties that differ afterwards are sent.
    ///
    /// Status, shelves, and reviews have functions of their own.
    public func update(_ id: String, _ change: (inout Book) -> Void) throws {
        try library.perform { db in
            let old = try find(id, db)
            var new = old
            change(&new)
            let input = new.facts.filter { old.facts[$0.key] != $0.value }
            return input.isEmpty ? [] : [write(.updateBook, id, input)]
        }
    }

    /// Changes the status of a book, and its reads accordingly: reading starts a read today, and the other statuses end the open read, except
    /// `paused` and `wantToRead`.
    public func setStatus(_ status: ReadingStatus, of id: String) throws {
        switch status {
        case .reading: try library.reads.startUnlessOpen(id)
        case .read:
            try library.perform { db in
                // The same change again must not add another read.
                guard try find(id, db).status != .read || Reads.open(of: id, db) != nil else {
                    return []
                }
                return try finishing(id, on: library.environment.today, db)
            }
        case .didNotFinish:
            try library.perform { db in
                guard let read = try Reads.open(of: id, db) else {
                    return [write(.updateBook, id, ["status": .string(status.rawValue)])]
                }
                return [library.reads.finishing(read, on: library.environment.today, .didNotFinish)]
            }
        default: try library.perform(write(.updateBook, id, ["status": .string(status.rawValue)]))
        }
    }

    /// Ends the open read of a book, or adds a finished one, and optionally rates the book.
    ///
    /// - Parameter day: the last day of the read. Today by default.
    public func finish(_ id: String, on day: PartialDate? = nil, stars: Double? = nil) throws {
        try library.perform { db in
            var writes = try finishing(id, on: day ?? library.environment.today, db)
            if let stars { writes.append(write(.reviewBook, id, ["stars": .number(stars)])) }
            return writes
        }
    }

    private func finishing(_ id: String, on day: PartialDate, _ db: Database) throws -> [Write] {
        if let read = try Reads.open(of: id, db) {
            return [library.reads.finishing(read, on: day, .finished)]
        }
        _ = try find(id, db)
        return [library.reads.adding(to: id, startedOn: nil, finishedOn: day)]
    }

    /// Puts a book on exactly these shelves.
    public func setShelves(_ shelves: [String], of id: String) throws {
        try library.perform(
            write(
                .updateBook, id, ["shelfIds": .array(shelves.map(JSON.string))], needs: Set(shelves)
            ))
    }

    /// Moves a book to a shelf from another one, or from all others.
    public func move(_ id: String, to shelf: String, from other: String? = nil) throws {
        var input: [String: JSON] = ["to": .string(shelf)]
        input["from"] = other.map(JSON.string)
        try library.perform(
            write(.moveBook, id, input, needs: Set([shelf, other].compactMap { $0 })))
    }

    /// Deletes a book with its reads and notes. `restore` undoes it for 30 days.
    public func delete(_ id: String) throws {
        // Its reads and notes go with it, which other writes may be about.
        try library.perform(write(.deleteBook, id, [:], related: [Write.library]))
    }

    /// Restores a deleted book. It appears when the server has answered.
    public func restore(_ id: String) throws {
        try library.perform(write(.restoreBook, id, [:], related: [Write.library]))
    }

    /// Rates or reviews a book, which may have any status. An absent value stays as it is.
    public func review(
        _ id: String, stars: Double? = nil, text: String? = nil, hasSpoilers: Bool? = nil
    ) throws {
        var input: [String: JSON] = [:]
        input["stars"] = stars.map(JSON.number)
        input["text"] = text.map(JSON.string)
        input["hasSpoilers"] = hasSpoilers.map(JSON.bool)
        try library.perform(write(.reviewBook, id, input))
    }

    /// Deletes the review of a book.
    public func deleteReview(of id: String) throws {
        try library.perform(write(.deleteReview, id, [:]))
    }

    private func write(
        _ operation: Operation, _ id: String, _ input: [String: JSON], related: Set<String> = [],
        needs: Set<String> = []
    ) -> Write {
        Write(
            operation, id, input, related: related, needs: needs, at: library.environment.timestamp)
    }

    private func find(_ id: String, _ db: Database) throws -> Book {
        guard let book = try LibraryState(db: db).find(Book.self, id) else {
            throw BookplateError.notInLibrary(id: id)
        }
        return book
    }
}

extension Book {
    /// The values that `Books.update` can change, by the names of `UpdateBookInput`.
    fileprivate var facts: [String: JSON] {
        [
            "title": .string(title), "subtitle": JSON(subtitle), "publisher": JSON(publisher),
            "publishedDate": JSON(publishedDate), "pageCount": JSON(pageCount),
            "language": JSON(language),
            "category": JSON(category), "genre": JSON(genre), "description": JSON(description),
            "binding": JSON(binding), "privateNotes": JSON(privateNotes),
            "authors": .array(authors.map(\.input)), "moods": .array(moods.map(JSON.string)),
        ]
    }
}

extension String {
    /// The server removes white space at both ends, too.
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
