import Postgres
import Synchronization
import TestSupport

/// A primary and its synchronous standby, which can replace it.
final class FaultCluster: Sendable {
    /// The cluster as it was at the start.
    let cluster: TestCluster
    private let nodes: [FaultNode]
    private let primaryIndex = Mutex(0)

    init() async throws {
        let first = try await FaultNode()
        nodes = [first, try await FaultNode(copying: first)]
        cluster = TestCluster(superuserURL: first.url)
    }

    var primary: FaultNode { nodes[primaryIndex.withLock { $0 }] }
    var standby: FaultNode { nodes[1 - primaryIndex.withLock { $0 }] }

    /// Kills the primary, and makes the standby the primary. The killed node becomes its standby.
    func failOver() async throws {
        try await waitUntilStandbyIsCurrent()
        let (old, new) = (primary, standby)
        try await old.stop {
            try await blocking { try AdminConnection(new.url).execute("SELECT pg_promote()") }
            try old.copyAtNextStart(new)
        }
        primaryIndex.withLock { $0 = 1 - $0 }
    }

    /// Waits until the standby has all changes that are visible on the primary.
    ///
    /// After a crash of the primary, its unconfirmed commits are visible although the standby may not have them. A standby
    /// without them must not replace it.
    private func waitUntilStandbyIsCurrent() async throws {
        for _ in 0..<6000 {
            let isCurrent = try? await blocking { [url = primary.url] in
                try AdminConnection(url).query(
                    """
                    SELECT FROM pg_stat_replication
                    WHERE sync_state = 'sync' AND flush_lsn >= pg_current_wal_flush_lsn()
                    """
                ).count > 0
            }
            if isCurrent == true { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Program.Failure(description: "the standby did not receive the primary's changes")
    }
}
