import Basics
import Bookplate
import ObjectStorage
import Postgres

extension StorageSweep {
    /// Creates a sweep of an operator. In a dry run, every transaction is rolled back.
    package init(
        _ store: any ObjectStore, graceSeconds: Int, isDryRun: Bool,
        progress: SweepProgress? = nil, _ connection: AdminConnection
    ) {
        self.init(store, graceSeconds: graceSeconds, isDryRun: isDryRun, progress: progress) {
            statement, parameters throws(StorageError) in
            try mappingError(StorageError.database) { () throws(PostgresError) in
                guard isDryRun else { return try connection.query(statement.text, parameters) }
                try connection.execute("BEGIN")
                defer { try? connection.execute("ROLLBACK") }
                return try connection.query(statement.text, parameters)
            }
        }
    }
}
