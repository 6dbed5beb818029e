import Testing

@testable import BookSources

/// When a host may be asked: no clock and no socket.
@Suite struct PaceTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }
    private let later = ContinuousClock.now.advanced(by: .seconds(100_000))

    @Test func aBurstGoesAtOnceAndThenAtThePace() {
        var pace = RateLimiter(RateLimit(perSecond: 2, burst: 3), now: start)
        let turns = (0..<6).map { _ in pace.turn(at: start, by: later) }
        let waits = turns.map { $0.map { start.duration(to: $0) / .seconds(1) } }
        #expect(waits == [0, 0, 0, 0.5, 1, 1.5])
    }

    @Test func aRestFillsTheBucketAgainAndNoFurther() {
        var pace = RateLimiter(RateLimit(perSecond: 2, burst: 3), now: start)
        for _ in 0..<3 { _ = pace.turn(at: start, by: later) }
        let turns = (0..<4).map { _ in pace.turn(at: at(60), by: later) }
        #expect(turns == [at(60), at(60), at(60), at(60.5)])
    }

    @Test func aTurnAfterTheDeadlineIsNoneAndCostsNothing() {
        var pace = RateLimiter(RateLimit(perSecond: 1, burst: 1), now: start)
        #expect(pace.turn(at: start, by: later) == start)
        #expect(pace.turn(at: start, by: at(0.5)) == nil)
        #expect(pace.turn(at: start, by: at(1.5)) == at(1))
    }

    @Test func refusalsHoldEverLongerUntilAnAnswer() {
        var pace = RateLimiter(RateLimit(perSecond: 100, burst: 100), now: start)
        var waits: [Double] = []
        for _ in 0..<4 {
            pace.refused(at: start, retryAfter: nil, base: .seconds(1))
            waits.append(start.duration(to: pace.turn(at: start, by: later) ?? start) / .seconds(1))
        }
        #expect(waits == [1, 2, 4, 8])
        pace.answered()
        pace.refused(at: at(100), retryAfter: nil, base: .seconds(1))
        #expect(pace.turn(at: at(100), by: later) == at(101))
    }

    @Test func whatTheHostSaysCounts() {
        var pace = RateLimiter(RateLimit(perSecond: 100, burst: 100), now: start)
        pace.refused(at: start, retryAfter: .seconds(30), base: .seconds(1))
        #expect(pace.turn(at: start, by: at(29)) == nil)
        #expect(pace.turn(at: start, by: at(31)) == at(30))
    }

    @Test func manyRefusalsDoNotOverflow() {
        var pace = RateLimiter(RateLimit(perSecond: 1, burst: 1), now: start)
        for _ in 0..<100 { pace.refused(at: start, retryAfter: nil, base: .seconds(10)) }
        #expect(pace.turn(at: start, by: at(3600)) == at(3600))
    }

    @Test(
        arguments: [
            ("120", 120.0), ("0", 0), ("-1", nil), ("soon", nil), ("99999999999", 86_400),
            ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ] as [(String, Double?)])
    func retryAfterIsSecondsOrADate(text: String, expected: Double?) {
        #expect(SourceClient.retryAfter(text).map { $0 / .seconds(1) } == expected)
    }
}
