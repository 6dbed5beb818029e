import Synchronization

/// The budgets and circuit breakers of all hosts. A process has one, so that all requests to a host share its limits.
package final class SourceLimits: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let make: @Sendable (SourceHost) -> SourceGate
    private let made = Mutex<[SourceHost: SourceGate]>([:])

    /// - Parameters:
    ///   - now: the clock of the circuit breakers and of budgets that are used up.
    ///   - random: from 0 to 1, for the jitter of pauses.
    ///   - onEvent: called when a host is paused and when it answers again.
    package init(
        budget: RequestBudget = .unlimited,
        breaker: CircuitBreaker.Settings = CircuitBreaker.Settings(),
        now: @escaping @Sendable () -> Instant = { .now },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        onEvent: @escaping @Sendable (SourceEvent) -> Void = { _ in }
    ) {
        make = { host in
            SourceGate(
                host, budget: budget, breaker: breaker, now: now, random: random, onEvent: onEvent)
        }
    }

    /// The gate of a host, the same at each call.
    package func gate(of host: SourceHost) -> SourceGate {
        made.withLock { made in
            if let gate = made[host] { return gate }
            let gate = make(host)
            made[host] = gate
            return gate
        }
    }
}

/// A change that an operator should see in the log.
package enum SourceEvent: Sendable, Equatable {
    case circuitOpened(SourceHost, for: Duration)
    case circuitClosed(SourceHost)
    case budgetExhausted(SourceHost, RequestPriority, resetsIn: Duration)
}

/// Collects when failed requests are worth repeating.
package struct FailurePauses: Sendable {
    private var ends: [ContinuousClock.Instant?] = []

    package init() {}

    /// - Parameter end: nil for a failure that was not caused by a pause.
    package mutating func add(_ end: ContinuousClock.Instant?) { ends.append(end) }

    /// The earliest end of a pause; nil where a request failed for another reason, or none failed.
    package var end: ContinuousClock.Instant? {
        let pauses = ends.compactMap { $0 }
        return pauses.count == ends.count ? pauses.min() : nil
    }
}
