import Postgres
import Synchronization
import Telemetry

/// The gauges of jobs by kind and state. They are read from the database for each request to `/metrics`.
///
/// All servers share one queue and report the same numbers. Aggregate them with `max`, not `sum`.
package final class JobGauges: Sendable {
    private static let count = Statement("SELECT kind, state, count FROM count_jobs()")

    private let metrics: Metrics
    private let database: ConnectionPool
    /// The gauges that have been reported. A gauge whose jobs are gone is reported as 0.
    private let known = Mutex<[String: Gauge]>([:])

    package init(_ metrics: Metrics, database: ConnectionPool) {
        self.metrics = metrics
        self.database = database
        // Reported before the first job exists, so that alerts can refer to it.
        _ = gauge(kind: PurgeDeadJobs.kind, state: "dead")
        metrics.beforeReading { await self.read() }
    }

    private func read() async {
        let rows: Rows
        do throws(PostgresError) {
            rows = try await database.run(.one(Self.count, isReadOnly: true))[0]
        } catch {
            // Keep the last values. The metrics of the pool report that the database is unavailable.
            return
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
