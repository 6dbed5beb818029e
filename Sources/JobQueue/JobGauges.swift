import Postgres
import Synchronization
import Telemetry

/// The gauges of jobs by kind and state. They are read from the databases for each request to `/metrics`, and summed.
///
/// All servers share one queue and report the same numbers. Aggregate them with `max`, not `sum`.
package final class JobGauges: Sendable {
    private static let count = Statement("SELECT kind, state, count FROM count_jobs()")

    private let metrics: Metrics
    private let databases: [ConnectionPool]
    /// The gauges that have been reported. A gauge whose jobs are gone is reported as 0.
    private let known = Mutex<[String: Gauge]>([:])

    package init(_ metrics: Metrics, databases: [ConnectionPool]) {
        self.metrics = metrics
        self.databases = databases
        // Reported before the first job exists, so that alerts can refer to it.
        _ = gauge(kind: PurgeDeadJobs.kind, state: "dead")
        metrics.beforeReading { await self.read() }
    }

    private func read() async {
        var sums: [[String]: Int64] = [:]
        var hasAnswer = false
        for database in databases {
            guard let rows = try? await database.run(.one(Self.count, isReadOnly: true))[0] else {
                continue
            }
            hasAnswer = true
            for row in 0..<rows.count {
                guard let kind = rows.text(row, 0), let state = rows.text(row, 1),
                    let count = rows.int64(row, 2)
                else { continue }
                sums[[kind, state], default: 0] += count
            }
        }
        // Without an answer, keep the last values. The metrics of the pool report that the database is unavailable.
        guard hasAnswer else { return }
        for gauge in known.withLock({ Array($0.values) }) { gauge.set(0) }
        for (key, sum) in sums { gauge(kind: key[0], state: key[1]).set(Int(sum)) }
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
