import ObjectStorage
import Postgres

/// How far a sweep of the store has come. One that was stopped goes on there within a day, for a large store takes
/// longer than a server may live.
package enum SweepProgress: Sendable {
    /// The server's own sweeps, whose role has no privilege on the table of checkpoints.
    case ofServers
    /// An operator's.
    case ofOperator

    /// A folder, in the order of sweeps.
    struct Place: Comparable {
        let bucket: Bucket
        let folder: String

        var text: String { "\(bucket.rawValue)/\(folder)" }

        static func < (one: Place, other: Place) -> Bool {
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

    /// The folders until a place, and how many these are.
    struct Done {
        let place: Place
        let count: Int
    }

    func last(_ ask: StorageSweep.Ask) async throws(StorageError) -> Done? {
        let rows = try await ask(
            self == .ofServers ? Self.serversLast : Self.operatorsLast, Parameters())
        guard let place = rows.text(0, 0).flatMap({ Place($0) }) else { return nil }
        return Done(place: place, count: Int(rows.int64(0, 1) ?? 0))
    }

    func keep(_ done: Done, _ ask: StorageSweep.Ask) async throws(StorageError) {
        var parameters = Parameters()
        parameters.append(text: done.place.text)
        parameters.append(int64: Int64(done.count))
        _ = try await ask(self == .ofServers ? Self.serversKeep : Self.operatorsKeep, parameters)
    }

    func forget(_ ask: StorageSweep.Ask) async throws(StorageError) {
        _ = try await ask(
            self == .ofServers ? Self.serversForget : Self.operatorsForget, Parameters())
    }

    private static let serversLast = Statement("SELECT place, folders FROM sweep_checkpoint()")
    private static let serversKeep = Statement("SELECT keep_sweep_checkpoint($1, $2)")
    private static let serversForget = Statement("SELECT forget_sweep_checkpoint()")
    private static let operatorsLast = Statement(
        """
        SELECT position, done FROM checkpoints \
        WHERE task = 'storage.gc' AND updated_at > now() - interval '1 day'
        """)
    private static let operatorsKeep = Statement(
        """
        INSERT INTO checkpoints (task, position, done) VALUES ('storage.gc', $1, $2) \
        ON CONFLICT (task) DO UPDATE \
        SET position = excluded.position, done = excluded.done, updated_at = now()
        """)
    private static let operatorsForget = Statement(
        "DELETE FROM checkpoints WHERE task = 'storage.gc'")
}
