import Testing

@testable import BookSources

/// Tests of the rate limiter without a clock and without a socket.
@Suite struct RateLimiterTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }
    private let later = ContinuousClock.now.advanced(by: .seconds(100_000))

    @Test func allowsABurstAndThenTheRate() {
        var limiter = RateLimiter(RateLimit(perSecond: 2, burst: 3), now: start)
        let starts = (0..<6).map { _ in limiter.reserve(at: start, by: later) }
        let waits = starts.map { $0.map { start.duration(to: $0) / .seconds(1) } }
        #expect(waits == [0, 0, 0, 0.5, 1, 1.5])
    }

    @Test func refillsTheBucketUpToTheBurst() {
        var limiter = RateLimiter(RateLimit(perSecond: 2, burst: 3), now: start)
        for _ in 0..<3 { _ = limiter.reserve(at: start, by: later) }
        let starts = (0..<4).map { _ in limiter.reserve(at: at(60), by: later) }
        #expect(starts == [at(60), at(60), at(60), at(60.5)])
    }

    @Test func reservesNothingAfterTheDeadline() {
        var limiter = RateLimiter(RateLimit(perSecond: 1, burst: 1), now: start)
        #expect(limiter.reserve(at: start, by: later) == start)
        #expect(limiter.reserve(at: start, by: at(0.5)) == nil)
        #expect(limiter.reserve(at: start, by: at(1.5)) == at(1))
    }

    @Test func doublesPausesUntilAResponse() {
        var limiter = RateLimiter(RateLimit(perSecond: 100, burst: 100), now: start)
        var waits: [Double] = []
        for _ in 0..<4 {
            limiter.recordRefusal(at: start, retryAfter: nil, base: .seconds(1))
            waits.append(
                start.duration(to: limiter.reserve(at: start, by: later) ?? start) / .seconds(1))
        }
        #expect(waits == [1, 2, 4, 8])
        limiter.recordResponse()
        limiter.recordRefusal(at: at(100), retryAfter: nil, base: .seconds(1))
        #expect(limiter.reserve(at: at(100), by: later) == at(101))
    }

    @Test func obeysRetryAfter() {
        var limiter = RateLimiter(RateLimit(perSecond: 100, burst: 100), now: start)
        limiter.recordRefusal(at: start, retryAfter: .seconds(30), base: .seconds(1))
        #expect(limiter.reserve(at: start, by: at(29)) == nil)
        #expect(limiter.reserve(at: start, by: at(31)) == at(30))
    }

    @Test func doesNotOverflowAfterManyRefusals() {
        var limiter = RateLimiter(RateLimit(perSecond: 1, burst: 1), now: start)
        for _ in 0..<100 { limiter.recordRefusal(at: start, retryAfter: nil, base: .seconds(10)) }
        #expect(limiter.reserve(at: start, by: at(3600)) == at(3600))
    }
}
