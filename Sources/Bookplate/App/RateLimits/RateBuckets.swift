/// How much may be asked for: a bucket that holds so many units and fills itself in a minute.
struct Rate: Sendable, Equatable {
    let unitsPerMinute: Int

    /// 1 to a thousand million.
    init(unitsPerMinute: Int) {
        self.unitsPerMinute = min(max(unitsPerMinute, 1), 1_000_000_000)
    }

    static let windowSeconds = 60
    static let windowNanoseconds: Int64 = 60_000_000_000
    var nanosecondsPerUnit: Int64 { Self.windowNanoseconds / Int64(unitsPerMinute) }
}

/// Token buckets by key. Pure: the clock is given.
///
/// Of each bucket one number is kept, the time at which it will be full again (the generic cell rate algorithm);
/// a bucket that is full by now is as one that was never touched, and can be forgotten. So memory is bounded by
/// how many keys are in use in a minute, and beyond `keysMax` the fullest are forgotten first.
struct RateBuckets<Key: Hashable & Sendable>: Sendable {
    struct Outcome: Sendable, Equatable {
        let isTaken: Bool
        /// Units that are left now.
        let remaining: Int
        /// Until there is enough of what was refused; or, where it was taken, until the bucket is full.
        let waitNanoseconds: Int64
        /// What `commit` is to remember.
        fileprivate let fullAt: Int64
    }

    private var fullAt: [Key: Int64] = [:]
    private let keysMax: Int

    init(keysMax: Int = 1 << 17) { self.keysMax = max(2, keysMax) }

    var count: Int { fullAt.count }

    /// What taking so many units would give; `commit` takes them. More than a bucket holds count as all of it,
    /// so that whoever waits for a minute gets everything once.
    func outcome(_ units: Int, of key: Key, _ rate: Rate, now: Int64) -> Outcome {
        let full = max(fullAt[key] ?? now, now)
        let cost = Int64(min(max(units, 0), rate.unitsPerMinute)) * rate.nanosecondsPerUnit
        let after = full + cost
        let capacity = Int64(rate.unitsPerMinute) * rate.nanosecondsPerUnit
        let isTaken = after - now <= capacity
        let left = capacity - ((isTaken ? after : full) - now)
        return Outcome(
            isTaken: isTaken, remaining: Int(max(0, left) / rate.nanosecondsPerUnit),
            waitNanoseconds: isTaken ? after - now : after - now - capacity,
            fullAt: isTaken ? after : full)
    }

    mutating func commit(_ outcome: Outcome, of key: Key, now: Int64) {
        if fullAt.count >= keysMax, fullAt[key] == nil { makeRoom(now) }
        fullAt[key] = outcome.fullAt
    }

    /// Puts units back that were taken and not used.
    mutating func putBack(_ units: Int, of key: Key, _ rate: Rate, now: Int64) {
        guard let full = fullAt[key] else { return }
        fullAt[key] = max(now, full - Int64(units) * rate.nanosecondsPerUnit)
    }

    /// Forgets the buckets that are full again; and where that is not half of them, the half that will be full
    /// soonest. Rare, so that taking stays one look-up.
    private mutating func makeRoom(_ now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count > keysMax / 2 else { return }
        let median = fullAt.values.sorted()[fullAt.count / 2]
        fullAt = fullAt.filter { $0.value > median }
    }
}
