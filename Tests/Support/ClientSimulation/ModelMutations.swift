import Foundation

@testable import BookplateClient

/// The mutations of the model.
extension ModelServer {
    /// Returns the error of the entry of a batch; throws the error of any other mutation. Swipes have a function of their own.
    func run(_ operation: BookplateClient.Operation, _ variables: JSON) throws(ServerError)
        -> ServerError?
    {
        let id = variables["id"]?.string ?? ""
        let input = variables["input"] ?? [:]
        switch operation {
        case .createShelf: try createShelf(input)
        case .updateShelf: try updateShelf(id, input)
        case .deleteShelf: try deleteShelf(id, input)
        case .createBook: try createBook(input)
        case .updateBook: try updateBook(id, input)
        case .moveBook: try moveBook(id, input)
        case .deleteBook: deleteBook(id)
        case .restoreBook: throw Self.notFound
        case .reviewBook: try reviewBook(id, input)
        case .deleteReview: if books[id]?.review != nil { change(id) { $0.review = nil } }
        case .startRead: try startRead(id, input)
        case .updateRead, .finishRead: try updateRead(id, input)
        case .deleteRead: deleteRead(id)
        case .logProgress:
            do throws(ServerError) { try logProgress(input.array.first ?? [:]) } catch {
                return error
            }
        case .updateProgress: try updateProgress(id, input)
        case .deleteProgress: deleteProgress(id)
        case .createNote: try createNote(input)
        case .updateNote: try updateNote(id, input)
        case .deleteNote:
            if notes.removeValue(forKey: id) != nil {
                tombstones.insert(id)
                record(Note.self, id)
            }
        case .setReadingGoal: setGoal(input)
        case .undoSwipe: undoSwipe(input)
        case .recordSwipes: break
        case .setCover, .removeCover:
            guard books[id] != nil else { throw Self.notFound }
            record(Book.self, id)
        case .deleteReadingGoal:
            if goals.removeValue(forKey: id) != nil { record(ReadingGoal.self, id) }
        }
        return nil
    }

    static let notFound = ServerError("Not found", code: .notFound)

    func create(_ id: String) { creations[id, default: 0] += 1 }

    // MARK: Shelves

    private func shelf(named name: String) -> Shelf? {
        shelves.first { $0.name.lowercased() == name.lowercased() }
    }

    private func createShelf(_ input: JSON) throws(ServerError) {
        let (id, name) = (input["id"]?.string ?? "", input["name"]?.string ?? "")
        if shelves.contains(where: { $0.id == id }) { return }
        if let other = shelf(named: name) {
            throw ServerError("The name is taken", code: .conflict, existingID: other.id)
        }
        create(id)
        shelves.append(
            Shelf(id: id, name: name, position: shelves.count, createdAt: now, updatedAt: now))
        record(Shelf.self, id)
    }

    private func updateShelf(_ id: String, _ input: JSON) throws(ServerError) {
        guard let index = shelves.firstIndex(where: { $0.id == id }) else { throw Self.notFound }
        if let name = input["name"]?.string {
            if let other = shelf(named: name), other.id != id {
                throw ServerError("The name is taken", code: .conflict, existingID: other.id)
            }
            shelves[index].name = name
            record(Shelf.self, id)
        }
        if let description = input["description"] {
            shelves[index].description = description.string
            record(Shelf.self, id)
        }
        if let color = input["color"] {
            shelves[index].color = color.string.map { LabelColor(rawValue: $0) }
            record(Shelf.self, id)
        }
        guard let position = input["position"]?.int else { return }
        let shelf = shelves.remove(at: index)
        shelves.insert(shelf, at: min(max(position, 0), shelves.count))
        number()
    }

    private func number() {
        for index in shelves.indices where shelves[index].position != index {
            shelves[index].position = index
            record(Shelf.self, shelves[index].id)
        }
    }

    private func deleteShelf(_ id: String, _ input: JSON) throws(ServerError) {
        guard let index = shelves.firstIndex(where: { $0.id == id }) else { return }
        let target = input["moveTo"]?.string
        if input["books"] == "MOVE", !shelves.contains(where: { $0.id == target }) {
            throw Self.notFound
        }
        for book in books.values.sorted(by: { $0.id < $1.id })
        where book.shelves.contains(where: { $0.id == id }) {
            if input["books"] == "DELETE" {
                deleteBook(book.id)
                continue
            }
            change(book.id) { book in
                book.shelves.removeAll { $0.id == id }
                if let target, !book.shelves.contains(where: { $0.id == target }) {
                    book.shelves.append(Reference(id: target))
                }
            }
        }
        shelves.remove(at: index)
        record(Shelf.self, id)
        number()
    }

    // MARK: Books

    func change(_ id: String, _ body: (inout Book) -> Void) {
        guard var book = books[id] else { return }
        body(&book)
        book.updatedAt = now
        books[id] = book
        record(Book.self, id)
    }

    private func references(_ ids: JSON?) throws(ServerError) -> [Reference] {
        var found: [Reference] = []
        for id in (ids?.array ?? []).compactMap(\.string) {
            guard shelves.contains(where: { $0.id == id }) else { throw Self.notFound }
            found.append(Reference(id: id))
        }
        return found
    }

    private func createBook(_ input: JSON) throws(ServerError) {
        let id = input["id"]?.string ?? ""
        guard books[id] == nil else { return }
        if let title = input["title"]?.string, title == refusedTitle {
            throw ServerError("This title is refused", code: .badUserInput, field: "title")
        }
        let isbn = input["isbn"]?.string
        if let isbn, input["title"] == nil, unknownISBNs.contains(isbn) {
            throw ServerError("Unknown", code: .notFound, reason: .unknownISBN)
        }
        if let isbn, let other = books.values.first(where: { $0.isbn13 == isbn }) {
            throw ServerError("The library has it", code: .conflict, existingID: other.id)
        }
        var book = Book(
            id: id, title: input["title"]?.string ?? "Found by ISBN", authors: [], moods: [],
            status: ReadingStatus(rawValue: input["status"]?.string ?? "WANT_TO_READ"), series: [],
            shelves: try references(input["shelfIds"]), addedAt: now, updatedAt: now)
        book.isbn13 = isbn
        book.pageCount = input["pageCount"]?.int
        create(id)
        books[id] = book
        record(Book.self, id)
        for read in input["reads"]?.array ?? [] { try addRead(read, to: id) }
    }

    private func updateBook(_ id: String, _ input: JSON) throws(ServerError) {
        guard books[id] != nil else { throw Self.notFound }
        let shelves = input["shelfIds"] == nil ? nil : try references(input["shelfIds"])
        change(id) { book in
            if let title = input["title"]?.string { book.title = title }
            if let genre = input["genre"] { book.genre = genre.string }
            if let pageCount = input["pageCount"] { book.pageCount = pageCount.int }
            if let shelves { book.shelves = shelves }
        }
        guard let status = input["status"]?.string.map(ReadingStatus.init(rawValue:)) else {
            return
        }
        change(id) { $0.status = status }
        guard status == .reading, openRead(of: id) == nil else { return }
        let read = Read(
            id: "server-\(creations.count)-\(log.count)", book: Reference(id: id),
            startedOn: PartialDate(rawValue: String(now.rawValue.prefix(10))), outcome: .reading,
            createdAt: now, updatedAt: now)
        reads[read.id] = read
        record(Read.self, read.id)
    }

    private func moveBook(_ id: String, _ input: JSON) throws(ServerError) {
        guard books[id] != nil else { throw Self.notFound }
        let to = try references([input["to"] ?? nil])
        let from = input["from"]?.string
        if from != nil { _ = try references([input["from"] ?? nil]) }
        change(id) { book in
            book.shelves = book.shelves.filter { $0 != to[0] && from != nil && $0.id != from }
            book.shelves += to
        }
    }

    func deleteBook(_ id: String) {
        guard books.removeValue(forKey: id) != nil else { return }
        for read in reads.values where read.book.id == id {
            for entry in entries(of: read.id) { entries[entry.id] = nil }
            reads[read.id] = nil
        }
        for note in notes.values where note.book.id == id { notes[note.id] = nil }
        record(Book.self, id)
    }

    private func reviewBook(_ id: String, _ input: JSON) throws(ServerError) {
        guard books[id] != nil else { throw Self.notFound }
        change(id) { book in
            var review = book.review ?? Review(hasSpoilers: false, createdAt: now, updatedAt: now)
            if let stars = input["stars"] { review.stars = stars.number }
            if let text = input["text"] { review.text = text.string }
            review.updatedAt = now
            book.review = review
        }
    }

    private func setGoal(_ input: JSON) {
        let (year, unit) = (
            input["year"]?.int ?? 0, GoalUnit(rawValue: input["unit"]?.string ?? "")
        )
        let target = input["target"]?.int ?? 0
        let existing = goals.values.first { $0.year == year && $0.unit == unit }
        let id = existing?.id ?? input["id"]?.string ?? ""
        if existing == nil { create(id) }
        var goal =
            existing
            ?? ReadingGoal(
                id: id, year: year, unit: unit, target: target, createdAt: now, updatedAt: now)
        goal.target = target
        goal.updatedAt = now
        goals[id] = goal
        record(ReadingGoal.self, id)
    }
}
