import GraphQL
import GraphQLServing

extension ConnectionAuthenticationError {
    init(_ error: BookplateError) {
        self =
            switch error {
            case .unauthenticated: .unauthenticated
            case .rateLimited(let seconds): .rateLimited(retryAfterSeconds: seconds)
            default: .unavailable
            }
    }
}

extension RateLimitStatus {
    init(_ state: RateLimits.State) {
        self.init(
            name: state.name.description, unitsPerMinute: state.unitsPerMinute,
            remainingUnits: state.remaining, waitSeconds: state.waitSeconds)
    }
}

extension GraphQLResponse.Refusal {
    /// Creates the refusal that the errors contain; nil if none of them has the code `RATE_LIMITED` or `SERVICE_UNAVAILABLE`.
    init?(_ errors: [GraphQLError]) {
        func longestWait(_ code: String) -> Int? {
            errors.compactMap { error in
                error.code == code
                    ? error.extensions.first { $0.name == "retryAfter" }?.value.int : nil
            }.max()
        }
        if errors.isEmpty { return nil }
        if let seconds = longestWait("RATE_LIMITED") {
            self = .rateLimited(retryAfterSeconds: seconds)
        } else if let seconds = longestWait(BookplateError.serviceUnavailableCode) {
            self = .unavailable(retryAfterSeconds: seconds)
        } else {
            return nil
        }
    }
}
