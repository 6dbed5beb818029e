import ObjectStorage
import Postgres

/// Stores how far a sweep of the object store has come.
///
/// An interrupted sweep continues within a day, because sweeping a large store can take longer than a server process
/// lives.
package enum SweepProgress: Sendable {
    /// The progress of the servers' sweeps. Their role has no privilege on the table of checkpoints, so it uses
    /// functions.
    case ofServers
    /// The progress of an operator's sweeps.
    case ofOperator

    /// A folder. Positions are ordered like the folders of a sweep.
    struct FolderPosition: Comparable {
        let bucket: Bucket
        let folder: String

        var text: String { "\(bucket.rawValue)/\(folder)" }

        static func < (one: FolderPosition, other: FolderPosition) -> Bool {
            one.bucket == other.bucket
                ? one.folder < other.folder : one.bucketIndex < other.bucketIndex
        }

        private var bucketIndex: Int { Bucket.allCases.firstIndex(of: bucket) ?? 0 }

        init(bucket: Bucket, folder: String) {
            self.bucket = bucket
            self.folder = folder
        }

        init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, let bucket = Bucket(rawValue: String(parts[0])) else {
                return nil
            }
            self.init(bucket: bucket, folder: String(parts[1]))
        }
    }

    /// The folders that a sweep has completed.
    struct Completed: RowDecodable {
        /// The last completed folder.
        let position: FolderPosition
        /// The number of completed folders.
        let count: Int

        init(position: FolderPosition, count: Int) {
            self.position = position
            self.count = count
        }

        init?(_ row: inout RowReader) {
            guard let position = row.text().flatMap({ FolderPosition($0) }) else { return nil }
            self.init(position: position, count: Int(row.int64() ?? 0))
        }
    }

    func load(_ run: StorageSweep.RunStatement) async throws(StorageError) -> Completed? {
        let rows = try await run(
            self == .ofServers ? Self.loadForServers : Self.loadForOperator, Parameters())
        return rows.decode(Completed.self).first
    }

    func save(
        _ completed: Completed, _ run: StorageSweep.RunStatement
    ) async throws(StorageError) {
        var parameters = Parameters()
        parameters.append(text: completed.position.text)
        parameters.append(int64: Int64(completed.count))
        _ = try await run(
            self == .ofServers ? Self.saveForServers : Self.saveForOperator, parameters)
    }

    func forget(_ run: StorageSweep.RunStatement) async throws(StorageError) {
        _ = try await run(
            self == .ofServers ? Self.forgetForServers : Self.forgetForOperator, Parameters())
    }

    private static let loadForServers = Statement(
        "SELECT position, folders FROM sweep_checkpoint()")
    private static let saveForServers = Statement("SELECT save_sweep_checkpoint($1, $2)")
    private static let forgetForServers = Statement("SELECT delete_sweep_checkpoint()")
    private static let loadForOperator = Statement(
        """
        SELECT position, done
        FROM checkpoints
        WHERE task = 'storage.gc' AND updated_at > now() - interval '1 day'
        """)
    private static let saveForOperator = Statement(
        """
        INSERT INTO checkpoints (task, position, done)
        VALUES ('storage.gc', $1, $2)
        ON CONFLICT (task) DO UPDATE
        SET position = excluded.position, done = excluded.done, updated_at = now()
        """)
    private static let forgetForOperator = Statement(
        "DELETE FROM checkpoints WHERE task = 'storage.gc'")
}
