import ObjectStorage
import Postgres

/// Stores the position that a sweep of the object store has reached.
///
/// An interrupted sweep continues within a day, because sweeping a large store can take longer than a server process
/// lives.
package enum SweepProgress: Sendable {
    /// The progress of the servers' sweeps. Their role can access only this checkpoint.
    case ofServers
    /// The progress of an operator's sweeps.
    case ofOperator

    /// The value of `checkpoints.task`.
    private var task: String {
        switch self {
        case .ofServers: "storage.sweep"
        case .ofOperator: "storage.gc"
        }
    }

    /// The position of a page of the store.
    package struct Position {
        package let bucket: Bucket
        /// The page's position in the bucket, such as the name of a folder.
        package let page: String

        package var text: String { "\(bucket.rawValue)/\(page)" }

        /// Whether a sweep has completed the other bucket when it reaches this position.
        package func isAfter(_ other: Bucket) -> Bool {
            let buckets = Bucket.allCases
            guard let index = buckets.firstIndex(of: bucket),
                let otherIndex = buckets.firstIndex(of: other)
            else { return false }
            return otherIndex < index
        }

        package init(bucket: Bucket, page: String) {
            self.bucket = bucket
            self.page = page
        }

        package init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, let bucket = Bucket(rawValue: String(parts[0])) else {
                return nil
            }
            self.init(bucket: bucket, page: String(parts[1]))
        }
    }

    /// The pages that a sweep has completed.
    struct Completed: RowDecodable {
        /// The last completed page.
        let position: Position
        /// The number of completed pages.
        let count: Int

        init(position: Position, count: Int) {
            self.position = position
            self.count = count
        }

        init?(_ row: inout RowReader) {
            guard let position = row.text().flatMap({ Position($0) }) else { return nil }
            self.init(position: position, count: Int(row.int64() ?? 0))
        }
    }

    private var parameters: Parameters {
        var parameters = Parameters()
        parameters.append(text: task)
        return parameters
    }

    func load(_ run: StorageSweep.RunStatement) async throws(StorageError) -> Completed? {
        try await run(Self.load, parameters).decode(Completed.self).first
    }

    func save(
        _ completed: Completed, _ run: StorageSweep.RunStatement
    ) async throws(StorageError) {
        var parameters = self.parameters
        parameters.append(text: completed.position.text)
        parameters.append(int64: Int64(completed.count))
        _ = try await run(Self.save, parameters)
    }

    func forget(_ run: StorageSweep.RunStatement) async throws(StorageError) {
        _ = try await run(Self.forget, parameters)
    }

    /// An older checkpoint is not used, because the completed pages may have changed.
    private static let load = Statement(
        """
        SELECT position, done
        FROM checkpoints
        WHERE task = $1 AND updated_at > now() - interval '1 day'
        """)
    private static let save = Statement(
        """
        INSERT INTO checkpoints (task, position, done)
        VALUES ($1, $2, $3)
        ON CONFLICT (task) DO UPDATE
        SET position = excluded.position, done = excluded.done, updated_at = excluded.updated_at
        """)
    private static let forget = Statement("DELETE FROM checkpoints WHERE task = $1")
}
