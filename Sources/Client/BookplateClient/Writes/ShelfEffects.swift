import Foundation
import GRDB

extension LocalEffect {
    /// The new shelf comes after the others.
    func createShelf() throws {
        guard try state.find(Shelf.self, write.target) == nil else { return }
        try state.save(
            Shelf(
                id: write.target, name: write.input["name"]?.string ?? "",
                position: try Shelf.fetchCount(state.db), createdAt: write.madeAt,
                updatedAt: write.madeAt))
    }

    func updateShelf() throws {
        let (name, description) = (write.input["name"]?.string, write.input["description"])
        let color = write.input["color"]
        if name != nil || description != nil || color != nil {
            try change(Shelf.self, write.target) {
                if let name { $0.name = name }
                if let description { $0.description = description.string }
                if let color { $0.color = color.string.map { LabelColor(rawValue: $0) } }
                $0.updatedAt = write.madeAt
            }
        }
        guard let position = write.input["position"]?.int else { return }
        var shelves = try Shelf.order(Column("position")).fetchAll(state.db)
        guard let index = shelves.firstIndex(where: { $0.id == write.target }) else { return }
        let shelf = shelves.remove(at: index)
        shelves.insert(shelf, at: min(max(position, 0), shelves.count))
        try number(shelves)
    }

    /// The positions have no gap afterwards.
    func deleteShelf() throws {
        let action = write.input["books"]?.string ?? "KEEP"
        let books = try String.fetchAll(
            state.db, sql: "SELECT book FROM book_shelf WHERE shelf = ?", arguments: [write.target])
        for book in books {
            if action == "DELETE" {
                try state.deleteBook(book)
                continue
            }
            try change(Book.self, book) { book in
                book.shelves.removeAll { $0.id == write.target }
                if action == "MOVE", let other = write.input["moveTo"]?.string {
                    book.join(other)
                }
            }
        }
        try state.delete(Shelf.self, write.target)
        try number(Shelf.order(Column("position")).fetchAll(state.db))
    }

    private func number(_ shelves: [Shelf]) throws {
        for (position, shelf) in shelves.enumerated() where shelf.position != position {
            var shelf = shelf
            shelf.position = position
            try state.save(shelf)
        }
    }
}

extension Book {
    mutating func join(_ shelf: String) {
        guard !shelves.contains(where: { $0.id == shelf }) else { return }
        shelves.append(Reference(id: shelf))
    }
}
