import Basics

/// The rate limit of searches: one for all readers together, and half of it for each reader, so that one reader's searches leave some
/// to the others.
struct SearchLimiter {
    typealias Instant = ContinuousClock.Instant

    static let limit = RateLimit(perSecond: 0.5, burst: 16)
    static let ofReaderLimit = RateLimit(perSecond: 0.25, burst: 8)

    private var all: RateLimiter
    /// The limiters of readers who have searched. Full ones are removed, so their number follows from the rate of all.
    private var byReader: [UUID: RateLimiter] = [:]

    init(now: Instant) { all = RateLimiter(Self.limit, now: now) }

    /// The number of readers whose searches are remembered.
    var readerCount: Int { byReader.count }

    /// Takes a search. Returns whether it is allowed now.
    mutating func take(for reader: UUID, at now: Instant) -> Bool {
        var own = byReader[reader] ?? RateLimiter(Self.ofReaderLimit, now: now)
        guard own.take(.interactive, at: now), all.take(.interactive, at: now) else {
            return false
        }
        byReader[reader] = own
        byReader = byReader.filter { !$0.value.isFull(at: now) }
        return true
    }
}
