import BookplateClient
import GRDB

/// Everything in a library, in a comparable form.
struct LibrarySnapshot: Equatable, Sendable {
    var shelves: [Shelf]
    var books: [Book]
    var reads: [Read]
    var entries: [ProgressEntry]
    var notes: [Note]
    var goals: [ReadingGoal]

    init(_ db: Database) throws {
        shelves = try Shelf.fetchAll(db)
        books = try Book.fetchAll(db)
        reads = try Read.fetchAll(db)
        entries = try ProgressEntry.fetchAll(db)
        notes = try Note.fetchAll(db)
        goals = try ReadingGoal.fetchAll(db)
        sort()
    }

    init(
        shelves: [Shelf], books: [Book], reads: [Read], entries: [ProgressEntry], notes: [Note],
        goals: [ReadingGoal]
    ) {
        self.shelves = shelves
        self.books = books
        self.reads = reads
        self.entries = entries
        self.notes = notes
        self.goals = goals
        sort()
    }

    private mutating func sort() {
        shelves.sort { $0.id < $1.id }
        books.sort { $0.id < $1.id }
        reads.sort { $0.id < $1.id }
        entries.sort { $0.id < $1.id }
        notes.sort { $0.id < $1.id }
        goals.sort { $0.id < $1.id }
    }

    /// All values of all objects.
    var objects: Set<String> {
        Set(
            shelves.map(String.init(describing:)) + books.map(String.init(describing:))
                + reads.map(String.init(describing:)) + entries.map(String.init(describing:))
                + notes.map(String.init(describing:)) + goals.map(String.init(describing:)))
    }

    /// The objects without what only the server decides: times, and facts of the catalog.
    var withoutServerFacts: [String] {
        var lines = shelves.map { "shelf \($0.id) \($0.name) \($0.position)" }
        lines += books.map { book in
            let review =
                book.review.map { "\($0.stars ?? 0) \($0.text ?? "") \($0.hasSpoilers)" }
                ?? ""
            return """
                book \(book.id) \(book.title) \(book.author ?? "") \(book.status.rawValue) \(book.currentPage ?? -1) \
                \(book.pageCount ?? 0) \(book.genre ?? "") \(book.shelves.map(\.id).sorted()) \(review)
                """
        }
        lines += reads.map { read in
            """
            read \(read.id) \(read.book.id) \(read.startedOn?.rawValue ?? "") \(read.finishedOn?.rawValue ?? "") \
            \(read.outcome.rawValue) \(read.note ?? "")
            """
        }
        lines += entries.map {
            "entry \($0.id) \($0.read.id) \($0.at.rawValue) \($0.given.rawValue) \($0.page ?? -1)"
        }
        lines += notes.map { "note \($0.id) \($0.book.id) \($0.text ?? "") \($0.comment ?? "")" }
        lines += goals.map { "goal \($0.year) \($0.unit.rawValue) \($0.target)" }
        return lines
    }
}
