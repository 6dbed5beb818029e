/// How often one host may be asked.
package struct RateLimit: Sendable {
    package var perSecond: Double
    /// As many may go at once after a rest.
    package var burst: Double

    package init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// When the next request to a host may go: a token bucket that a refusal holds shut.
///
/// A turn is given out before its time and the caller waits for it, so nothing queues here.
struct RequestPace {
    typealias Instant = ContinuousClock.Instant

    private let limit: RateLimit
    private var tokens: Double
    private var countedAt: Instant
    private var heldUntil: Instant
    private var refusals = 0

    init(_ limit: RateLimit, now: Instant) {
        self.limit = limit
        tokens = limit.burst
        countedAt = now
        heldUntil = now
    }

    /// When the caller may go; nil, and no turn is used up, where that is later than `deadline`.
    mutating func turn(at now: Instant, by deadline: Instant) -> Instant? {
        let elapsed = countedAt.duration(to: now) / .seconds(1)
        tokens = min(limit.burst, tokens + max(0, elapsed) * limit.perSecond)
        countedAt = max(countedAt, now)
        let wait = tokens >= 1 ? 0 : (1 - tokens) / limit.perSecond
        let turn = max(now, heldUntil).advanced(by: .seconds(wait))
        guard turn <= deadline else { return nil }
        tokens -= 1
        return turn
    }

    /// It answered: the next refusal starts from the beginning.
    mutating func answered() { refusals = 0 }

    /// It refused: nobody asks until what it said, or ever longer (`base` doubled each time, to an hour).
    mutating func refused(at now: Instant, retryAfter: Duration?, base: Duration) {
        let hold = retryAfter ?? min(base * (1 << min(refusals, 12)), .seconds(3600))
        refusals += 1
        heldUntil = max(heldUntil, now.advanced(by: min(hold, .seconds(86_400))))
    }
}
