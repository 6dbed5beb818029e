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
    private var isOverloaded = false

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

    /// The end of a hold that the host's overload has caused; nil where there is none.
    func overloadedUntil(at now: Instant) -> Instant? {
        isOverloaded && heldUntil > now ? heldUntil : nil
    }

    /// Notes a response. The next refusal starts with the shortest hold again.
    mutating func answered() {
        refusals = 0
        isOverloaded = false
    }

    /// Notes a refusal. No request is sent until the hold ends.
    ///
    /// - Parameters:
    ///   - retryAfter: the hold that the host has asked for; nil for `base`, doubled with each refusal in a row, at most an hour.
    ///   - isOverload: whether the refusal ends by itself. A wrong key does not.
    mutating func refused(
        at now: Instant, retryAfter: Duration?, base: Duration, isOverload: Bool = false
    ) {
        isOverloaded = isOverload
        let hold = retryAfter ?? min(base * (1 << min(refusals, 12)), .seconds(3600))
        refusals += 1
        heldUntil = max(heldUntil, now.advanced(by: min(hold, .seconds(86_400))))
    }
}
