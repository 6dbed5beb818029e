/// Decides when to use cached keys, when to fetch, and when to reject a token. It neither reads a clock nor
/// uses the network.
///
/// **State.** The cached key set with the time of its fetch and its time to live, and the time and outcome
/// of the last attempt to fetch.
///
/// **Rules.**
/// - A key that is cached and younger than its time to live is used.
/// - Between one and two times its time to live, it is used while a new set is fetched in the background.
///   The same applies later, up to a day, if the last fetch failed: the issuer may be unreachable.
/// - Any older key is used only after a fetch, because the issuer may have withdrawn it.
/// - An unknown key ID may mean that the issuer rotated its keys, so it causes a fetch.
/// - Fetches start at least 30 s apart, including failed ones, however many unknown key IDs arrive.
/// - A cached set is never replaced by an empty or malformed one.
///
/// **Example.** With a time to live of 3600 s and a set fetched at time 0: at 100 the key is used; at 4000
/// it is used and a fetch starts; if that fails, a request at 4010 uses it without a new fetch; at 9000
/// it is still used while the next fetch runs; from 90000 (3600 s and a day) tokens are rejected unless a
/// fetch succeeds.
struct KeySetState: Sendable {
    static let cooldownSeconds: Int64 = 30
    static let staleSecondsMax: Int64 = 24 * 3600
    static let timeToLiveSeconds: ClosedRange<Int64> = 60...3600

    enum Action: Equatable {
        case use(VerificationKey)
        /// Use the key now and fetch in the background.
        case useAndFetch(VerificationKey)
        /// Fetch, or wait for the fetch in progress, and then call `find` again with `afterFetch`.
        case fetch
        case refuse(TokenError)
    }

    private struct Kept {
        var keys: KeySet
        var fetchedAt: UnixSeconds
        var timeToLive: Int64
    }

    private var kept: Kept?
    private var lastAttemptAt: UnixSeconds?
    private var lastAttemptFailed = false

    init() {}

    /// Decides how to obtain the key with this ID and algorithm.
    ///
    /// - Parameters:
    ///   - fetching: Whether a fetch is in progress.
    ///   - afterFetch: Whether the caller has already waited for a fetch and must not wait for another.
    func find(
        id: [UInt8], algorithm: TokenAlgorithm, now: UnixSeconds, fetching: Bool,
        afterFetch: Bool = false
    ) -> Action {
        let mayFetch =
            !afterFetch
            && (fetching
                || lastAttemptAt.map { elapsed(since: $0, now) >= Self.cooldownSeconds } ?? true)
        guard let kept, elapsed(since: kept.fetchedAt, now) < kept.timeToLive + Self.staleSecondsMax
        else { return mayFetch ? .fetch : .refuse(.keysUnavailable) }
        let age = elapsed(since: kept.fetchedAt, now)
        guard let key = kept.keys.key(id: id, algorithm: algorithm) else {
            return mayFetch ? .fetch : .refuse(.unknownKey(id: loggable(id)))
        }
        guard age >= kept.timeToLive, mayFetch else { return .use(key) }
        // Slightly late, or the last fetch failed: use the key without waiting. After a long idle time the
        // caller waits for the fetch, because the key may have been withdrawn.
        return age < 2 * kept.timeToLive || lastAttemptFailed ? .useAndFetch(key) : .fetch
    }

    mutating func fetchStarted(now: UnixSeconds) {
        lastAttemptAt = now
    }

    /// - Parameter maxAge: The `max-age` of the response's Cache-Control header, in seconds.
    mutating func fetched(_ keys: KeySet, maxAge: Int?, now: UnixSeconds) {
        let requested = maxAge.map(Int64.init) ?? Self.timeToLiveSeconds.upperBound
        let timeToLive = min(
            max(requested, Self.timeToLiveSeconds.lowerBound), Self.timeToLiveSeconds.upperBound)
        kept = Kept(keys: keys, fetchedAt: now, timeToLive: timeToLive)
        lastAttemptFailed = false
    }

    mutating func fetchFailed() {
        lastAttemptFailed = true
    }

    /// Returns the elapsed seconds. If the clock stepped back, the elapsed time counts as the cooldown, so
    /// that a wrong time in the future does not block fetches.
    private func elapsed(since then: UnixSeconds, _ now: UnixSeconds) -> Int64 {
        now >= then ? now - then : Self.cooldownSeconds
    }
}
