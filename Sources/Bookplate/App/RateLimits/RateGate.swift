import GraphQL
import GraphQLServing

/// Charges one request's units to the rate limits.
struct RateGate {
    private let services: Services
    private let viewer: Viewer?
    private let address: RateKey?
    /// The state after the last charge; nil if nothing is limited.
    private(set) var state: RateLimits.State?

    init(_ services: Services, _ viewer: Viewer?, _ address: RateKey?) {
        self.services = services
        self.viewer = viewer
        self.address = address
    }

    /// Takes units from the buckets of the caller, its address, and its tenant.
    ///
    /// - Throws: An error with the code `RATE_LIMITED`, and takes nothing, if there are not enough units.
    mutating func charge(_ units: Int) throws(RequestErrors) {
        guard units > 0 else { return }
        let tenantMax = viewer.flatMap {
            services.accounts.tenants.requestsPerMinuteMax(of: $0.tenantID)
        }
        state = services.rates.take(
            units, viewer: viewer, address: address, tenantMax: tenantMax)
        guard let state, !state.isAllowed else { return }
        throw BookplateError.rateLimited(retryAfterSeconds: state.waitSeconds)
            .requestErrors(requestID: "")
    }
}

extension Services {
    /// Charges a request that is not a GraphQL request to an address.
    ///
    /// - Returns: The number of seconds after which the request can be repeated; nil if it is allowed.
    package func secondsToWait(from address: RateKey, units: Int = 1) -> Int? {
        let state = rates.take(units, viewer: nil, address: address, tenantMax: nil)
        return state.flatMap { $0.isAllowed ? nil : $0.waitSeconds }
    }
}
