/// The size of a token bucket in units. An empty bucket is full again after one minute, and one that several
/// servers have overdrawn after at most ten.
struct Rate: Sendable, Equatable {
    let unitsPerMinute: Int

    /// Values are clamped to 1...1,000,000,000.
    init(unitsPerMinute: Int) {
        self.unitsPerMinute = min(max(unitsPerMinute, 1), 1_000_000_000)
    }

    static let windowNanoseconds: Int64 = 60_000_000_000
    var nanosecondsPerUnit: Int64 { Self.windowNanoseconds / Int64(unitsPerMinute) }
}

/// Token buckets by key. The caller passes the current time.
///
/// For each bucket only the time is stored at which it will be full again (the generic cell rate algorithm, GCRA). A full
/// bucket is equivalent to an unused one and can be removed, so memory is bounded by the number of keys that are used
/// within one minute, or ten. At `keysMax`, the fullest buckets are removed first.
///
/// Servers share the buckets of heavy callers: each one reports what it has taken, and learns what all have taken. A bucket is
/// reported when a server has taken a twentieth of it since its last report, so light callers cost nothing. Several servers
/// together therefore allow at most that much more, and what they allow between two reports.
struct RateBuckets<Key: Hashable & Sendable>: Sendable {
    struct Outcome: Sendable, Equatable {
        /// Whether the bucket contains enough units.
        let isAllowed: Bool
        /// The number of units that remain.
        let remaining: Int
        /// If allowed, the time until the bucket is full; otherwise the time until it contains enough units.
        let waitNanoseconds: Int64
        /// The value that `commit` stores.
        fileprivate let fullAt: Int64
        /// The time in which the taken units are refilled.
        fileprivate let cost: Int64
    }

    /// The units that were taken from a bucket, as the time in which they are refilled.
    struct Share: Sendable {
        let key: Key
        let cost: Int64
    }

    /// A bucket is reported when more than this was taken from it.
    private static var reportedMin: Int64 { Rate.windowNanoseconds / 20 }

    private var fullAt: [Key: Int64] = [:]
    /// The time in which the units are refilled that were taken from each bucket since its last report.
    private var taken: [Key: Int64] = [:]
    /// The buckets to report.
    private var due: Set<Key> = []
    private let keysMax: Int

    init(keysMax: Int = 1 << 17) { self.keysMax = max(2, keysMax) }

    var count: Int { fullAt.count }

    /// Returns the outcome of taking units. `commit` takes them. Requests for more units than the size of the bucket take the
    /// whole bucket, so that they are allowed after one minute, or up to ten if several servers have overdrawn it.
    func outcome(_ units: Int, of key: Key, _ rate: Rate, now: Int64) -> Outcome {
        let full = max(fullAt[key] ?? now, now)
        let cost = Int64(min(max(units, 0), rate.unitsPerMinute)) * rate.nanosecondsPerUnit
        let after = full + cost
        let capacity = Int64(rate.unitsPerMinute) * rate.nanosecondsPerUnit
        let isAllowed = after - now <= capacity
        let left = capacity - ((isAllowed ? after : full) - now)
        return Outcome(
            isAllowed: isAllowed, remaining: Int(max(0, left) / rate.nanosecondsPerUnit),
            waitNanoseconds: isAllowed ? after - now : after - now - capacity,
            fullAt: isAllowed ? after : full, cost: isAllowed ? cost : 0)
    }

    /// Takes the units of an outcome.
    mutating func commit(_ outcome: Outcome, of key: Key, now: Int64) {
        if fullAt.count >= keysMax, fullAt[key] == nil { removeFullest(now) }
        fullAt[key] = outcome.fullAt
        if taken.count >= keysMax { taken = taken.filter { due.contains($0.key) } }
        taken[key, default: 0] += outcome.cost
        if taken[key, default: 0] >= Self.reportedMin { due.insert(key) }
    }

    /// Takes units that a bucket may not contain, for work that has been done.
    ///
    /// - Parameter debtMax: The maximum number of units that the bucket may owe afterwards.
    /// - Returns: The number of units that were taken, and the state of the bucket.
    mutating func spend(
        _ units: Int, of key: Key, _ rate: Rate, debtMax: Int, now: Int64
    ) -> (units: Int, Outcome) {
        let full = max(fullAt[key] ?? now, now)
        let capacity = Int64(rate.unitsPerMinute) * rate.nanosecondsPerUnit
        let debtMax = Int64(min(max(debtMax, 0), rate.unitsPerMinute)) * rate.nanosecondsPerUnit
        let cost = Int64(min(max(units, 0), 2 * rate.unitsPerMinute)) * rate.nanosecondsPerUnit
        let after = max(full, min(full + cost, now + capacity + debtMax))
        let outcome = Outcome(
            isAllowed: true,
            remaining: Int(max(0, capacity - (after - now)) / rate.nanosecondsPerUnit),
            waitNanoseconds: after - now, fullAt: after, cost: after - full)
        commit(outcome, of: key, now: now)
        return (Int((after - full) / rate.nanosecondsPerUnit), outcome)
    }

    /// Whether a bucket owes almost as much as it may.
    func owesMost(of key: Key, _ rate: Rate, now: Int64) -> Bool {
        guard let full = fullAt[key] else { return false }
        return full - now > Int64(rate.unitsPerMinute) * rate.nanosecondsPerUnit / 10 * 19
    }

    /// Returns at most `countMax` buckets to report, and forgets what was taken from them.
    mutating func takeShares(countMax: Int) -> [Share] {
        let keys = due.prefix(countMax)
        due.subtract(keys)
        return keys.compactMap { key in
            taken.removeValue(forKey: key).map { Share(key: key, cost: $0) }
        }
    }

    /// Applies the time until a bucket is full again, according to the reports of all servers.
    mutating func apply(refillNanoseconds: Int64, to key: Key, now: Int64) {
        let full = now + refillNanoseconds + taken[key, default: 0]
        fullAt[key] = max(fullAt[key] ?? now, full)
    }

    /// Returns units to a bucket that were taken but not used.
    mutating func putBack(_ units: Int, of key: Key, _ rate: Rate, now: Int64) {
        guard let full = fullAt[key] else { return }
        let cost = Int64(units) * rate.nanosecondsPerUnit
        fullAt[key] = max(now, full - cost)
        taken[key, default: 0] -= cost
    }

    /// Removes the buckets that are full again. If more than half of `keysMax` are left, also removes the half that will be full
    /// first. This happens rarely, so the amortized cost of `commit` stays constant.
    private mutating func removeFullest(_ now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count > keysMax / 2 else { return }
        let median = fullAt.values.sorted()[fullAt.count / 2]
        fullAt = fullAt.filter { $0.value > median }
    }
}
