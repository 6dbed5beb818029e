import Basics
import Testing

@testable import BookSources

/// Tests of the rate limiters without a clock and without a socket.
@Suite struct RateLimiterTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    /// A limiter as a class, whose methods can be called in an expectation.
    private final class Limiter {
        private var limiter: RateLimiter

        init(_ limit: RateLimit, now: ContinuousClock.Instant) {
            limiter = RateLimiter(limit, now: now)
        }

        func take(_ priority: RequestPriority, at now: ContinuousClock.Instant) -> Bool {
            limiter.take(priority, at: now)
        }

        func start(
            ofRequest number: Int, _ priority: RequestPriority, at now: ContinuousClock.Instant
        ) -> ContinuousClock.Instant {
            limiter.start(ofRequest: number, priority, at: now)
        }

        func isFull(at now: ContinuousClock.Instant) -> Bool { limiter.isFull(at: now) }
        func recordResponse() { limiter.recordResponse() }

        func recordRefusal(
            at now: ContinuousClock.Instant, retryAfter: Duration?, base: Duration
        ) {
            limiter.recordRefusal(at: now, retryAfter: retryAfter, base: base)
        }
    }

    private func limiter(_ perSecond: Double, burst: Double) -> Limiter {
        Limiter(RateLimit(perSecond: perSecond, burst: burst), now: start)
    }

    @Test func allowsABurstAndThenTheRate() {
        let limiter = limiter(2, burst: 3)
        let starts = (1...6).map { limiter.start(ofRequest: $0, .interactive, at: start) }
        #expect(starts.map { start.duration(to: $0) / .seconds(1) } == [0, 0, 0, 0.5, 1, 1.5])
        let taken = (0..<4).map { _ in limiter.take(.interactive, at: start) }
        #expect(taken == [true, true, true, false])
        #expect(!limiter.take(.interactive, at: at(0.4)))
        #expect(limiter.take(.interactive, at: at(0.5)))
    }

    @Test func refillsTheBucketUpToTheBurst() {
        let limiter = limiter(2, burst: 3)
        for _ in 0..<3 { _ = limiter.take(.interactive, at: start) }
        #expect(!limiter.isFull(at: at(1)))
        #expect(limiter.isFull(at: at(1.5)))
        let taken = (0..<4).map { _ in limiter.take(.interactive, at: at(60)) }
        #expect(taken == [true, true, true, false])
    }

    /// Half of the burst stays for readers, however many background requests there are.
    @Test(arguments: [(1, 1), (2, 1), (5, 3), (20, 10), (40, 20)])
    func backgroundWorkLeavesHalfOfTheBurst(burst: Double, taken: Int) {
        let limiter = limiter(1, burst: burst)
        #expect((0..<100).count { _ in limiter.take(.background, at: start) } == taken)
        let left = (0..<100).count { _ in limiter.take(.interactive, at: start) }
        #expect(left == Int(burst) - taken)
        // Readers have used up the reserve, so background work waits until it is there again.
        let reserve = RateLimit(perSecond: 1, burst: burst).reserve(.background)
        #expect(limiter.start(ofRequest: 1, .background, at: start) == at(1 + reserve))
    }

    @Test func doublesPausesUntilAResponse() {
        let limiter = limiter(100, burst: 100)
        var waits: [Double] = []
        for _ in 0..<4 {
            limiter.recordRefusal(at: start, retryAfter: nil, base: .seconds(1))
            let next = limiter.start(ofRequest: 1, .interactive, at: start)
            waits.append(start.duration(to: next) / .seconds(1))
        }
        #expect(waits == [1, 2, 4, 8])
        limiter.recordResponse()
        limiter.recordRefusal(at: at(100), retryAfter: nil, base: .seconds(1))
        #expect(limiter.start(ofRequest: 1, .interactive, at: at(100)) == at(101))
    }

    @Test func obeysRetryAfter() {
        let limiter = limiter(100, burst: 100)
        limiter.recordRefusal(at: start, retryAfter: .seconds(30), base: .seconds(1))
        #expect(!limiter.take(.interactive, at: at(29)))
        #expect(limiter.take(.interactive, at: at(30)))
    }

    @Test func doesNotOverflowAfterManyRefusals() {
        let limiter = limiter(1, burst: 1)
        for _ in 0..<100 { limiter.recordRefusal(at: start, retryAfter: nil, base: .seconds(10)) }
        #expect(limiter.start(ofRequest: 1, .interactive, at: start) == at(3600))
    }

    /// One reader's searches use up half of the limit, so another reader can still search.
    @Test func searchesOfOneReaderLeaveSomeToTheOthers() {
        let (one, other) = (UUID(high: 0, low: 1), UUID(high: 0, low: 2))
        var limiter = SearchLimiter(now: start)
        var searches: [Int] = []
        for reader in [one, other, UUID(high: 0, low: 3)] {
            searches.append((0..<100).count { _ in limiter.take(for: reader, at: start) })
        }
        #expect(searches == [8, 8, 0])
        #expect(limiter.readerCount == 2)
        // The limits of readers who have not searched for a while are forgotten.
        let isAllowed = limiter.take(for: other, at: at(32))
        #expect(isAllowed && limiter.readerCount == 1)
    }
}
