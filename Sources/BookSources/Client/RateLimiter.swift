/// The allowed rate of requests to one host.
package struct RateLimit: Sendable {
    package var perSecond: Double
    /// The number of requests that may be sent at once after a pause.
    package var burst: Double

    package init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// Schedules the requests to a host: a token bucket that is blocked for a while after the host has refused a request.
///
/// A caller reserves a time in the future and waits until then, so there is no queue. The number of tokens becomes negative when
/// requests are scheduled ahead. For example, with one request per second and a burst of 1, three calls of `reserve` at time 0
/// return 0 s, 1 s, and 2 s.
struct RateLimiter {
    typealias Instant = ContinuousClock.Instant

    private let limit: RateLimit
    private var tokens: Double
    /// When `tokens` was last brought up to date.
    private var updatedAt: Instant
    private var blockedUntil: Instant
    /// The number of refusals in a row.
    private var refusals = 0
    private var isOverloaded = false

    init(_ limit: RateLimit, now: Instant) {
        self.limit = limit
        tokens = limit.burst
        updatedAt = now
        blockedUntil = now
    }

    /// Reserves one request and returns when it may be sent.
    ///
    /// - Returns: nil if it could only be sent after `deadline`. Nothing is reserved then.
    mutating func reserve(at now: Instant, by deadline: Instant) -> Instant? {
        let elapsed = updatedAt.duration(to: now) / .seconds(1)
        tokens = min(limit.burst, tokens + max(0, elapsed) * limit.perSecond)
        updatedAt = max(updatedAt, now)
        let wait = tokens >= 1 ? 0 : (1 - tokens) / limit.perSecond
        let start = max(now, blockedUntil).advanced(by: .seconds(wait))
        guard start <= deadline else { return nil }
        tokens -= 1
        return start
    }

    /// When the pause after an overload of the host ends. nil if there is no such pause.
    func overloadedUntil(at now: Instant) -> Instant? {
        isOverloaded && blockedUntil > now ? blockedUntil : nil
    }

    /// Records a response. The pause after the next refusal is the shortest one again.
    mutating func recordResponse() {
        refusals = 0
        isOverloaded = false
    }

    /// Records a refusal. No request is sent until the following pause ends.
    ///
    /// - Parameters:
    ///   - retryAfter: The pause that the host has requested, at most a day. If it is nil, the pause is `base`, doubled with each
    ///     refusal in a row, at most an hour.
    ///   - isOverload: Whether the cause of the refusal is temporary. A wrong key is not.
    mutating func recordRefusal(
        at now: Instant, retryAfter: Duration?, base: Duration, isOverload: Bool = false
    ) {
        isOverloaded = isOverload
        let pause = retryAfter ?? min(base * (1 << min(refusals, 12)), .seconds(3600))
        refusals += 1
        blockedUntil = max(blockedUntil, now.advanced(by: min(pause, .seconds(86_400))))
    }
}
