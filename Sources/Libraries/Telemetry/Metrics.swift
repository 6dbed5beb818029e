import Synchronization

/// All metrics of a process, for `/metrics`. Create one per process, and create the instruments at startup.
///
/// swift-metrics is not used: its indirection through a factory serves libraries, and an exporter would be
/// needed as well. Incrementing a counter here is one atomic addition.
package final class Metrics: Sendable {
    private let families = Mutex<[String: Family]>([:])
    private let updates = Mutex<[@Sendable () async -> Void]>([])

    package init() {}

    /// Returns a counter, whose value only grows. The same name and labels return the same counter.
    ///
    /// - Parameters:
    ///   - name: The name by Prometheus's conventions, for example `bookplate_covers_fetched_total`.
    ///   - help: A sentence that describes the metric.
    ///   - labels: Names and values from fixed sets. Clients must not be able to influence them.
    package func counter(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Counter {
        instrument(name, help, labels, make: Counter.init)
    }

    /// Returns a gauge, whose value can go up and down.
    package func gauge(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Gauge {
        instrument(name, help, labels, make: Gauge.init)
    }

    /// Returns a histogram of durations with buckets from half a millisecond to ten seconds. End its name with
    /// `_duration_seconds`.
    package func histogram(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Histogram {
        instrument(name, help, labels, make: Histogram.init)
    }

    /// Registers a function that runs before each reading, for gauges that are not updated otherwise.
    package func beforeReading(_ update: @escaping @Sendable () async -> Void) {
        updates.withLock { $0.append(update) }
    }

    /// Returns all metrics in Prometheus's text format 0.0.4, sorted by name.
    ///
    /// Format: https://prometheus.io/docs/instrumenting/exposition_formats/
    package func text() async -> String {
        for update in updates.withLock({ $0 }) { await update() }
        return families.withLock { families in
            families.sorted { $0.key < $1.key }.map { $0.value.text($0.key) }.joined()
        }
    }

    private func instrument<Kind: Instrument>(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String>, make: () -> Kind
    ) -> Kind {
        let labels = labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
        return families.withLock { families in
            var family = families[name] ?? Family(kind: Kind.kind, help: help)
            if let known = family.members[labels] as? Kind { return known }
            // Two kinds under one name are a programming error that would corrupt the output.
            precondition(family.kind == Kind.kind, "\(name) already exists as a \(family.kind)")
            let made = make()
            family.members[labels] = made
            families[name] = family
            return made
        }
    }
}

/// The instruments that share a name, by their labels.
private struct Family {
    let kind: String
    let help: String
    var members: [String: any Instrument] = [:]

    func text(_ name: String) -> String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for (labels, member) in members.sorted(by: { $0.key < $1.key }) {
            text += member.text(name, labels)
        }
        return text
    }
}

private func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
}
