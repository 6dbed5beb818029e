import Basics
import Bookplate
import ObjectStorage
import Postgres

/// Finds covers whose images are lost: neither the full nor the large variant exists, so no variant can be recreated.
package struct DanglingCovers {
    private static let batchMax = 200
    private static let deletionBatchMax = 100

    /// The number of all covers.
    package private(set) var total = 0
    package private(set) var records: [CoverRecord] = []

    /// - Parameter onProgress: Called after each batch with the number of covers in it.
    package init(
        in store: any ObjectStore, _ connection: AdminConnection,
        onProgress: (Int) throws(StorageError) -> Void
    ) async throws(StorageError) {
        var position: CoverRecord.Position?
        while true {
            let page = try mappingError(StorageError.database) { () throws(PostgresError) in
                try CoverRecord.page(after: position, Self.batchMax, connection)
            }
            guard let last = page.last else { return }
            position = .init(last)
            total += page.count
            for record in page {
                if try await Self.isDangling(record, in: store, connection) {
                    records.append(record)
                }
            }
            try onProgress(page.count)
        }
    }

    private static func isDangling(
        _ record: CoverRecord, in store: any ObjectStore, _ connection: AdminConnection
    ) async throws(StorageError) -> Bool {
        let hasImage = try await mappingError(StorageError.store) {
            () async throws(ObjectError) in
            try await imageExists(record, in: store)
        }
        if hasImage { return false }
        // The cover may have been replaced, and its files removed, since the page was read.
        return try mappingError(StorageError.database) { () throws(PostgresError) in
            try record.isCurrent(connection)
        }
    }

    private static func imageExists(
        _ record: CoverRecord, in store: any ObjectStore
    ) async throws(ObjectError) -> Bool {
        guard let key = record.key else { return false }
        for variant in [ObjectVariant.full, .large] {
            if let path = ObjectPath(key, version: record.version, variant),
                try await store.byteCount(path) != nil
            {
                return true
            }
        }
        return false
    }

    /// Whether more than half of the covers are dangling. The cause is then probably the store, for example a disk that
    /// is not mounted.
    package var isSuspicious: Bool { records.count * 2 > total }

    /// Deletes the rows of the covers. Each transaction blocks the writes of one user for at most one batch.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether to roll back each transaction.
    ///   - beforeBatch: Called before each batch. An error that it throws ends the deletion.
    /// - Returns: The number of deleted rows, and in a dry run the locks of the last batch.
    package func deleteRows(
        isDryRun: Bool, _ connection: AdminConnection,
        beforeBatch: () throws(StorageError) -> Void
    ) throws(StorageError) -> Attempt<Int> {
        var total = Attempt(result: 0, isDryRun: isDryRun, locks: [])
        var rest = records[...]
        while let first = rest.first {
            try beforeBatch()
            // The records are sorted by user.
            let batch = rest.prefix(Self.deletionBatchMax).prefix { $0.user == first.user }
            rest = rest.dropFirst(batch.count)
            let attempt = try connection.attempt(
                isDryRun: isDryRun, mapping: StorageError.database
            ) { () throws(StorageError) in
                var count = 0
                for record in batch where try Self.deleteRow(record, connection) { count += 1 }
                return count
            }
            total.result += attempt.result
            total.locks = attempt.locks
        }
        return total
    }

    /// Deletes a cover's row in the caller's transaction, unless the cover was replaced. A deleted book loses its cover.
    ///
    /// - Returns: Whether the row was deleted.
    private static func deleteRow(
        _ record: CoverRecord, _ connection: AdminConnection
    ) throws(StorageError) -> Bool {
        try mappingError(StorageError.database) { () throws(PostgresError) in
            try connection.query("SELECT lock_user($1)", .of(record.user))
            var parameters = Parameters.of(record.user, record.book)
            parameters.append(text: record.version)
            let deletion = try connection.query(
                "DELETE FROM covers WHERE user_id = $1 AND book_id = $2 AND version = $3",
                parameters)
            guard deletion.affectedCount > 0 else {
                return try connection.query(
                    """
                    UPDATE deleted_books
                    SET cover = NULL
                    WHERE user_id = $1 AND id = $2 AND cover ->> 'version' = $3
                    """, parameters
                ).affectedCount > 0
            }
            try connection.query(
                """
                UPDATE books
                SET cover_status = 'NO_COVER', cover_requested_at = NULL
                WHERE user_id = $1 AND id = $2
                """, .of(record.user, record.book))
            return true
        }
    }
}
