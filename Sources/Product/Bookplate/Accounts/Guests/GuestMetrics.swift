import Postgres
import Telemetry

/// Counts the guests that were created, and those that have ended, by reason.
struct GuestMetrics: Sendable {
    private let created: Counter
    private let ended: [String: Counter]

    init(_ metrics: Metrics) {
        created = metrics.counter("bookplate_guests_created_total", "Guests that were created.")
        var ended: [String: Counter] = [:]
        for reason in ["upgraded", "merged", "inactive"] {
            ended[reason] = metrics.counter(
                "bookplate_guests_ended_total",
                "Guests that became accounts, were merged into accounts, or were deleted because they were inactive.",
                ["reason": reason])
        }
        self.ended = ended
    }

    func countCreated() { created.increment() }

    /// - Parameter outcome: UPGRADED or MERGED.
    func count(_ outcome: String) { ended[outcome.lowercased()]?.increment() }

    func countInactive() { ended["inactive"]?.increment() }
}

/// The gauge of guests. It is read from the database for each request to `/metrics`.
///
/// All servers report the same number. Aggregate it with `max`, not `sum`.
package enum GuestGauge {
    private static let count = Statement("SELECT count_guests()")

    package static func add(to metrics: Metrics, database: ConnectionPool) {
        let guests = metrics.gauge("bookplate_guests", "Guests of all tenants.")
        metrics.beforeReading {
            // After an error the last value stays. The metrics of the pool report that the database is unavailable.
            guard let rows = try? await database.run(.one(count, isReadOnly: true))[0],
                let number = rows.int64(0, 0)
            else { return }
            guests.set(Int(number))
        }
    }
}
