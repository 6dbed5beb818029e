import Postgres
import Telemetry

/// Counts the attempts to send events to webhooks, by their outcome.
struct WebhookMetrics: Sendable {
    private let attempts: [String: Counter]

    init(_ metrics: Metrics) {
        var attempts: [String: Counter] = [:]
        for outcome in ["delivered", "failed", "dead", "disabled"] {
            attempts[outcome] = metrics.counter(
                "bookplate_webhook_attempts_total", "Attempts to send events to webhooks.",
                ["outcome": outcome])
        }
        self.attempts = attempts
    }

    /// - Parameter outcome: A result of `settle_webhook_delivery`.
    func count(_ outcome: String) { attempts[outcome]?.increment() }
}

/// The gauges of webhooks and their deliveries. They are read from the database for each request to `/metrics`.
///
/// All servers report the same numbers. Aggregate them with `max`, not `sum`.
package enum WebhookGauges {
    private static let count = Statement(
        "SELECT enabled, paused, disabled, waiting, dead, oldest_seconds FROM count_webhooks()")

    package static func add(to metrics: Metrics, database: ConnectionPool) {
        let states = ["enabled", "paused", "disabled"].map {
            metrics.gauge("bookplate_webhooks", "Webhooks of all tenants, by state.", ["state": $0])
        }
        let deliveries = ["waiting", "dead"].map {
            metrics.gauge(
                "bookplate_webhook_deliveries", "Events for webhooks that were not delivered.",
                ["state": $0])
        }
        let oldest = metrics.gauge(
            "bookplate_webhook_oldest_seconds",
            "The age of the oldest event that waits for its delivery to an enabled webhook.")
        metrics.beforeReading {
            // After an error the last values stay. The metrics of the pool report that the database is unavailable.
            guard let rows = try? await database.run(.one(count, isReadOnly: true))[0] else {
                return
            }
            for (column, gauge) in (states + deliveries + [oldest]).enumerated() {
                if let number = rows.int64(0, column) { gauge.set(Int(number)) }
            }
        }
    }
}
