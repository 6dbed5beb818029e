import Postgres
import Synchronization
import Telemetry

/// A streaming replica that serves queries, and the state that decides which callers may read from it.
///
/// A replica lags behind the primary. After a change, the affected user and session read from the primary until the replica
/// has replayed the change. To find out, the primary's WAL position is recorded every `interval` and compared with the
/// position that the replica has replayed. The `Hub` reports changes by other servers and by jobs. While the hub is
/// disconnected, all queries use the primary.
///
/// After a failover, the positions of the new primary cannot be compared with those of a replica that still follows the old
/// one. Therefore each timeline of the WAL, which begins when a server becomes the primary, has a mark: a random id that the
/// primary stores in a table. A replica that has not replayed the mark of the primary's timeline is not used.
package final class Replica: Sendable {
    private struct State {
        /// The primary's WAL positions and the times before they were read, oldest first.
        var positions: [(at: ContinuousClock.Instant, lsn: Int64)] = []
        /// The replica has replayed all changes before this time; nil if that is unknown.
        var completeUntil: ContinuousClock.Instant?
        /// The replica is not used until it has replayed all changes before this time.
        var barrier = ContinuousClock.now
        /// Users and sessions with changes that the replica may not have replayed, and the times of their last changes.
        var changed: [UUID: ContinuousClock.Instant] = [:]
        var isHubConnected = false
    }

    /// A replica with a longer delay is not used, because its catalog is too old.
    private static let delayMax: Duration = .seconds(30)
    /// The timeout of reads from the replica, after which the primary is used instead.
    static let timeout: Duration = .seconds(2)
    /// The interval between comparisons. After a change, reads use the primary for up to this much longer than necessary.
    private static let interval: Duration = .milliseconds(250)
    /// The timeout of the comparison's queries. A slower replica is not used.
    private static let comparisonTimeout: Duration = .seconds(1)
    /// The maximum size of `changed`. When it is exceeded, all users are treated as changed.
    private static let changedMax = 100_000

    private let state = Mutex(State())
    /// The connection pools by event loop.
    private let pools: [ObjectIdentifier: ConnectionPool]
    private let readCount: Counter
    private let delay: Gauge

    /// - Parameter pools: Connections to the replica: one pool for each event loop that serves requests.
    package init(_ pools: [ConnectionPool], _ metrics: Metrics) {
        self.pools = Dictionary(
            pools.map { ($0.loopID, $0) }, uniquingKeysWith: { first, _ in first })
        readCount = metrics.counter(
            "bookplate_replica_reads_total", "Round trips of queries to the replica.")
        delay = metrics.gauge(
            "bookplate_replica_delay_milliseconds",
            "Maximum age of the data on the replica; -1 if it is unknown.")
        delay.set(-1)
    }

    /// Compares the replica with the primary until the task is cancelled.
    package func watch(primary: ConnectionPool) async {
        while !Task.isCancelled {
            await compare(with: primary)
            try? await Task.sleep(for: Self.interval)
        }
    }

    package func close() async {
        for pool in pools.values { await pool.close() }
    }

    /// Returns the connection pool of the replica if it has replayed all changes that concern the caller; nil otherwise.
    ///
    /// - Parameters:
    ///   - viewer: The caller; nil if it is not known yet. The replica may then lack recent changes.
    ///   - primary: The pool of the primary on the same event loop.
    func pool(for viewer: Viewer?, beside primary: ConnectionPool) -> ConnectionPool? {
        guard let pool = pools[primary.loopID] else { return nil }
        let isComplete = state.withLock { state in
            guard state.isHubConnected, let until = state.completeUntil, until >= state.barrier,
                .now - until < Self.delayMax
            else { return false }
            guard let viewer, !state.changed.isEmpty else { return true }
            return state.changed[viewer.userID] == nil && state.changed[viewer.sessionID] == nil
        }
        guard isComplete else { return nil }
        readCount.increment()
        return pool
    }

    /// Records a change that concerns a user or a session.
    func changed(_ id: UUID) {
        state.withLock { state in
            if state.changed.count >= Self.changedMax {
                state.changed = [:]
                state.barrier = .now
            }
            state.changed[id] = .now
        }
    }

    /// Records whether the hub receives changes by other servers. Changes that it missed may concern any user.
    func setHubConnected(_ isConnected: Bool) {
        state.withLock { state in
            state.isHubConnected = isConnected
            state.barrier = .now
        }
    }

    /// Reads the positions of both servers, and updates the time until which the replica is complete.
    private func compare(with primary: ConnectionPool) async {
        let at = ContinuousClock.now
        guard let written = await position(Self.written, in: primary),
            let replayed = await position(Self.replayed, in: pools[primary.loopID]),
            replayed.timeline == written.timeline
        else {
            // The replica is not used until the next successful comparison. The primary may be another one then.
            state.withLock { state in
                state.completeUntil = nil
                state.positions = []
            }
            delay.set(-1)
            return
        }
        let completeUntil = state.withLock { state in
            state.positions.append((at, written.lsn))
            // Positions older than the maximum delay cannot make the replica usable.
            let expired = state.positions.prefix { at - $0.at > Self.delayMax }.count
            state.positions.removeFirst(expired)
            if let last = state.positions.lastIndex(where: { $0.lsn <= replayed.lsn }) {
                let until = state.positions[last].at
                state.completeUntil = until
                state.positions.removeFirst(last)
                state.changed = state.changed.filter { $0.value > until }
            }
            return state.completeUntil
        }
        delay.set(completeUntil.map { Int((ContinuousClock.now - $0) / .milliseconds(1)) } ?? -1)
    }

    private func position(
        _ statement: TypedStatement<Position>, in pool: ConnectionPool?
    ) async -> Position? {
        guard let pool else { return nil }
        // `written` stores the mark of a new timeline, but the pipeline may be cancelled as if it were read-only: the
        // next comparison stores the mark then.
        var pipeline = Pipeline(isReadOnly: true, timeout: Self.comparisonTimeout)
        let position = pipeline.append(statement)
        do throws(PostgresError) {
            return PipelineResults(try await pool.run(pipeline))[position].first
        } catch {
            return nil  // the pool logs the error
        }
    }

    /// Returns the position of the primary in the WAL and the mark of its timeline. Adds the row of a new timeline. Returns no mark if
    /// another server has just added it. Fails on a replica.
    private static let written = TypedStatement<Position>(
        """
        WITH written AS MATERIALIZED (
            SELECT
                (p.written - '0/0')::bigint AS position,
                -- The name of a WAL file starts with its timeline, as eight hexadecimal digits.
                ('x' || left(pg_walfile_name(p.written), 8))::bit(32)::int AS number
            FROM (SELECT pg_current_wal_insert_lsn() AS written) p
        ), added AS (
            INSERT INTO timelines (number)
            SELECT w.number
            FROM written w
            WHERE NOT EXISTS (SELECT FROM timelines t WHERE t.number = w.number)
            ON CONFLICT DO NOTHING
            RETURNING mark
        )
        SELECT w.position, coalesce(t.mark, a.mark)
        FROM written w
        LEFT JOIN timelines t ON t.number = w.number
        LEFT JOIN added a ON true
        """)
    /// Returns the position up to which a replica has replayed the WAL, and the mark of the latest timeline that it knows. The position
    /// is null on a server that is not a replica.
    private static let replayed = TypedStatement<Position>(
        """
        SELECT
            (pg_last_wal_replay_lsn() - '0/0')::bigint,
            (SELECT t.mark FROM timelines t ORDER BY t.number DESC LIMIT 1)
        """)

    /// A position in the WAL, and the mark of its timeline.
    private struct Position: RowDecodable {
        let lsn: Int64
        let timeline: UUID

        /// Returns nil for a row without a position or a mark. The server is then not a replica, has not replayed a mark, or has
        /// not read one.
        init?(_ row: inout RowReader) {
            guard let lsn = row.int64(), let timeline = row.uuid() else { return nil }
            self.lsn = lsn
            self.timeline = timeline
        }
    }
}
