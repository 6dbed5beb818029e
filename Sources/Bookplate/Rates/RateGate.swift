import GraphQL

/// Where one request is charged for what it asks.
struct RateGate {
    private let services: Services
    private let viewer: Viewer?
    private let address: RateKey?
    /// Nil where nothing is limited.
    private(set) var state: RateLimits.State?

    init(_ services: Services, _ viewer: Viewer?, _ address: RateKey?) {
        self.services = services
        self.viewer = viewer
        self.address = address
    }

    /// Whether so many more units may be taken; then they are.
    mutating func admits(_ units: Int) -> Bool {
        guard units > 0 else { return true }
        let tenantMax = viewer.flatMap { services.tenants.requestsPerMinuteMax(of: $0.tenantID) }
        state = services.rates.take(
            units, viewer: viewer, address: address, tenantMax: tenantMax)
        return state?.isAllowed ?? true
    }

    /// Why a request is refused whole.
    var error: GraphQLError {
        let error = BookplateError.rateLimited(retryAfterSeconds: state?.waitSeconds ?? 1)
        return GraphQLError(
            error.message, extensions: error.fieldError(requestID: "").extensions)
    }

    /// When what was refused for its rate may be asked again; nil where nothing was.
    static func retryAfterSeconds(of errors: [GraphQLError]) -> Int? {
        if errors.isEmpty { return nil }
        return errors.compactMap { error in
            error.code == "RATE_LIMITED"
                ? error.extensions.first { $0.name == "retryAfter" }?.value.int : nil
        }.max()
    }
}
