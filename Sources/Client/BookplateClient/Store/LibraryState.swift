import Foundation
import GRDB

/// Reads and changes the objects of the library in one transaction.
///
/// The rule: the tables show the last known state of the server plus the effects of the queued writes, in their order. Before an
/// effect changes an object for the first time, `server_state` gets a copy of it, or null if the server does not have it. When
/// something arrives from the server, `receive` restores these copies, applies what has arrived, and replays the writes. Nothing is
/// merged.
struct LibraryState {
    let db: Database

    // MARK: Effects of queued writes

    func find<Object: LibraryObject>(_ type: Object.Type, _ id: String) throws -> Object? {
        let sql = "SELECT * FROM \(Object.databaseTableName) WHERE id = ?"
        return try Object.fetchOne(db.cachedStatement(sql: sql), arguments: [id])
    }

    func save<Object: LibraryObject>(_ object: Object) throws {
        try keepServerState(Object.self, object.id)
        // Each column that is written costs the pages of its indexes.
        if let old = try find(Object.self, object.id) {
            try object.updateChanges(db, from: old)
        } else {
            try object.insert(db)
        }
    }

    func delete<Object: LibraryObject>(_ type: Object.Type, _ id: String) throws {
        try keepServerState(type, id)
        try removeRow(type, id)
    }

    private func removeRow(_ type: any LibraryObject.Type, _ id: String) throws {
        try execute("DELETE FROM \(type.databaseTableName) WHERE id = ?", [id])
    }

    /// Runs a statement, which SQLite compiles only the first time.
    private func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    private func ids(_ sql: String, _ argument: String) throws -> [String] {
        try String.fetchAll(db.cachedStatement(sql: sql), arguments: [argument])
    }

    /// Deletes a book with its reads, their progress, and its notes, as the server does.
    func deleteBook(_ id: String) throws {
        for read in try ids("SELECT id FROM read WHERE bookID = ?", id) { try deleteRead(read) }
        for note in try ids("SELECT id FROM note WHERE bookID = ?", id) {
            try delete(Note.self, note)
        }
        try delete(Book.self, id)
    }

    /// Deletes a read with its progress.
    func deleteRead(_ id: String) throws {
        for entry in try ids("SELECT id FROM progress WHERE readID = ?", id) {
            try delete(ProgressEntry.self, entry)
        }
        try delete(Read.self, id)
    }

    private func keepServerState<Object: LibraryObject>(_ type: Object.Type, _ id: String) throws {
        let kept = "SELECT id FROM server_state WHERE typename = ? AND id = ?"
        let row = try Row.fetchOne(
            db.cachedStatement(sql: kept), arguments: [Object.typename, id])
        guard row == nil else { return }
        try execute(
            "INSERT INTO server_state (typename, id, object) VALUES (?, ?, ?)",
            [Object.typename, id, try find(type, id).map(JSON.text)])
    }

    // MARK: State of the server

    /// Changes the state of the server, and replays the queued writes.
    func receive(_ change: (LibraryState) throws -> Void) throws {
        try restoreServerState()
        try change(self)
        let writes = try db.cachedStatement(sql: "SELECT * FROM write ORDER BY seq")
        for write in try Write.fetchAll(writes) {
            try LocalEffect(state: self, write: write).apply()
        }
    }

    /// Stores an object of the server. Call this within `receive`.
    func store(_ object: any LibraryObject) throws {
        try object.upsert(db)
        try markSeen(type(of: object).typename, object.id)
    }

    /// Removes an object that the server has deleted, with everything that belongs to it: the change log does not name that. Call this
    /// within `receive`.
    func remove(_ typename: String, _ id: String) throws {
        guard let type = libraryTypes.first(where: { $0.typename == typename }) else { return }
        switch typename {
        case Book.typename:
            try execute(
                "DELETE FROM progress WHERE readID IN (SELECT id FROM read WHERE bookID = ?)", [id])
            try execute("DELETE FROM read WHERE bookID = ?", [id])
            try execute("DELETE FROM note WHERE bookID = ?", [id])
        case Read.typename: try execute("DELETE FROM progress WHERE readID = ?", [id])
        default: break
        }
        try removeRow(type, id)
    }

    private func restoreServerState() throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT typename, id, object FROM server_state"))
        for row in rows {
            let typename: String = row["typename"]
            guard let type = libraryTypes.first(where: { $0.typename == typename }) else {
                continue
            }
            if let text: String = row["object"] {
                try JSONDecoder().decode(type, from: Data(text.utf8)).upsert(db)
            } else {
                try removeRow(type, row["id"])
            }
        }
        try execute("DELETE FROM server_state")
    }

    // MARK: Reset

    /// Forgets which objects have been seen. The next reset begins.
    func forgetSeen() throws { try db.execute(sql: "DELETE FROM seen") }

    /// Removes the objects that the server did not send since `forgetSeen`. Call this within `receive`.
    func removeUnseen() throws {
        for type in libraryTypes {
            try db.execute(
                sql: """
                    DELETE FROM \(type.databaseTableName)
                    WHERE id NOT IN (SELECT id FROM seen WHERE typename = ?)
                    """, arguments: [type.typename])
        }
        try forgetSeen()
    }

    private func markSeen(_ typename: String, _ id: String) throws {
        guard try SyncPosition.load(db).reset != nil else { return }
        try execute("INSERT OR IGNORE INTO seen (typename, id) VALUES (?, ?)", [typename, id])
    }
}
