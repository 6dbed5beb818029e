import BookSources
import Postgres
import Telemetry

extension Metrics {
    /// Reports requests to external sources, their budgets, and their circuit breakers.
    ///
    /// The gauges of budgets are read from the database at each scrape. All servers share the budgets and report the
    /// same numbers, so use the maximum and not the sum.
    package func report(
        _ limits: SourceLimits, _ budgets: [SourceHost: Int], database: ConnectionPool
    ) {
        let hosts = SourceHost.allCases.map { HostInstruments($0, limits, budgets, self) }
        beforeReading {
            for host in hosts { host.update() }
            let usage: [SourceHost: SourceUsage]
            do throws(PostgresError) {
                let rows = try await database.run(
                    .one(SourceUsage.today.statement, isReadOnly: true))
                usage = SourceUsage.byHost(rows[0].decode())
            } catch {
                return  // The gauges keep their last values.
            }
            for host in hosts { host.used?.set(usage[host.gate.host]?.used ?? 0) }
        }
    }
}

/// The instruments of one host.
private struct HostInstruments: Sendable {
    let gate: SourceGate
    private let requests: Counter
    private let refusedByBudget: Counter
    private let refusedByCircuitBreaker: Counter
    /// Empty for hosts that have no records.
    private let unreadable: [RecordField: Counter]
    private let circuit: Gauge
    /// Nil if the host has no budget.
    let used: Gauge?

    init(
        _ host: SourceHost, _ limits: SourceLimits, _ budgets: [SourceHost: Int],
        _ metrics: Metrics
    ) {
        gate = limits.gate(of: host)
        // The other metrics of sources use this spelling.
        let name = host.rawValue.replacing("-", with: "_")
        requests = metrics.counter(
            "bookplate_source_requests_total", "Requests sent to external sources.",
            ["source": name])
        func refusals(_ reason: String) -> Counter {
            metrics.counter(
                "bookplate_source_refusals_total",
                "Requests to external sources that were not sent, by reason.",
                ["source": name, "reason": reason])
        }
        refusedByBudget = refusals("budget")
        refusedByCircuitBreaker = refusals("circuit_breaker")
        let hasRecords = [.openLibrary, .googleBooks, .isbnDB].contains(host)
        unreadable = Dictionary(
            uniqueKeysWithValues: (hasRecords ? RecordField.allCases : []).map { field in
                (
                    field,
                    metrics.counter(
                        "bookplate_source_unreadable_fields_total",
                        "Fields of external sources' records that were left out because they could not be read.",
                        ["source": name, "field": field.rawValue])
                )
            })
        circuit = metrics.gauge(
            "bookplate_source_circuit_state",
            "Circuit breakers of external sources: 0 closed, 1 half-open, 2 open.",
            ["source": name])
        guard let budget = budgets[host] else {
            used = nil
            return
        }
        used = metrics.gauge(
            "bookplate_source_budget_used",
            "Requests of today's budget that all servers have reserved.", ["source": name])
        metrics.gauge(
            "bookplate_source_budget_limit",
            "Maximum number of requests to external sources per UTC day.",
            ["source": name]
        ).set(budget)
    }

    func update() {
        let counts = gate.counts
        requests.set(counts.requests)
        refusedByBudget.set(counts.refusedByBudget)
        refusedByCircuitBreaker.set(counts.refusedByCircuitBreaker)
        for (field, count) in counts.unreadableFields { unreadable[field]?.set(count) }
        switch gate.circuit {
        case .closed: circuit.set(0)
        case .halfOpen: circuit.set(1)
        case .open: circuit.set(2)
        }
    }
}
