import Synchronization

/// The value of one metric with one set of labels; thread-safe.
protocol Instrument: Sendable {
    static var kind: String { get }
    /// Returns the value's lines in Prometheus's text format.
    func text(_ name: String, _ labels: String) -> String
}

package final class Counter: Instrument {
    static let kind = "counter"
    private let value = Atomic(0)

    init() {}

    package func increment(by count: Int = 1) { value.add(count, ordering: .relaxed) }

    package var count: Int { value.load(ordering: .relaxed) }

    /// Sets a count that is kept elsewhere. Call it only from `Metrics.beforeReading`.
    package func set(_ count: Int) { value.store(count, ordering: .relaxed) }

    func text(_ name: String, _ labels: String) -> String { line(name, labels, "\(count)") }
}

package final class Gauge: Instrument {
    static let kind = "gauge"
    private let value = Atomic(0)

    init() {}

    package func set(_ number: Int) { value.store(number, ordering: .relaxed) }
    package func add(_ number: Int) { value.add(number, ordering: .relaxed) }

    func text(_ name: String, _ labels: String) -> String {
        line(name, labels, "\(value.load(ordering: .relaxed))")
    }
}

package final class Histogram: Instrument {
    static let kind = "histogram"
    /// The buckets' upper bounds in microseconds, and the same in seconds as text.
    private static let bounds: [(microseconds: Int, seconds: String)] = [
        (500, "0.0005"), (1000, "0.001"), (2500, "0.0025"), (5000, "0.005"), (10_000, "0.01"),
        (25_000, "0.025"), (50_000, "0.05"), (100_000, "0.1"), (250_000, "0.25"), (500_000, "0.5"),
        (1_000_000, "1"), (2_500_000, "2.5"), (5_000_000, "5"), (10_000_000, "10"),
    ]

    /// Bucket i counts the values above bound i - 1 up to bound i. The last one counts those above all bounds.
    private let buckets: [Bucket]
    private let nanoseconds = Atomic(0)

    private final class Bucket: Sendable {
        let count = Atomic(0)
    }

    init() { buckets = (0...Self.bounds.count).map { _ in Bucket() } }

    package func observe(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        self.nanoseconds.add(nanoseconds, ordering: .relaxed)
        let index = Self.bounds.firstIndex { nanoseconds <= $0.microseconds * 1000 }
        buckets[index ?? Self.bounds.count].count.add(1, ordering: .relaxed)
    }

    func text(_ name: String, _ labels: String) -> String {
        var text = ""
        var count = 0
        let bounds = Self.bounds.map(\.seconds) + ["+Inf"]
        for (bucket, bound) in zip(buckets, bounds) {
            count += bucket.count.load(ordering: .relaxed)
            let all = (labels.isEmpty ? "" : labels + ",") + "le=\"\(bound)\""
            text += line("\(name)_bucket", all, "\(count)")
        }
        let sum = Double(nanoseconds.load(ordering: .relaxed)) / 1e9
        return text + line("\(name)_sum", labels, "\(sum)")
            + line("\(name)_count", labels, "\(count)")
    }
}

private func line(_ name: String, _ labels: String, _ value: String) -> String {
    labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
}
