import Glibc
import GraphQLServing
import Postgres
import Synchronization

/// Whom a bucket is of: a user or a tenant by id, a client by its address.
package struct RateKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    init(_ id: UUID) { (high, low) = (id.high, id.low) }

    /// An IPv6 address, or an IPv4 address mapped into one. Of IPv6 a network of 64 bits counts as one client: whoever
    /// has one address there has them all.
    package init(_ client: ClientAddress) {
        high = client.high
        low = high == 0 && client.low >> 32 == 0xFFFF ? client.low : 0
    }
}

/// How much one client, one user and one tenant may ask of this process.
///
/// The buckets are this process's own: asking the database would cost each request more than most requests cost.
/// With several servers behind a balancer, each gives what is set here. What must hold for all of them together is
/// counted in the database: the sign-ins of a user, where each leaves a row behind (`open_session`).
package final class RateLimits: Sendable {
    /// Units a minute; nil is no limit.
    package struct Settings: Sendable, Equatable {
        /// Of a user, or of an address that has not signed in.
        package var perCaller: Int?
        /// Of an address, all who share it together.
        package var perAddress: Int?
        /// Sign-ins of an address.
        package var signIns: Int?
        /// Refreshes of an address.
        package var refreshes: Int?
        /// Sign-ins of a user in an hour, over all servers.
        package var signInsOfUserPerHour: Int?

        package init(
            perCaller: Int? = nil, perAddress: Int? = nil, signIns: Int? = nil,
            refreshes: Int? = nil, signInsOfUserPerHour: Int? = nil
        ) {
            self.perCaller = perCaller
            self.perAddress = perAddress
            self.signIns = signIns
            self.refreshes = refreshes
            self.signInsOfUserPerHour = signInsOfUserPerHour
        }
    }

    /// Where a caller stands, for the headers of the answer.
    package struct State: Sendable, Equatable {
        /// The name of the limit: `user`, `address`, `tenant`.
        package let name: StaticString
        package let isAllowed: Bool
        package let unitsPerMinute: Int
        package let remaining: Int
        /// Until the bucket is full again, or, where the request is refused, until it may come again.
        package let waitSeconds: Int

        package static func == (left: State, right: State) -> Bool {
            left.name.description == right.name.description && left.isAllowed == right.isAllowed
                && left.unitsPerMinute == right.unitsPerMinute && left.remaining == right.remaining
                && left.waitSeconds == right.waitSeconds
        }
    }

    /// A request of up to so many objects is one unit; each further so many are one more.
    package static let objectsPerUnit = 100
    /// What a picture to decode, or to look for, costs beside its request.
    static let unitsPerImage = 5
    /// What a library to import costs beside its request.
    static let unitsPerImport = 50
    /// Of the covers that a library misses so many are looked for, in the background, for a unit; the first for that of the request.
    static let searchesPerUnit = 5

    private struct Buckets {
        var callers = RateBuckets<RateKey>()
        var addresses = RateBuckets<RateKey>()
        var tenants = RateBuckets<RateKey>(keysMax: 1 << 12)
        var signIns = RateBuckets<RateKey>()
        var refreshes = RateBuckets<RateKey>()
    }

    private let perCaller: Rate?
    private let perAddress: Rate?
    private let signIns: Rate?
    private let refreshes: Rate?
    /// Nil is no limit.
    let signInsPerHourMax: Int32?
    private let buckets = Mutex(Buckets())
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: nanoseconds that only grow.
    package init(
        _ settings: Settings = Settings(),
        clock: @escaping @Sendable () -> Int64 = { monotonicNanoseconds() }
    ) {
        perCaller = settings.perCaller.map(Rate.init(unitsPerMinute:))
        perAddress = settings.perAddress.map(Rate.init(unitsPerMinute:))
        signIns = settings.signIns.map(Rate.init(unitsPerMinute:))
        refreshes = settings.refreshes.map(Rate.init(unitsPerMinute:))
        signInsPerHourMax = settings.signInsOfUserPerHour.map(Int32.init(clamping:))
        self.clock = clock
    }

    // MARK: - Requests

    /// Takes a request's units from its caller, its address and its tenant: from all of them or from none.
    ///
    /// - Returns: the state of the caller's bucket, or of the one that refuses; nil where nothing is limited.
    func take(
        _ units: Int, viewer: Viewer?, address: RateKey?, tenantMax: Int?
    ) -> State? {
        guard perCaller != nil || perAddress != nil || tenantMax != nil else { return nil }
        let now = clock()
        let caller = viewer.map { RateKey($0.userID) } ?? address
        return buckets.withLock { buckets in
            var state: State?
            var ofCaller: RateBuckets<RateKey>.Outcome?
            if let perCaller, let caller {
                let outcome = buckets.callers.outcome(units, of: caller, perCaller, now: now)
                let standing = State(viewer == nil ? "address" : "user", perCaller, outcome)
                guard outcome.isTaken else { return standing }
                (ofCaller, state) = (outcome, standing)
            }
            var ofAddress: RateBuckets<RateKey>.Outcome?
            if let perAddress, let address {
                let outcome = buckets.addresses.outcome(units, of: address, perAddress, now: now)
                guard outcome.isTaken else { return State("address", perAddress, outcome) }
                ofAddress = outcome
                if state == nil { state = State("address", perAddress, outcome) }
            }
            if let tenantMax, let viewer {
                let rate = Rate(unitsPerMinute: tenantMax)
                let key = RateKey(viewer.tenantID)
                let outcome = buckets.tenants.outcome(units, of: key, rate, now: now)
                let standing = State("tenant", rate, outcome)
                guard outcome.isTaken else { return standing }
                buckets.tenants.commit(outcome, of: key, now: now)
                if state == nil { state = standing }
            }
            if let ofCaller, let caller { buckets.callers.commit(ofCaller, of: caller, now: now) }
            if let ofAddress, let address {
                buckets.addresses.commit(ofAddress, of: address, now: now)
            }
            return state
        }
    }

    /// Takes as many of the units as there are.
    ///
    /// - Returns: how many.
    func takeSome(
        _ units: Int, viewer: Viewer, address: RateKey?, tenantMax: Int?
    ) -> Int {
        var units = units
        // The three buckets hold different amounts; the one that refuses says how much it has.
        while units > 0 {
            let state = take(units, viewer: viewer, address: address, tenantMax: tenantMax)
            guard let state, !state.isAllowed else { return units }
            units = min(units - 1, state.remaining)
        }
        return 0
    }

    /// Puts units back that were taken and not used.
    func putBack(_ units: Int, viewer: Viewer, address: RateKey?, tenantMax: Int?) {
        let now = clock()
        buckets.withLock { buckets in
            if let perCaller {
                buckets.callers.putBack(units, of: RateKey(viewer.userID), perCaller, now: now)
            }
            if let perAddress, let address {
                buckets.addresses.putBack(units, of: address, perAddress, now: now)
            }
            if let tenantMax {
                let rate = Rate(unitsPerMinute: tenantMax)
                buckets.tenants.putBack(units, of: RateKey(viewer.tenantID), rate, now: now)
            }
        }
    }

    // MARK: - What costs more than its size tells

    /// - Throws: `.rateLimited`
    func takeSignIn(from address: RateKey?) throws(BookplateError) {
        try take(\.signIns, signIns, from: address)
    }

    /// - Throws: `.rateLimited`
    func takeRefresh(from address: RateKey?) throws(BookplateError) {
        try take(\.refreshes, refreshes, from: address)
    }

    private func take(
        _ kind: WritableKeyPath<Buckets, RateBuckets<RateKey>> & Sendable, _ rate: Rate?,
        from address: RateKey?
    ) throws(BookplateError) {
        guard let rate, let address else { return }
        let now = clock()
        let outcome = buckets.withLock { buckets in
            let outcome = buckets[keyPath: kind].outcome(1, of: address, rate, now: now)
            if outcome.isTaken { buckets[keyPath: kind].commit(outcome, of: address, now: now) }
            return outcome
        }
        guard outcome.isTaken else {
            throw .rateLimited(retryAfterSeconds: seconds(outcome.waitNanoseconds))
        }
    }
}

extension RateLimits.State {
    fileprivate init(
        _ name: StaticString, _ rate: Rate, _ outcome: RateBuckets<RateKey>.Outcome
    ) {
        self.init(
            name: name, isAllowed: outcome.isTaken, unitsPerMinute: rate.unitsPerMinute,
            remaining: outcome.remaining, waitSeconds: seconds(outcome.waitNanoseconds))
    }
}

/// Rounded up: who comes back then is not too early.
private func seconds(_ nanoseconds: Int64) -> Int {
    Int((nanoseconds + 999_999_999) / 1_000_000_000)
}

package func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
