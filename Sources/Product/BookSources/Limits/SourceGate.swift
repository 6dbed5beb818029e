import HTTPFetch
import Synchronization

/// The daily budget and the circuit breaker of one host. Every request to the host passes through it.
package final class SourceGate: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package let host: SourceHost
    private let budget: RequestBudget
    private let now: @Sendable () -> Instant
    private let random: @Sendable () -> Double
    private let onEvent: @Sendable (SourceEvent) -> Void
    private let state: Mutex<State>

    fileprivate struct State {
        var breaker: CircuitBreaker
        /// When an exhausted budget is reset.
        var exhaustedUntil: [RequestPriority: Instant] = [:]
        var counts = Counts()
    }

    /// The requests since the start of the process.
    package struct Counts: Sendable, Equatable {
        package var requests = 0
        package var refusedByBudget = 0
        package var refusedByCircuitBreaker = 0
        /// Fields of records that could not be read and were left out.
        package var unreadableFields: [RecordField: Int] = [:]
    }

    /// A timeout counts as a failure of the host only if the caller has allowed at least this time, in which a connection should
    /// be established.
    private static let conclusiveTimeout = Duration.seconds(3)

    init(
        _ host: SourceHost, budget: RequestBudget, breaker: CircuitBreaker.Settings,
        now: @escaping @Sendable () -> Instant, random: @escaping @Sendable () -> Double,
        onEvent: @escaping @Sendable (SourceEvent) -> Void
    ) {
        self.host = host
        self.budget = budget
        self.now = now
        self.random = random
        self.onEvent = onEvent
        state = Mutex(State(breaker: CircuitBreaker(breaker)))
    }

    package var counts: Counts { state.withLock { $0.counts } }

    package var circuit: CircuitBreaker.State { state.withLock { $0.breaker.state } }

    /// The instant until which requests of this priority are refused. nil if the next one may be sent.
    package func pausedUntil(_ priority: RequestPriority) -> Instant? {
        let now = now()
        return state.withLock { state in
            let ends = [
                state.breaker.refusesUntil(at: now, priority),
                state.exhaustedUntil[priority].flatMap { $0 > now ? $0 : nil },
            ]
            return ends.compactMap { $0 }.max()
        }
    }

    func recordUnreadable(_ field: RecordField) {
        state.withLock { $0.counts.unreadableFields[field, default: 0] += 1 }
    }

    /// Throws an error if `perform` would fail immediately, so that the caller does not wait for the rate limit first.
    func check(_ priority: RequestPriority) throws(SourceError) {
        let now = now()
        let refusal = state.withLock { state -> SourceError? in
            if state.breaker.refusesUntil(at: now, priority) != nil {
                return state.refuse(.circuitOpen)
            }
            return state.isExhausted(priority, at: now) ? state.refuse(.budgetExhausted) : nil
        }
        if let refusal { throw refusal }
    }

    /// Sends a request. It is counted against the budget, and its result is recorded in the circuit breaker.
    package func perform(
        _ options: CallOptions,
        _ request: @Sendable () async throws(FetchError) -> FetchResponse
    ) async throws(SourceError) -> FetchResponse {
        let admission = try admit(options.priority)
        switch await budget.take(host, options.priority) {
        case .granted: break
        case .exhausted(let resetsIn):
            record(.unknown, of: admission)
            exhausted(options.priority, resetsIn)
            throw .budgetExhausted
        case .unknown:
            record(.unknown, of: admission)
            throw .budgetUnknown
        }
        state.withLock { $0.counts.requests += 1 }
        let allowed = ContinuousClock.now.duration(to: options.deadline)
        do throws(FetchError) {
            let response = try await request()
            record(.reached, of: admission)
            return response
        } catch {
            record(Self.outcome(of: error, allowed: allowed), of: admission)
            throw .unreachable(error)
        }
    }

    private func admit(_ priority: RequestPriority) throws(SourceError) -> CircuitBreaker.Admission
    {
        let now = now()
        let (admission, refusal) = state.withLock {
            state -> (CircuitBreaker.Admission, SourceError?) in
            if state.isExhausted(priority, at: now) {
                return (.refused, state.refuse(.budgetExhausted))
            }
            let admission = state.breaker.admit(at: now, priority)
            return (admission, admission == .refused ? state.refuse(.circuitOpen) : nil)
        }
        if let refusal { throw refusal }
        return admission
    }

    private func exhausted(_ priority: RequestPriority, _ resetsIn: Duration) {
        let now = now()
        let isNew = state.withLock { state in
            let isNew = !state.isExhausted(priority, at: now)
            state.exhaustedUntil[priority] = now.advanced(by: resetsIn)
            _ = state.refuse(.budgetExhausted)
            return isNew
        }
        if isNew { onEvent(.budgetExhausted(host, priority, resetsIn: resetsIn)) }
    }

    private func record(
        _ outcome: CircuitBreaker.Outcome, of admission: CircuitBreaker.Admission
    ) {
        let (now, random) = (now(), random())
        let event = state.withLock { state -> SourceEvent? in
            let before = state.breaker.state
            state.breaker.record(outcome, of: admission, at: now, random: random)
            switch (before, state.breaker.state) {
            case (.closed, .open(let end)), (.halfOpen, .open(let end)):
                return end > now ? .circuitOpened(host, for: now.duration(to: end)) : nil
            case (.open, .closed), (.halfOpen, .closed): return .circuitClosed(host)
            default: return nil
            }
        }
        if let event { onEvent(event) }
    }

    private static func outcome(
        of error: FetchError, allowed: Duration
    ) -> CircuitBreaker.Outcome {
        switch error {
        case .hostNotFound, .connectionFailed, .tlsFailed, .interrupted: .unreachable
        case .timedOut: allowed >= conclusiveTimeout ? .unreachable : .unknown
        case .tooLarge, .tooManyRedirects, .redirectRefused, .movedAway, .notHTTP: .reached
        case .invalidURL, .invalidRequest, .addressRefused, .cancelled, .overloaded, .failed:
            .unknown
        }
    }
}

extension SourceGate.State {
    fileprivate func isExhausted(_ priority: RequestPriority, at now: SourceGate.Instant) -> Bool {
        exhaustedUntil[priority].map { $0 > now } ?? false
    }

    /// Counts a refusal.
    fileprivate mutating func refuse(_ error: SourceError) -> SourceError {
        if error == .budgetExhausted {
            counts.refusedByBudget += 1
        } else {
            counts.refusedByCircuitBreaker += 1
        }
        return error
    }
}
