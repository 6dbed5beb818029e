import Testing

@testable import BookSources

/// Tests of the states of a circuit breaker without a clock and without a socket.
@Suite struct CircuitBreakerTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    private var breaker = CircuitBreaker(
        .init(failuresMax: 3, pauseMin: .seconds(10), pauseMax: .seconds(60)))

    private mutating func fail(at now: ContinuousClock.Instant, random: Double = 1) {
        let admission = breaker.admit(at: now)
        breaker.record(.unreachable, of: admission, at: now, random: random)
    }

    @Test mutating func opensAfterConsecutiveFailuresOnly() {
        for _ in 0..<2 { fail(at: start) }
        breaker.record(.reached, of: breaker.admit(at: start), at: start, random: 1)
        for _ in 0..<2 { fail(at: start) }
        #expect(breaker.state == .closed(failures: 2))
        #expect(breaker.refusesUntil(at: start) == nil)
        fail(at: start)
        #expect(breaker.state == .open(until: at(10)))
        #expect(breaker.refusesUntil(at: at(9)) == at(10))
        #expect(breaker.admit(at: at(9)) == .refused)
    }

    @Test mutating func sendsOneProbeAfterThePause() {
        for _ in 0..<3 { fail(at: start) }
        #expect(breaker.refusesUntil(at: at(10)) == nil)
        #expect(breaker.admit(at: at(10)) == .probe)
        #expect(breaker.admit(at: at(11)) == .refused)
        #expect(breaker.refusesUntil(at: at(11)) == at(20))
        breaker.record(.reached, of: .probe, at: at(12), random: 1)
        #expect(breaker.state == .closed(failures: 0))
        #expect(breaker.admit(at: at(12)) == .allowed)
    }

    /// A reader does not wait for a probe of background work, which has a long deadline.
    @Test mutating func sendsAReadersProbeBesideOneOfBackgroundWork() {
        for _ in 0..<3 { fail(at: start) }
        #expect(breaker.admit(at: at(10), .background) == .probe)
        #expect(breaker.refusesUntil(at: at(11), .background) == at(20))
        #expect(breaker.admit(at: at(11), .background) == .refused)
        #expect(breaker.refusesUntil(at: at(11), .interactive) == nil)
        #expect(breaker.admit(at: at(11), .interactive) == .probe)
        #expect(breaker.admit(at: at(11), .interactive) == .refused)
        breaker.record(.reached, of: .probe, at: at(12), random: 1)
        breaker.record(.unreachable, of: .probe, at: at(19), random: 1)
        #expect(breaker.state == .closed(failures: 1))
    }

    @Test mutating func doublesPausesUpToALimitUntilASuccess() {
        for _ in 0..<3 { fail(at: start) }
        var now = at(10)
        var pauses: [Double] = []
        for _ in 0..<5 {
            fail(at: now)
            guard case .open(let end) = breaker.state else { break }
            pauses.append(now.duration(to: end) / .seconds(1))
            now = end
        }
        #expect(pauses == [20, 40, 60, 60, 60])
        breaker.record(.reached, of: breaker.admit(at: now), at: now, random: 1)
        for _ in 0..<3 { fail(at: now) }
        #expect(breaker.state == .open(until: now.advanced(by: .seconds(10))))
    }

    @Test(arguments: [(0.0, 5.0), (0.5, 7.5), (1, 10)])
    func jitterShortensThePauseByUpToHalf(random: Double, seconds: Double) {
        var breaker = breaker
        for _ in 0..<3 {
            breaker.record(.unreachable, of: breaker.admit(at: start), at: start, random: random)
        }
        #expect(breaker.state == .open(until: at(seconds)))
    }

    /// A cancelled probe has no conclusive result, so the next request becomes the probe.
    @Test mutating func repeatsAnInconclusiveProbe() {
        for _ in 0..<3 { fail(at: start) }
        #expect(breaker.admit(at: at(10)) == .probe)
        breaker.record(.unknown, of: .probe, at: at(11), random: 1)
        #expect(breaker.admit(at: at(11)) == .probe)
    }

    @Test mutating func closesButNeverOpensOnResultsOfEarlierRequests() {
        for _ in 0..<3 { fail(at: start) }
        breaker.record(.unreachable, of: .allowed, at: at(1), random: 1)
        #expect(breaker.state == .open(until: at(10)))
        #expect(breaker.admit(at: at(10)) == .probe)
        breaker.record(.unreachable, of: .allowed, at: at(10), random: 1)
        #expect(breaker.state == .halfOpen(since: at(10)))
        breaker.record(.reached, of: .allowed, at: at(11), random: 1)
        #expect(breaker.state == .closed(failures: 0))
    }
}
