import Synchronization

/// Everything that one process counts, for `/metrics`. One for the process; instruments are made at start and kept.
///
/// Why not swift-metrics: nothing here is a library, so its indirection through a factory would buy nothing, and an
/// exporter would have to be written all the same. An increment is one atomic addition.
package final class Metrics: Sendable {
    private let families = Mutex<[String: Family]>([:])
    private let updates = Mutex<[@Sendable () async -> Void]>([])

    package init() {}

    /// A number that only grows. Asked for again with the same labels it is the same counter.
    ///
    /// - Parameters:
    ///   - name: as Prometheus has it: `bookplate_covers_fetched_total`, the unit last but for `_total`.
    ///   - help: a sentence.
    ///   - labels: from closed sets: nothing that a stranger chooses.
    package func counter(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Counter {
        instrument(name, help, labels, make: Counter.init)
    }

    /// A number that goes up and down.
    package func gauge(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Gauge {
        instrument(name, help, labels, make: Gauge.init)
    }

    /// How long something took, in buckets from half a millisecond to ten seconds; name it `…_duration_seconds`.
    package func histogram(
        _ name: String, _ help: String, _ labels: KeyValuePairs<String, String> = [:]
    ) -> Histogram {
        instrument(name, help, labels, make: Histogram.init)
    }

    /// Runs before each reading, to set gauges that nobody keeps up to date.
    package func beforeReading(_ update: @escaping @Sendable () async -> Void) {
        updates.withLock { $0.append(update) }
    }

    /// All of it in Prometheus' text format 0.0.4, families by name.
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
            // Two kinds under one name are a mistake of ours that a reader of /metrics would be misled by.
            precondition(family.kind == Kind.kind, "\(name) is a \(family.kind) already")
            let made = make()
            family.members[labels] = made
            families[name] = family
            return made
        }
    }
}

/// The instruments of one name, by their labels.
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
