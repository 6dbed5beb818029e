/// When to use kept keys, when to fetch, when to refuse. Pure: no clock, no network.
///
/// Kept keys live for their time to live, then serve for a day more while the issuer cannot be reached. A key id that is not among
/// them may mean a rotation, so it causes a fetch, but at most one in 30 s however many strange tokens come; failed fetches
/// count. A good set is never replaced by an empty or broken one.
struct KeySetState: Sendable {
    static let cooldownSeconds: Int64 = 30
    static let staleSecondsMax: Int64 = 24 * 3600
    static let timeToLiveSeconds: ClosedRange<Int64> = 60...3600

    enum Action: Equatable {
        case use(VerificationKey)
        /// Use it now and fetch beside: it is past its time but likely still good.
        case useAndFetch(VerificationKey)
        /// Fetch, or wait for the fetch under way, then ask again with `afterFetch`.
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

    /// Somebody needs the key `id`.
    ///
    /// - Parameter afterFetch: this asker has waited for a fetch already and shall not wait for another.
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
        // A little late, or the issuer was down when last asked: nobody waits for it. After a long idle time it is asked
        // first, for the key may have been withdrawn.
        return age < 2 * kept.timeToLive || lastAttemptFailed ? .useAndFetch(key) : .fetch
    }

    mutating func fetchStarted(now: UnixSeconds) {
        lastAttemptAt = now
    }

    /// - Parameter maxAge: seconds from the answer's Cache-Control.
    mutating func fetched(_ keys: KeySet, maxAge: Int?, now: UnixSeconds) {
        let wanted = maxAge.map(Int64.init) ?? Self.timeToLiveSeconds.upperBound
        let timeToLive = min(
            max(wanted, Self.timeToLiveSeconds.lowerBound), Self.timeToLiveSeconds.upperBound)
        kept = Kept(keys: keys, fetchedAt: now, timeToLive: timeToLive)
        lastAttemptFailed = false
    }

    mutating func fetchFailed() {
        lastAttemptFailed = true
    }

    /// A clock that stepped back makes nothing young again for ever: it counts as a long time.
    private func elapsed(since then: UnixSeconds, _ now: UnixSeconds) -> Int64 {
        now >= then ? now - then : Self.cooldownSeconds
    }
}
