import Postgres
import Synchronization
import Telemetry

/// How many jobs there are, by kind and state, asked of the database at each reading of `/metrics`.
///
/// All servers share one queue, so each tells the same numbers: take the largest, not the sum.
package final class JobGauges: Sendable {
    private static let count = Statement("SELECT kind, state, count FROM count_jobs()")

    private let metrics: Metrics
    private let database: ConnectionPool
    /// Those that have been told of: what is gone is told of as none.
    private let known = Mutex<[String: Gauge]>([:])

    package init(_ metrics: Metrics, database: ConnectionPool) {
        self.metrics = metrics
        self.database = database
        // There before the first job: a reader knows that it is counted.
        _ = gauge(kind: PurgeDeadJobs.kind, state: "dead")
        metrics.beforeReading { await self.read() }
    }

    private func read() async {
        let rows: Rows
        do throws(PostgresError) {
            rows = try await database.run(.one(Self.count, isReadOnly: true))[0]
        } catch {
            return  // the last numbers stand; that the database is away is told elsewhere
        }
        for gauge in known.withLock({ Array($0.values) }) { gauge.set(0) }
        for row in 0..<rows.count {
            guard let kind = rows.text(row, 0), let state = rows.text(row, 1),
                let count = rows.int64(row, 2)
            else { continue }
            gauge(kind: kind, state: state).set(Int(count))
        }
    }

    private func gauge(kind: String, state: String) -> Gauge {
        known.withLock { known in
            let key = "\(kind) \(state)"
            if let gauge = known[key] { return gauge }
            let gauge = metrics.gauge(
                "bookplate_jobs", "Background jobs of all servers, by kind and state.",
                ["kind": kind, "state": state])
            known[key] = gauge
            return gauge
        }
    }
}
