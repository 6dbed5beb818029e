import GRDB

@testable import BookplateClient

/// A change that a reader makes. `number` chooses which one, and of which objects.
struct Edit: Sendable {
    private let number: UInt64

    init(number: UInt64) { self.number = number }

    private func pick(_ db: Database, _ table: String, _ shift: UInt64 = 8) throws -> String? {
        let ids = try String.fetchAll(
            db.cachedStatement(sql: "SELECT id FROM \(table) ORDER BY id"))
        return ids.isEmpty ? nil : ids[Int((number >> shift) % UInt64(ids.count))]
    }

    func apply(to library: Library) throws {
        let (shelf, other, book, read, entry, note) = try library.reader.read { db in
            (
                try pick(db, "shelf"), try pick(db, "shelf", 20), try pick(db, "book", 12),
                try pick(db, "read", 12), try pick(db, "progress", 12), try pick(db, "note", 12)
            )
        }
        let variant = number >> 32
        switch number % 28 {
        case 0: try library.shelves.create("Shelf \(variant % 6)")
        case 1, 2, 3: try addBook(library, shelf, variant)
        case 4: try library.books.add(.init(title: "Scan", isbn: "978030640615\(variant % 4)"))
        case 5: if let shelf { try library.shelves.move(shelf, to: Int(variant % 4)) }
        case 6:
            switch variant / 6 % 3 {
            case 0: if let shelf { try library.shelves.describe(shelf, as: "\(variant % 3)") }
            case 1: if let shelf { try library.shelves.setColor(.red, of: shelf) }
            default: if let shelf { try library.shelves.rename(shelf, to: "Shelf \(variant % 6)") }
            }
        case 7: if let shelf { try delete(library, shelf, other, variant) }
        case 8, 9, 10: if let book { try setStatus(library, book, variant) }
        case 11:
            if let book { try library.books.update(book) { $0.title = "Title \(variant % 100)" } }
        case 12:
            if let book {
                try library.books.update(book) {
                    // Pages up to 120 are logged.
                    if variant % 3 == 0 { $0.pageCount = variant % 2 == 0 ? nil : 200 }
                    $0.genre = variant % 2 == 0 ? nil : "genre"
                }
            }
        case 13: if let book, let shelf { try library.books.move(book, to: shelf) }
        case 14: if let book, let shelf { try library.books.setShelves([shelf], of: book) }
        case 15: if let book { try library.books.delete(book) }
        case 16: if let book { try library.books.review(book, stars: Double(variant % 5) + 1) }
        case 17, 18: if let read { try library.reads.log(.page(Int(variant % 120)), in: read) }
        case 19: if let entry { try changeEntry(library, entry, variant) }
        case 20: if let book { try library.notes.create(book, text: "Note \(variant % 100)") }
        case 21: if let note { try changeNote(library, note, variant) }
        case 22: if let read { try changeRead(library, read, variant) }
        case 24, 25: try swipe(library, variant)
        case 26: try library.feed.undo()
        case 27:
            if let book {
                variant % 2 == 0
                    ? try library.covers.search(for: book) : try library.covers.remove(of: book)
            }
        default: try library.goals.set(Int(variant % 50) + 1, in: 2026 + Int(variant % 2))
        }
    }

    private func swipe(_ library: Library, _ variant: UInt64) throws {
        let card = try library.reader.read { try Deck(db: $0).cards(limit: 1).first }
        guard let card else { return }
        let actions: [SwipeAction] = [.like, .like, .skip, .dislike, .buy, .dislike]
        let index = Int(variant % 6)
        try library.feed.swipe(card, actions[index], scope: index == 5 ? .author : .book)
    }

    private func addBook(_ library: Library, _ shelf: String?, _ variant: UInt64) throws {
        let statuses: [ReadingStatus] = [.wantToRead, .reading, .read]
        try library.books.add(
            .init(
                title: "Book \(variant % 1000)",
                shelves: variant % 2 == 0 ? [] : [shelf].compactMap { $0 },
                status: statuses[Int(variant % 3)], pageCount: 100))
    }

    private func delete(
        _ library: Library, _ shelf: String, _ other: String?, _ variant: UInt64
    ) throws {
        switch variant % 4 {
        case 0: try library.shelves.delete(shelf)
        case 1:
            if let other, other != shelf {
                try library.shelves.delete(shelf, books: .move(to: other))
            }
        case 2: try library.shelves.delete(shelf, books: .delete)
        default: break
        }
    }

    private func setStatus(_ library: Library, _ book: String, _ variant: UInt64) throws {
        let statuses: [ReadingStatus] = [.reading, .read, .paused, .didNotFinish, .wantToRead]
        if variant % 7 == 0 {
            try library.books.finish(book, on: "2020", stars: 4)
        } else if variant % 7 == 1 {
            try library.reads.add(book, finishedOn: "2019-05")
        } else {
            try library.books.setStatus(statuses[Int(variant / 7 % 5)], of: book)
        }
    }

    private func changeEntry(_ library: Library, _ entry: String, _ variant: UInt64) throws {
        variant % 3 == 0
            ? try library.reads.deleteEntry(entry)
            : try library.reads.correct(entry, to: .page(Int(variant % 100)))
    }

    private func changeNote(_ library: Library, _ note: String, _ variant: UInt64) throws {
        variant % 3 == 0
            ? try library.notes.delete(note)
            : try library.notes.update(note) { $0.comment = "Comment \(variant % 100)" }
    }

    private func changeRead(_ library: Library, _ read: String, _ variant: UInt64) throws {
        switch variant % 3 {
        case 0: try library.reads.delete(read)
        case 1: try library.reads.update(read) { $0.note = "Again \(variant % 100)" }
        default: try library.reads.update(read) { $0.outcome = .reading }
        }
    }
}
