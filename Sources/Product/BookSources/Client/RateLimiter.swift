/// The allowed rate of requests to one host.
package struct RateLimit: Sendable {
    package var perSecond: Double
    /// The number of requests that may be sent at once after a pause.
    package var burst: Double

    package init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// The number of tokens that a request leaves in the bucket for more important ones: half of the burst for background work.
    func reserve(_ priority: RequestPriority) -> Double {
        priority == .background ? (burst / 2).rounded(.down) : 0
    }
}

/// The token bucket of a host, which is blocked for a while after the host has refused a request.
///
/// Background requests leave half of the bucket, so that a reader's request does not wait for new tokens after them.
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

    /// Takes the token of one request. Returns whether the request may be sent now.
    mutating func take(_ priority: RequestPriority, at now: Instant) -> Bool {
        guard start(ofRequest: 1, priority, at: now) <= now else { return false }
        tokens -= 1
        return true
    }

    /// Returns when the request with a number may be sent, counted from 1 for the next one, if all before it are sent as early as
    /// possible.
    mutating func start(
        ofRequest number: Int, _ priority: RequestPriority, at now: Instant
    ) -> Instant {
        let elapsed = updatedAt.duration(to: now) / .seconds(1)
        tokens = min(limit.burst, tokens + max(0, elapsed) * limit.perSecond)
        updatedAt = max(updatedAt, now)
        let missing = Double(number) + limit.reserve(priority) - tokens
        // A token that is a rounding error away counts. Otherwise, the limiter would not allow a request at its own start time.
        guard missing > 1e-6 else { return max(now, blockedUntil) }
        return max(now.advanced(by: .seconds(missing / limit.perSecond)), blockedUntil)
    }

    /// Whether the bucket is as full as an unused one.
    func isFull(at now: Instant) -> Bool {
        var copy = self
        return copy.start(ofRequest: Int(limit.burst), .interactive, at: now) <= now
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
