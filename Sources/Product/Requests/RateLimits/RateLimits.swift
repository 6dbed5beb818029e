import Glibc
import Postgres
import Synchronization

/// The rate limits of clients, users, and tenants.
///
/// The buckets are in memory, because counting each request in the database would cost more than most requests. `RateSharing`
/// shares the buckets of heavy callers with the other servers. The sign-ins of a user are counted in the database
/// (`open_session`).
package final class RateLimits: Sendable {
    /// The state of a limit, for the headers of the response.
    package struct State: Sendable, Equatable {
        /// The name of the limit: `user`, `address`, `tenant`.
        package let name: StaticString
        package let isAllowed: Bool
        package let unitsPerMinute: Int
        package let remaining: Int
        /// If allowed, the time until the bucket is full; otherwise the time until the request can be repeated.
        package let waitSeconds: Int

        package static func == (left: State, right: State) -> Bool {
            left.name.description == right.name.description && left.isAllowed == right.isAllowed
                && left.unitsPerMinute == right.unitsPerMinute && left.remaining == right.remaining
                && left.waitSeconds == right.waitSeconds
        }
    }

    /// The longest time of a transaction that is charged, in nanoseconds. It may wait for locks, the disk, and a standby.
    static let writeNanosecondsMax: Int64 = 200_000_000
    /// The longest time of a read-only transaction that is charged, in nanoseconds. It rarely waits for a lock.
    static let readNanosecondsMax: Int64 = 2_000_000_000
    /// The number of bytes of a request's JSON per additional unit, on each transport. Parsing and checking them takes some milliseconds.
    private static let bodyBytesPerUnit = 16 << 10
    /// The number of objects per unit. Each request costs one unit, and one more for each `objectsPerUnit` objects of its cost.
    package static let objectsPerUnit = 100
    /// The number of entries of a batch per additional unit.
    static let entriesPerUnit = 10
    /// The additional cost of decoding an image or searching for one.
    package static let unitsPerImage = 5
    /// The additional cost of looking up an ISBN that the catalog does not have at the book sources, or of searching them.
    package static let unitsPerLookup = 5
    /// The additional cost of importing a library.
    package static let unitsPerImport = 50
    /// The additional cost of creating or revoking a token. Each is an event of the audit log, which is kept for long.
    package static let unitsPerCredential = 10
    /// The additional cost of an app's request for access, which is stored for about an hour.
    package static let unitsPerAuthorization = 10
    /// The number of missing covers that are searched for in the background per unit. The first `searchesPerUnit` are included
    /// in the request's own unit.
    package static let searchesPerUnit = 5

    /// The additional cost of a request whose JSON has this size.
    package static func units(forBodyOf byteCount: Int) -> Int { byteCount / bodyBytesPerUnit }

    /// The additional cost of a mutation with several entries, such as `createBooks`, `logProgress`, or `createNotes`. A
    /// batch of up to nine entries costs no more than one entry.
    package static func units(forBatchOf count: Int) -> Int { count / entriesPerUnit }

    /// The buckets by limit. The order of the limits is also that of their numbers in the database.
    private struct Buckets {
        static let kinds: [WritableKeyPath<Buckets, RateBuckets<RateKey>> & Sendable] = [
            \.callers, \.addresses, \.tenants, \.signIns, \.refreshes, \.guests, \.guestsOfTenants,
            \.userCodes, \.registrations,
        ]

        var callers = RateBuckets<RateKey>()
        var addresses = RateBuckets<RateKey>()
        var tenants = RateBuckets<RateKey>(keysMax: 1 << 12)
        var signIns = RateBuckets<RateKey>()
        var refreshes = RateBuckets<RateKey>()
        var guests = RateBuckets<RateKey>()
        var guestsOfTenants = RateBuckets<RateKey>(keysMax: 1 << 12)
        var userCodes = RateBuckets<RateKey>()
        var registrations = RateBuckets<RateKey>()
    }

    /// The limit for codes of apps that a reader enters and that do not exist. It cannot be configured: a higher one would make it
    /// possible to find codes by trying.
    private static let userCodes = Rate(unitsPerMinute: 10)
    /// The limit for apps that register themselves from an address.
    private static let registrations = Rate(unitsPerMinute: 5)

    private let perCaller: Rate?
    private let perAddress: Rate?
    private let signIns: Rate?
    private let refreshes: Rate?
    private let guests: Rate?
    private let guestsOfTenant: Rate?
    /// nil for no limit.
    package let signInsPerHourMax: Int32?
    /// See `Settings`.
    let nanosecondsPerUnit: Int64?
    private let buckets = Mutex(Buckets())
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: Returns monotonic time in nanoseconds.
    package init(
        _ settings: Settings = Settings(),
        clock: @escaping @Sendable () -> Int64 = { monotonicNanoseconds() }
    ) {
        perCaller = settings.perCaller.map(Rate.init(unitsPerMinute:))
        perAddress = settings.perAddress.map(Rate.init(unitsPerMinute:))
        signIns = settings.signIns.map(Rate.init(unitsPerMinute:))
        refreshes = settings.refreshes.map(Rate.init(unitsPerMinute:))
        guests = settings.guests.map(Rate.init(unitsPerMinute:))
        guestsOfTenant = settings.guestsOfTenant.map(Rate.init(unitsPerMinute:))
        signInsPerHourMax = settings.signInsOfUserPerHour.map(Int32.init(clamping:))
        nanosecondsPerUnit = settings.nanosecondsPerUnit.map { max(1, $0) }
        self.clock = clock
    }

    // MARK: - Requests

    /// A bucket that a request is charged to.
    private struct Limit {
        let name: StaticString
        let buckets: WritableKeyPath<Buckets, RateBuckets<RateKey>> & Sendable
        let key: RateKey
        let rate: Rate
        var isOfCaller = false
        /// The maximum number of units that the bucket may owe.
        var debtMax = 0
    }

    /// Returns the buckets of a request: those of its caller, its address, and its tenant, in this order.
    private func limits(viewer: Viewer?, address: RateKey?, tenantMax: Int?) -> [Limit] {
        var limits: [Limit] = []
        if let perCaller {
            if let viewer {
                limits.append(
                    Limit(
                        name: "user", buckets: \.callers, key: RateKey(viewer.userID),
                        rate: perCaller, isOfCaller: true, debtMax: perCaller.unitsPerMinute))
            } else if let address {
                limits.append(
                    Limit(
                        name: "address", buckets: \.callers, key: address, rate: perCaller,
                        isOfCaller: true))
            }
        }
        if let perAddress, let address {
            limits.append(
                Limit(name: "address", buckets: \.addresses, key: address, rate: perAddress))
        }
        if let tenantMax, let viewer {
            limits.append(
                Limit(
                    name: "tenant", buckets: \.tenants, key: RateKey(viewer.tenantID),
                    rate: Rate(unitsPerMinute: tenantMax)))
        }
        return limits
    }

    /// Takes a request's units from the buckets of its caller, its address, and its tenant. If one of them does not have
    /// enough units, none are taken.
    ///
    /// - Returns: The state of the caller's bucket, or of the one without enough units; nil if nothing is limited.
    func take(
        _ units: Int, viewer: Viewer?, address: RateKey?, tenantMax: Int?
    ) -> State? {
        let limits = limits(viewer: viewer, address: address, tenantMax: tenantMax)
        let now = clock()
        return buckets.withLock { buckets in
            var outcomes: [RateBuckets<RateKey>.Outcome] = []
            for limit in limits {
                let outcome = buckets[keyPath: limit.buckets].outcome(
                    units, of: limit.key, limit.rate, now: now)
                guard outcome.isAllowed else { return State(limit.name, limit.rate, outcome) }
                outcomes.append(outcome)
            }
            for (limit, outcome) in zip(limits, outcomes) {
                buckets[keyPath: limit.buckets].commit(outcome, of: limit.key, now: now)
            }
            return zip(limits, outcomes).first { _ in true }.map { State($0.name, $0.rate, $1) }
        }
    }

    /// Takes units for work that has been done. The bucket of a user owes at most its size afterwards. The buckets of an address and a
    /// tenant are shared with other users: they lose as many units as the user's bucket, and owe nothing.
    ///
    /// - Returns: The state of the caller's bucket; nil if nothing is limited.
    func spend(_ units: Int, viewer: Viewer?, address: RateKey?, tenantMax: Int?) -> State? {
        let limits = limits(viewer: viewer, address: address, tenantMax: tenantMax)
        let now = clock()
        return buckets.withLock { buckets in
            var units = units
            var state: State?
            for limit in limits {
                let (taken, outcome) = buckets[keyPath: limit.buckets].spend(
                    units, of: limit.key, limit.rate, debtMax: limit.debtMax, now: now)
                if limit.isOfCaller { units = taken }
                if state == nil { state = State(limit.name, limit.rate, outcome) }
            }
            return state
        }
    }

    /// Whether a user owes almost as many units as possible, so that requests in progress must stop.
    func owesMost(_ viewer: Viewer) -> Bool {
        guard let perCaller else { return false }
        let now = clock()
        return buckets.withLock {
            $0.callers.owesMost(of: RateKey(viewer.userID), perCaller, now: now)
        }
    }

    /// Takes as many of the units as are available.
    ///
    /// - Returns: The number of units taken.
    func takeSome(
        _ units: Int, viewer: Viewer, address: RateKey?, tenantMax: Int?
    ) -> Int {
        var units = units
        // The buckets contain different numbers of units. A failed attempt returns the number in one of them.
        while units > 0 {
            let state = take(units, viewer: viewer, address: address, tenantMax: tenantMax)
            guard let state, !state.isAllowed else { return units }
            units = min(units - 1, state.remaining)
        }
        return 0
    }

    /// Returns units to the buckets that were taken but not used.
    func putBack(_ units: Int, viewer: Viewer, address: RateKey?, tenantMax: Int?) {
        let limits = limits(viewer: viewer, address: address, tenantMax: tenantMax)
        let now = clock()
        buckets.withLock { buckets in
            for limit in limits {
                buckets[keyPath: limit.buckets].putBack(
                    units, of: limit.key, limit.rate, now: now)
            }
        }
    }

    // MARK: - Sharing with other servers

    /// Returns the buckets to report, with the numbers of their limits.
    func takeShares() -> [(kind: Int, share: RateBuckets<RateKey>.Share)] {
        buckets.withLock { buckets in
            Buckets.kinds.enumerated().flatMap { kind, path in
                buckets[keyPath: path].takeShares(countMax: RateSharing.bucketsMax)
                    .map { (kind, $0) }
            }
        }
    }

    /// Applies the buckets of all servers.
    func apply(_ rows: [RateSharing.Row]) {
        let now = clock()
        buckets.withLock { buckets in
            for row in rows where Buckets.kinds.indices.contains(row.kind) {
                buckets[keyPath: Buckets.kinds[row.kind]].apply(
                    refillNanoseconds: row.refillNanoseconds, to: RateKey(row.key), now: now)
            }
        }
    }

    // MARK: - Sign-ins, refreshes, and guests

    /// Counts a sign-in.
    ///
    /// - Throws: `.rateLimited`.
    package func takeSignIn(from address: RateKey?) throws(BookplateError) {
        try take(\.signIns, signIns, from: address)
    }

    /// Returns the unit of a sign-in that is not to be counted.
    package func putBackSignIn(from address: RateKey?) {
        guard let signIns, let address else { return }
        let now = clock()
        buckets.withLock { $0.signIns.putBack(1, of: address, signIns, now: now) }
    }

    /// Counts a refresh.
    ///
    /// - Throws: `.rateLimited`.
    package func takeRefresh(from address: RateKey?) throws(BookplateError) {
        try take(\.refreshes, refreshes, from: address)
    }

    /// Counts a new guest from an address.
    ///
    /// - Throws: `.rateLimited`.
    package func takeGuest(from address: RateKey?) throws(BookplateError) {
        try take(\.guests, guests, from: address)
    }

    /// Counts a new guest of a tenant.
    ///
    /// - Throws: `.rateLimited`.
    package func takeGuest(of tenant: UUID) throws(BookplateError) {
        try take(\.guestsOfTenants, guestsOfTenant, from: RateKey(tenant))
    }

    /// Counts a code of an app that a reader has entered.
    ///
    /// - Throws: `.rateLimited`.
    package func takeUserCode(of user: UUID) throws(BookplateError) {
        try take(\.userCodes, Self.userCodes, from: RateKey(user))
    }

    /// Returns the unit of a code that exists.
    package func putBackUserCode(of user: UUID) {
        let now = clock()
        buckets.withLock {
            $0.userCodes.putBack(1, of: RateKey(user), Self.userCodes, now: now)
        }
    }

    /// Counts the registration of an app from an address.
    ///
    /// - Throws: `.rateLimited`.
    package func takeRegistration(from address: RateKey?) throws(BookplateError) {
        try take(\.registrations, Self.registrations, from: address)
    }

    private func take(
        _ kind: WritableKeyPath<Buckets, RateBuckets<RateKey>> & Sendable, _ rate: Rate?,
        from key: RateKey?
    ) throws(BookplateError) {
        guard let rate, let key else { return }
        let now = clock()
        let outcome = buckets.withLock { buckets in
            let outcome = buckets[keyPath: kind].outcome(1, of: key, rate, now: now)
            if outcome.isAllowed { buckets[keyPath: kind].commit(outcome, of: key, now: now) }
            return outcome
        }
        guard outcome.isAllowed else {
            throw .rateLimited(retryAfterSeconds: seconds(outcome.waitNanoseconds))
        }
    }
}

extension RateLimits.State {
    fileprivate init(
        _ name: StaticString, _ rate: Rate, _ outcome: RateBuckets<RateKey>.Outcome
    ) {
        self.init(
            name: name, isAllowed: outcome.isAllowed, unitsPerMinute: rate.unitsPerMinute,
            remaining: outcome.remaining, waitSeconds: seconds(outcome.waitNanoseconds))
    }
}

/// Rounds up, so that a request that is repeated after this time is allowed.
private func seconds(_ nanoseconds: Int64) -> Int {
    Int((nanoseconds + 999_999_999) / 1_000_000_000)
}

/// Returns the time of CLOCK_MONOTONIC in nanoseconds.
package func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
