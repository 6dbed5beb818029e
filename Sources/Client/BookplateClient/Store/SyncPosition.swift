import GRDB

/// How far the local library has followed the server. There is one row.
struct SyncPosition: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "sync_position"

    private var id = 1
    /// The position in the change log. Nil before the first page.
    var cursor: String?
    /// The progress of a reset. Nil if there is none.
    var reset: Reset?
    /// Whether the whole library has been fetched once.
    var isComplete = false
    /// Whether the log has not been read to its end since the last reset.
    var followsReset = false
    /// Reads that the last reset has missed, whose progress must be fetched.
    var missedReads: [LongRead] = []

    /// The library is fetched again, page by page, because the change log does not reach back to the cursor. Objects that the server
    /// does not send are removed at the end. Changes made meanwhile follow from the log after `cursor`.
    struct Reset: Codable {
        /// The end of the log when the reset began.
        let cursor: String
        var stage = Stage.shelves
        /// The end of the previous page of the stage.
        var after: String?
        /// The reads with more progress than a page of reads has, and where it continues.
        var longReads: [LongRead] = []
    }

    /// A read whose progress is fetched by itself, page by page.
    struct LongRead: Codable {
        let id: String
        /// Nil before the first page.
        var after: String?
    }

    enum Stage: String, Codable, CaseIterable {
        case shelves, books, reads, progress, notes
    }

    static func load(_ db: Database) throws -> SyncPosition {
        try fetchOne(db.cachedStatement(sql: "SELECT * FROM sync_position")) ?? SyncPosition()
    }
}
