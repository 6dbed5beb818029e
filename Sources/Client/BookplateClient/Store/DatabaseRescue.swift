import Foundation
import GRDB

/// Replaces a damaged database by a new one with the same queue.
///
/// Each step leaves the queue complete in one file, so that the next launch can continue: the new database is written to a file of its
/// own, which gets its final name after the damaged files are removed.
struct DatabaseRescue {
    let file: URL
    let time: Timestamp

    /// The new database while it is written.
    private var new: URL { file.appendingPathExtension("new") }
    /// The new database after it is complete.
    private var rescued: URL { file.appendingPathExtension("rescued") }

    func run() throws {
        let (writes, isComplete) = readableWrites()
        try remove(new)
        let queue = try DatabaseQueue(path: new.path)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        }
        try LibraryDatabase.migrate(queue)
        try queue.write { db in
            for write in writes { try WriteQueue(db: db).add(write) }
            if !isComplete { try Problem(Self.loss, undone: [], write: nil, at: time).insert(db) }
        }
        try queue.close()
        try FileManager.default.moveItem(at: new, to: rescued)
        try finish()
    }

    /// Puts a complete new database in place of the damaged one, if there is one.
    func finish() throws {
        guard FileManager.default.fileExists(atPath: rescued.path) else { return }
        try remove(file)
        try FileManager.default.moveItem(at: rescued, to: file)
    }

    private static let loss = ServerError(
        "The library on this device was damaged. Changes that had not been sent may be lost: check the latest ones.",
        code: .localDamage)

    private func remove(_ file: URL) throws {
        for path in ["-wal", "-shm", "-journal", ""].map({ file.path + $0 })
        where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Returns the writes that can still be read, in their order, and whether these are all.
    private func readableWrites() -> (writes: [Write], isComplete: Bool) {
        var configuration = Configuration()
        configuration.readonly = true
        guard let queue = try? DatabaseQueue(path: file.path, configuration: configuration) else {
            return ([], false)
        }
        defer { try? queue.close() }
        let result: ([Write], Bool)? = try? queue.read { db in
            var seqs: Set<Int64> = []
            // A damaged page ends a scan. A second one reads what is after it.
            var isComplete = Self.scan("SELECT seq FROM write ORDER BY seq", db, &seqs)
            if !isComplete { _ = Self.scan("SELECT seq FROM write ORDER BY seq DESC", db, &seqs) }
            var writes: [Write] = []
            for seq in seqs.sorted() {
                if let write = try? Write.fetchOne(db, key: seq) {
                    writes.append(write)
                } else {
                    isComplete = false
                }
            }
            return (writes, isComplete)
        }
        return result ?? ([], false)
    }

    /// Adds the positions in the order of a query. Returns whether it reached the end.
    private static func scan(_ sql: String, _ db: Database, _ seqs: inout Set<Int64>) -> Bool {
        do {
            let cursor = try Int64.fetchCursor(db, sql: sql)
            while let seq = try cursor.next() { seqs.insert(seq) }
            return true
        } catch {
            return false
        }
    }
}
