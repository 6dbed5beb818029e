import Postgres
import Synchronization
import Telemetry

/// A streaming replica that queries may be read from, and who must not be, because it is a little behind.
///
/// Whoever changed something reads from the primary until the replica has it: that is known exactly, since where the
/// primary's log stood at an instant is compared with how far the replica has replayed it. Changes that other servers
/// and background work made are heard of through the `Hub`; while it is deaf, nobody reads from the replica.
package final class Replica: Sendable {
    private struct State {
        /// Where the primary's log stood, and when it was asked; the oldest first.
        var marks: [(at: ContinuousClock.Instant, place: Int64)] = []
        /// The replica has all that was committed until then; nil before that is known.
        var completeUntil: ContinuousClock.Instant?
        /// The replica may not be used before it has all until then.
        var barrier = ContinuousClock.now
        /// Users whose libraries, and sessions whose ends, the replica may not have yet, and since when.
        var changed: [UUID: ContinuousClock.Instant] = [:]
        var isHearing = false
    }

    /// A replica that is further behind is not used: the catalogue it shows is too old.
    private static let delayMax: Duration = .seconds(30)
    /// For what is read from it, before the primary is asked in its place.
    static let timeout: Duration = .seconds(2)
    /// How often the two are compared; who has written reads from the primary that much longer.
    private static let interval: Duration = .milliseconds(250)
    /// For the answers to the comparison: a replica that takes longer is none to read from.
    private static let patience: Duration = .seconds(1)
    /// Beyond this many who have written, all count as having done so.
    private static let changedMax = 100_000

    private let state = Mutex(State())
    /// By the event loop they belong to.
    private let pools: [ObjectIdentifier: ConnectionPool]
    private let readCount: Counter
    private let delay: Gauge

    /// - Parameter pools: connections to the replica, one pool for each event loop that answers requests.
    package init(_ pools: [ConnectionPool], _ metrics: Metrics) {
        self.pools = Dictionary(
            pools.map { ($0.loopID, $0) }, uniquingKeysWith: { first, _ in first })
        readCount = metrics.counter(
            "bookplate_replica_reads_total", "Round trips of queries to the replica.")
        delay = metrics.gauge(
            "bookplate_replica_delay_milliseconds",
            "How old what the replica shows may be; -1 while it is not known.")
        delay.set(-1)
    }

    /// Compares the two for as long as the task runs.
    package func watch(primary: ConnectionPool) async {
        while !Task.isCancelled {
            await compare(with: primary)
            try? await Task.sleep(for: Self.interval)
        }
    }

    package func close() async {
        for pool in pools.values { await pool.close() }
    }

    /// Connections to the replica, where it has all that the caller could miss; nil where it is not to be asked.
    func pool(for viewer: Viewer, beside primary: ConnectionPool) -> ConnectionPool? {
        guard let pool = pools[primary.loopID] else { return nil }
        let isComplete = state.withLock { state in
            guard state.isHearing, let until = state.completeUntil, until >= state.barrier,
                .now - until < Self.delayMax
            else { return false }
            return state.changed.isEmpty
                || state.changed[viewer.userID] == nil && state.changed[viewer.sessionID] == nil
        }
        guard isComplete else { return nil }
        readCount.increment()
        return pool
    }

    /// Something of a user, or of a session, was changed just now.
    func changed(_ id: UUID) {
        state.withLock { state in
            if state.changed.count >= Self.changedMax {
                state.changed = [:]
                state.barrier = .now
            }
            state.changed[id] = .now
        }
    }

    /// Whether changes of other servers are heard of. What was missed meanwhile could be anybody's.
    func isHearing(_ isHearing: Bool) {
        state.withLock { state in
            state.isHearing = isHearing
            state.barrier = .now
        }
    }

    private func compare(with primary: ConnectionPool) async {
        let at = ContinuousClock.now
        guard let written = await place(Self.written, in: primary),
            let replayed = await place(
                Self.replayed, in: pools[primary.loopID])
        else {
            // Nothing more is asked of it until it has answered again.
            state.withLock { $0.completeUntil = nil }
            delay.set(-1)
            return
        }
        let completeUntil = state.withLock { state in
            state.marks.append((at, written))
            // While a replica stands still, older marks than these are of no use.
            let expired = state.marks.prefix { at - $0.at > Self.delayMax }.count
            state.marks.removeFirst(expired)
            if let last = state.marks.lastIndex(where: { $0.place <= replayed }) {
                let until = state.marks[last].at
                state.completeUntil = until
                state.marks.removeFirst(last)
                state.changed = state.changed.filter { $0.value > until }
            }
            return state.completeUntil
        }
        delay.set(completeUntil.map { Int((ContinuousClock.now - $0) / .milliseconds(1)) } ?? -1)
    }

    private func place(_ statement: Statement, in pool: ConnectionPool?) async -> Int64? {
        var segment = Pipeline.one(statement, isReadOnly: true)
        segment.timeout = Self.patience
        do throws(PostgresError) {
            return try await pool?.run(segment)[0].int64(0, 0)
        } catch {
            return nil  // the pool tells of it
        }
    }

    private static let written = Statement("SELECT (pg_current_wal_insert_lsn() - '0/0')::int8")
    /// Null where it is no replica.
    private static let replayed = Statement("SELECT (pg_last_wal_replay_lsn() - '0/0')::int8")
}
