import Foundation
import GRDB

/// The durable queue of writes that the server has not done yet, or whose effects have not arrived.
struct WriteQueue {
    let db: Database

    /// Adds a write together with its effect on the local library.
    func add(_ write: Write) throws {
        var write = write
        try write.insert(db)
        switch write.operation {
        case .recordSwipes: try Deck(db: db).swiped(write)
        case .undoSwipe:
            if let card = write.input["cardId"]?.string { try Deck(db: db).undone(card) }
        case .createBook: if let card = write.card { try Deck(db: db).added(card) }
        default: break
        }
        try LocalEffect(state: LibraryState(db: db), write: write).apply()
    }

    /// Returns writes that can be sent now: each is independent of all writes before it.
    ///
    /// - Parameters:
    ///   - inFlight: the writes that have been sent and are not answered.
    ///   - waiting: the writes that must not be sent yet.
    func sendable(limit: Int, inFlight: Set<Int64>, waiting: Set<Int64>) throws -> [Write] {
        // The first 200 writes are enough to keep a few requests in flight.
        let unanswered = try Write.fetchAll(
            db.cachedStatement(
                sql: "SELECT * FROM write WHERE NOT answered ORDER BY seq LIMIT 200"))
        var blocking: [Write] = []
        var sendable: [Write] = []
        for write in unanswered where sendable.count < limit {
            let seq = write.seq ?? 0
            if !inFlight.contains(seq), !waiting.contains(seq),
                blocking.allSatisfy({ $0.isIndependent(of: write) })
            {
                sendable.append(write)
            }
            blocking.append(write)
        }
        return sendable
    }

    /// Records that the server has done a write. Its effect stays until the change log delivers it.
    func markAnswered(_ seq: Int64) throws {
        try db.execute(sql: "UPDATE write SET answered = true WHERE seq = ?", arguments: [seq])
        try db.execute(sql: "DELETE FROM problem WHERE write = ?", arguments: [seq])
    }

    /// Removes the writes whose effects have arrived.
    func removeAnswered() throws { try db.execute(sql: "DELETE FROM write WHERE answered") }

    /// Removes a write that the server has refused, and the later writes that need what it would have created, and reports them.
    ///
    /// If the server names an object that exists already, such as a shelf with this name, later writes use that object instead. If
    /// the reader has deleted the new object since then, the later writes are undone, too: the existing one must not be deleted.
    /// Call this within `LibraryState.receive`.
    func refuse(_ seq: Int64, _ error: ServerError, at time: Timestamp) throws {
        guard let write = try Write.fetchOne(db, key: seq) else { return }
        if error.reason == .unknownISBN, let titled = write.withISBNAsTitle {
            // The server accepts any ISBN of a book with a title, and completes the book if a source knows it later.
            try titled.update(db)
            try Problem(error, about: write, undone: [], write: nil, at: time).insert(db)
            try Problem.trim(db)
            return
        }
        var missing = write.creates
        if error.code == .conflict, let existing = error.existingID, let id = write.createdID,
            try !isDeleted(id, after: seq)
        {
            try replace(id, with: existing, after: seq)
            missing.remove(id)
        }
        let undone = try remove(write, missing: missing)
        // A card that the catalog no longer has is not shown again.
        for swipe in undone where swipe.operation == .recordSwipes && error.code != .notFound {
            if let card = swipe.card { try Deck(db: db).undone(card.id) }
        }
        if error.code == .notFound, write.isOnlyOpinion { return }
        try Problem(error, undone: undone, write: nil, at: time).insert(db)
        try Problem.trim(db)
    }

    /// Whether the server has saved another book for a swipe than the one that the swipe would have added.
    func hasOtherBook(_ seq: Int64, _ book: String) throws -> Bool {
        try Write.fetchOne(db, key: seq)?.savedBook.map { $0 != book } ?? false
    }

    /// Uses the book that the server has saved for a swipe in place of the one that the swipe would have added. Call this within
    /// `LibraryState.receive`.
    func saved(_ book: String, for seq: Int64) throws {
        guard let id = try Write.fetchOne(db, key: seq)?.savedBook else { return }
        if try !isDeleted(id, after: seq) { try replace(id, with: book, after: seq) }
        // The swipe has no effect of its own then.
        try Write.deleteOne(db, key: seq)
        try db.execute(sql: "UPDATE card SET book = NULL WHERE book = ?", arguments: [id])
    }

    /// Removes a write that waits, and the later writes that need what it would have created. Call this within `LibraryState.receive`.
    func discard(_ seq: Int64) throws {
        guard let write = try Write.fetchOne(db, key: seq), !write.isAnswered else { return }
        _ = try remove(write, missing: write.creates)
    }

    /// Removes a write, the later writes about objects that are missing without it, and their problems. Returns the writes.
    private func remove(_ write: Write, missing: Set<String>) throws -> [Write] {
        var (missing, removed) = (missing, [write])
        for later in try Write.filter(Column("seq") > write.seq).order(Column("seq")).fetchAll(db)
        where !missing.isDisjoint(with: later.changes.union(later.needs)) {
            removed.append(later)
            missing.formUnion(later.creates)
        }
        let seqs = removed.compactMap(\.seq)
        try Write.deleteAll(db, keys: seqs)
        try Problem.filter(seqs.contains(Column("write"))).deleteAll(db)
        return removed
    }

    /// Whether a later write deletes an object.
    private func isDeleted(_ id: String, after seq: Int64) throws -> Bool {
        let later = try Write.filter(Column("seq") > seq && Column("target") == id).fetchAll(db)
        return later.contains {
            [.deleteShelf, .deleteBook, .deleteRead].contains($0.operation)
        }
    }

    /// Reports a write that waits because of an error that this version does not know.
    func reportWaiting(_ write: Write, _ error: ServerError, at time: Timestamp) throws {
        try Problem.filter(Column("write") == write.seq).deleteAll(db)
        try Problem(error, undone: [write], write: write.seq, at: time).insert(db)
    }

    private func replace(_ id: String, with existing: String, after seq: Int64) throws {
        try db.execute(
            sql: """
                UPDATE write
                SET target = replace(target, :id, :existing), input = replace(input, :id, :existing),
                    changes = replace(changes, :id, :existing), needs = replace(needs, :id, :existing)
                WHERE seq > :seq
                """, arguments: ["id": id, "existing": existing, "seq": seq])
    }
}

extension Write {
    /// The creation of a book from nothing but an ISBN, with the ISBN as the title. Nil for other writes.
    fileprivate var withISBNAsTitle: Write? {
        guard operation == .createBook, input["title"] == nil, let isbn = input["isbn"] else {
            return nil
        }
        var titled = self
        titled.input["title"] = isbn
        return titled
    }

    /// Whether the write only says what the reader thinks of a card. Nothing is lost if the catalog no longer has the card.
    fileprivate var isOnlyOpinion: Bool {
        operation == .undoSwipe || operation == .recordSwipes && savedBook == nil
    }

    /// The id of the object that the mutation creates, if it can conflict with an object that the library has already.
    fileprivate var createdID: String? {
        switch operation {
        case .createShelf, .createBook: target
        case .startRead: input["id"]?.string
        default: nil
        }
    }
}
