import Synchronization

/// Charges one request to its caller, its address, and its tenant, in units of the rate limits.
///
/// - **Prices** are charged before the work, and refuse it if a bucket does not have enough units: one unit for the request, one for each
///   `RateLimits.objectsPerUnit` objects that it may return, and the prices of fields, such as `RateLimits.unitsPerImage`.
/// - **Time** of the database, and of the server for planning the operation, is charged when it has been spent. Each unit pays
///   for `Settings.nanosecondsPerUnit`; only the time beyond that costs more. The bucket of a user may be left with a debt, which
///   refuses the next requests until it is refilled.
///
/// Example: a search that may return 300 objects costs 1 + 3 units, which pay for 40 ms. If PostgreSQL works 75 ms for it, it costs 3 more.
package final class RequestCharges: Sendable {
    private struct State {
        var viewer: Viewer?
        var unitCount = 0
        var nanoseconds: Int64 = 0
        var limit: RateLimits.State?
    }

    private let rates: RateLimits
    private let environment: RequestEnvironment
    private let address: RateKey?
    private let stopsAtDebt: Bool
    private let state: Mutex<State>

    /// - Parameter stopsAtDebt: Whether `checkDebt` has an effect.
    package init(
        _ environment: RequestEnvironment, _ viewer: Viewer?, _ address: RateKey?,
        stopsAtDebt: Bool = true
    ) {
        self.stopsAtDebt = stopsAtDebt
        rates = environment.rates
        self.environment = environment
        self.address = address
        state = Mutex(State(viewer: viewer))
    }

    /// The state of the limit after the last charge; nil if nothing is limited.
    var limit: RateLimits.State? { state.withLock { $0.limit } }

    /// Charges a user who signs in during the request from now on.
    func become(_ viewer: Viewer?) { state.withLock { $0.viewer = viewer } }

    /// Charges the price of work that only users can request.
    ///
    /// - Throws: `.unauthenticated`, or `.rateLimited` if there are not enough units. Nothing is charged then.
    package func charge(_ units: Int) throws(BookplateError) {
        guard state.withLock({ $0.viewer }) != nil else { throw .unauthenticated }
        try admit(units)
    }

    /// Charges the price of a request, also of a client that is not signed in.
    ///
    /// - Throws: `.rateLimited`, and charges nothing, if there are not enough units.
    package func admit(_ units: Int) throws(BookplateError) {
        guard units > 0 else { return }
        let viewer = state.withLock { $0.viewer }
        let limit = rates.take(
            units, viewer: viewer, address: address, tenantMax: tenantMax(viewer))
        state.withLock {
            $0.limit = limit
            if limit?.isAllowed != false { $0.unitCount += units }
        }
        guard let limit, !limit.isAllowed else { return }
        throw .rateLimited(retryAfterSeconds: limit.waitSeconds)
    }

    /// Charges at most `units`, as many as the caller has left, and returns those that `work` did not use.
    ///
    /// - Parameter work: Gets the number of available units. Returns the number of used units and its result.
    package func charge<Value>(
        upTo units: Int,
        _ work: (Int) async throws(BookplateError) -> (used: Int, value: Value)
    ) async throws(BookplateError) -> Value {
        guard let viewer = state.withLock({ $0.viewer }) else { throw .unauthenticated }
        let tenantMax = tenantMax(viewer)
        let taken = rates.takeSome(units, viewer: viewer, address: address, tenantMax: tenantMax)
        state.withLock { $0.unitCount += taken }
        var used = 0
        defer {
            rates.putBack(taken - used, viewer: viewer, address: address, tenantMax: tenantMax)
            state.withLock { $0.unitCount -= taken - used }
        }
        let result = try await work(taken)
        used = result.used
        return result.value
    }

    /// Charges time that was spent, unless the units so far pay for it.
    func spend(_ time: Duration) {
        guard let nanosecondsPerUnit = rates.nanosecondsPerUnit else { return }
        let nanoseconds = Int64(time / .nanoseconds(1))
        let (units, viewer) = state.withLock { state in
            state.nanoseconds += max(nanoseconds, 0)
            let units = Int(state.nanoseconds / nanosecondsPerUnit) - state.unitCount
            state.unitCount += max(units, 0)
            return (units, state.viewer)
        }
        guard units > 0 else { return }
        let limit = rates.spend(
            units, viewer: viewer, address: address, tenantMax: tenantMax(viewer))
        state.withLock { $0.limit = limit }
    }

    /// Charges the time of a round trip to the database.
    func spend(databaseNanoseconds: Int64, isWrite: Bool) {
        spend(
            .nanoseconds(
                min(
                    databaseNanoseconds,
                    isWrite ? RateLimits.writeNanosecondsMax : RateLimits.readNanosecondsMax)))
    }

    /// Refuses further work of a request that was admitted, if its caller owes almost as much as possible.
    ///
    /// - Throws: `.rateLimited`.
    func checkDebt() throws(BookplateError) {
        guard stopsAtDebt, rates.nanosecondsPerUnit != nil,
            let viewer = state.withLock({ $0.viewer }),
            rates.owesMost(viewer)
        else { return }
        throw .rateLimited(retryAfterSeconds: 60)
    }

    private func tenantMax(_ viewer: Viewer?) -> Int? {
        viewer.flatMap { environment.tenantMax($0.tenantID) }
    }
}
