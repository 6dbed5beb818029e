import Foundation
import GRDB

extension LocalEffect {
    func createBook() throws {
        guard try state.find(Book.self, write.target) == nil else { return }
        let isbn = write.input["isbn"]?.string
        var book =
            write.card.map { Book(id: write.target, card: $0, at: write.madeAt) }
            ?? Book(
                id: write.target, title: isbn ?? "", authors: [],
                isbn13: isbn.flatMap(ISBN.init(scanned:))?.rawValue, moods: [],
                status: .wantToRead, series: [], shelves: [],
                addedAt: write.madeAt, updatedAt: write.madeAt)
        if let title = write.input["title"]?.string { book.title = title }
        if let status = write.input["status"]?.string {
            book.status = ReadingStatus(rawValue: status)
        }
        book.shelves = (write.input["shelfIds"]?.array ?? []).compactMap(\.string).map(
            Reference.init(id:))
        setFacts(of: &book)
        try state.save(book)
        for read in write.input["reads"]?.array ?? [] { try saveRead(read, of: write.target) }
    }

    func updateBook() throws {
        let pageCount = try state.find(Book.self, write.target)?.pageCount
        try change(Book.self, write.target) { book in
            setFacts(of: &book)
            if let title = write.input["title"]?.string { book.title = title }
            if let status = write.input["status"]?.string {
                book.status = ReadingStatus(rawValue: status)
            }
            if let shelves = write.input["shelfIds"] {
                book.shelves = shelves.array.compactMap(\.string).map(Reference.init(id:))
            }
            book.updatedAt = write.madeAt
        }
        if try state.find(Book.self, write.target)?.pageCount != pageCount {
            try updatePositions(in: write.target)
        }
    }

    private func setFacts(of book: inout Book) {
        set(&book.subtitle, "subtitle")
        set(&book.publisher, "publisher")
        set(&book.publishedDate, "publishedDate")
        set(&book.pageCount, "pageCount")
        set(&book.language, "language")
        set(&book.category, "category")
        set(&book.genre, "genre")
        set(&book.description, "description")
        set(&book.binding, "binding")
        set(&book.privateNotes, "privateNotes")
        set(&book.currentPage, "currentPage")
        if let moods = write.input["moods"] { book.moods = moods.array.compactMap(\.string) }
        if let authors = write.input["authors"] {
            book.authors = authors.array.compactMap { author in
                author["name"]?.string.map {
                    Author(
                        $0, role: author["role"]?.string.map(AuthorRole.init(rawValue:)) ?? .author)
                }
            }
            book.author = Author.line(book.authors)
        }
    }

    func moveBook() throws {
        guard let to = write.input["to"]?.string else { return }
        let from = write.input["from"]?.string
        try change(Book.self, write.target) { book in
            book.shelves.removeAll { $0.id != to && (from == nil || $0.id == from) }
            book.join(to)
        }
    }

    func reviewBook() throws {
        try change(Book.self, write.target) { book in
            var review =
                book.review
                ?? Review(hasSpoilers: false, createdAt: write.madeAt, updatedAt: write.madeAt)
            if let stars = write.input["stars"] { review.stars = stars.number }
            set(&review.text, "text")
            if let hasSpoilers = write.input["hasSpoilers"]?.bool {
                review.hasSpoilers = hasSpoilers
            }
            review.updatedAt = write.madeAt
            book.review = review
        }
    }

    func setReadingGoal() throws {
        guard let year = write.input["year"]?.int, let unit = write.input["unit"]?.string,
            let target = write.input["target"]?.int
        else { return }
        let existing = try ReadingGoal.filter(Column("year") == year && Column("unit") == unit)
            .fetchOne(state.db)
        var goal =
            existing
            ?? ReadingGoal(
                id: write.target, year: year, unit: GoalUnit(rawValue: unit), target: target,
                createdAt: write.madeAt, updatedAt: write.madeAt)
        goal.target = target
        goal.updatedAt = write.madeAt
        try state.save(goal)
    }
}

extension Author {
    /// The names in one line: those with the role AUTHOR, or all if none has it. Nil without names.
    static func line(_ authors: [Author]) -> String? {
        let main = authors.filter { $0.role == .author }
        let names = (main.isEmpty ? authors : main).map(\.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
