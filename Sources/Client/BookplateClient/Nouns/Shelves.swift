import GRDB

extension Library {
    /// The shelves of the library.
    public var shelves: Shelves { Shelves(library: self) }
}

/// The shelves of a library.
public struct Shelves: Sendable {
    let library: Library

    /// A shelf with the number of its books.
    public struct Summary: Codable, Hashable, Identifiable, Sendable, FetchableRecord {
        /// The id. It never changes.
        public let id: String
        /// The name.
        public let name: String
        /// The position among the shelves, from 0.
        public let position: Int
        /// A text about the shelf.
        public let description: String?
        /// The color in which the app shows the shelf.
        public let color: LabelColor?
        /// The number of books on the shelf.
        public let bookCount: Int
    }

    /// The fate of the books of a deleted shelf.
    public enum Books: Hashable, Sendable {
        /// They stay in the library.
        case keep
        /// They join another shelf.
        case move(to: String)
        /// They are deleted from the library.
        case delete
    }

    /// The shelves in their order, now and after each change.
    public func all() -> AsyncValueObservation<[Summary]> {
        library.values { try Self.fetchAll($0) }
    }

    static func fetchAll(_ db: Database) throws -> [Summary] {
        try Summary.fetchAll(
            db,
            sql: """
                SELECT id, name, position, description, color,
                    (SELECT count(*) FROM book_shelf WHERE book_shelf.shelf = shelf.id) AS bookCount
                FROM shelf
                ORDER BY position, id
                """)
    }

    /// Creates a shelf after the others, and returns its id.
    @discardableResult
    public func create(_ name: String) throws -> String {
        let id = library.environment.makeID()
        try library.perform(
            write(
                .createShelf, id, ["id": .string(id), "name": .string(name.trimmed)], creates: [id])
        )
        return id
    }

    /// Changes the name of a shelf.
    public func rename(_ id: String, to name: String) throws {
        try library.perform(write(.updateShelf, id, ["name": .string(name.trimmed)]))
    }

    /// Changes the description of a shelf. Nil removes it.
    public func describe(_ id: String, as description: String?) throws {
        let text = description?.trimmed
        try library.perform(
            write(.updateShelf, id, ["description": JSON(text == "" ? nil : text)]))
    }

    /// Changes the color of a shelf. Nil removes it.
    public func setColor(_ color: LabelColor?, of id: String) throws {
        try library.perform(write(.updateShelf, id, ["color": JSON(color?.rawValue)]))
    }

    /// Moves a shelf to a position among the others, from 0.
    public func move(_ id: String, to position: Int) throws {
        try library.perform(write(.updateShelf, id, ["position": JSON(position)]))
    }

    /// Deletes a shelf.
    public func delete(_ id: String, books: Books = .keep) throws {
        let input: [String: JSON] =
            switch books {
            case .keep: ["books": "KEEP"]
            case .move(let other): ["books": "MOVE", "moveTo": .string(other)]
            case .delete: ["books": "DELETE"]
            }
        // It changes all books on the shelf, which other writes may be about.
        try library.perform(write(.deleteShelf, id, input, related: [Write.library]))
    }

    private func write(
        _ operation: Operation, _ id: String, _ input: [String: JSON], related: Set<String> = [],
        creates: Set<String> = []
    ) -> Write {
        Write(
            operation, id, input, related: related.union([Write.allShelves]), creates: creates,
            at: library.environment.timestamp)
    }
}
