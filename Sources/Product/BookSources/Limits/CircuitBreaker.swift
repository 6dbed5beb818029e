/// A circuit breaker: refuses requests to a host that cannot be reached, so that callers do not wait for timeouts.
///
/// - Closed: requests are sent. `failuresMax` connection failures in a row open it.
/// - Open: requests are refused until a pause has ended. The pause doubles with each opening in a row, from `pauseMin` to
///   `pauseMax`, and is shortened at random by up to half.
/// - Half-open: the first request after the pause is sent as a probe, and the others are refused until it ends. If it is background
///   work, the first request of a reader is another probe. A response, whatever its status, closes the breaker. A connection failure
///   opens it for a longer pause.
///
/// A request that was sent before the breaker opened and succeeds afterwards closes it; one that fails changes nothing.
package struct CircuitBreaker: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package struct Settings: Sendable {
        package var failuresMax: Int
        package var pauseMin: Duration
        package var pauseMax: Duration

        package init(
            failuresMax: Int = 5, pauseMin: Duration = .seconds(10),
            pauseMax: Duration = .seconds(300)
        ) {
            self.failuresMax = failuresMax
            self.pauseMin = pauseMin
            self.pauseMax = pauseMax
        }
    }

    package enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Instant)
        case halfOpen(since: Instant)
    }

    enum Admission: Equatable {
        case allowed
        case probe
        case refused
    }

    enum Outcome {
        /// The host sent a response.
        case reached
        case unreachable
        /// The request was inconclusive, for example because it was cancelled.
        case unknown
    }

    /// How long a probe is expected to take. Callers should retry after that.
    private static let probeDuration = Duration.seconds(10)

    private let settings: Settings
    package private(set) var state = State.closed(failures: 0)
    /// The number of times that the breaker has opened since it was last closed.
    private var openings = 0
    /// The priority of the last probe.
    private var probePriority = RequestPriority.interactive

    init(_ settings: Settings) { self.settings = settings }

    /// The instant until which requests are refused. nil if the next one is sent.
    func refusesUntil(
        at now: Instant, _ priority: RequestPriority = .interactive
    ) -> Instant? {
        switch state {
        case .closed: nil
        case .open(let end): end > now ? end : nil
        case .halfOpen where isProbe(priority): nil
        case .halfOpen(let start):
            max(start.advanced(by: Self.probeDuration), now.advanced(by: .seconds(1)))
        }
    }

    /// Whether a request is a probe although another one is in progress.
    private func isProbe(_ priority: RequestPriority) -> Bool {
        priority == .interactive && probePriority == .background
    }

    /// Admits one request. Each admitted request must be followed by `record`.
    mutating func admit(at now: Instant, _ priority: RequestPriority = .interactive) -> Admission {
        switch state {
        case .closed: return .allowed
        case .halfOpen:
            guard isProbe(priority) else { return .refused }
        case .open(let end):
            guard end <= now else { return .refused }
            state = .halfOpen(since: now)
        }
        probePriority = priority
        return .probe
    }

    /// - Parameters:
    ///   - random: A number from 0 to 1 that distributes the probes of several servers over time.
    mutating func record(
        _ outcome: Outcome, of admission: Admission, at now: Instant, random: Double
    ) {
        switch (outcome, state) {
        case (.reached, _):
            state = .closed(failures: 0)
            openings = 0
        case (.unreachable, .closed(let failures)):
            if failures + 1 < settings.failuresMax {
                state = .closed(failures: failures + 1)
            } else {
                open(at: now, random: random)
            }
        case (.unreachable, .halfOpen) where admission == .probe: open(at: now, random: random)
        // The probe had no conclusive result, so the next request becomes the probe.
        case (.unknown, .halfOpen) where admission == .probe: state = .open(until: now)
        case (.unreachable, _), (.unknown, _): break
        }
    }

    private mutating func open(at now: Instant, random: Double) {
        let pause = min(settings.pauseMin * (1 << min(openings, 20)), settings.pauseMax)
        openings += 1
        state = .open(until: now.advanced(by: pause * (0.5 + random / 2)))
    }
}
