import Synchronization

/// The budgets and circuit breakers of all hosts. There is one per process, so that all requests to a host share its limits.
package final class SourceLimits: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let make: @Sendable (SourceHost) -> SourceGate
    private let made = Mutex<[SourceHost: SourceGate]>([:])

    /// - Parameters:
    ///   - now: The clock for pauses of circuit breakers and for the reset of budgets.
    ///   - random: Returns a number from 0 to 1 for the jitter of pauses.
    ///   - onEvent: Called when a host is paused and when it responds again.
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

    /// Returns the gate of a host, which is created at the first call.
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

/// Determines when a retry is useful after several requests have failed.
package struct FailurePauses: Sendable {
    private var ends: [ContinuousClock.Instant?] = []

    package init() {}

    /// Adds a failed request.
    ///
    /// - Parameter end: The end of the pause that caused the failure. nil if the failure has another cause.
    package mutating func add(_ end: ContinuousClock.Instant?) { ends.append(end) }

    /// The earliest end of a pause. nil if a request failed for another reason, or if none failed.
    package var end: ContinuousClock.Instant? {
        let pauses = ends.compactMap { $0 }
        return pauses.count == ends.count ? pauses.min() : nil
    }
}
