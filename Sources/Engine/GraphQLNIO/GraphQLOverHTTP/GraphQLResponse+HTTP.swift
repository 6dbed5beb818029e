import GraphQLServing
import NIOHTTP1

extension GraphQLResponse {
    /// The time for which caches may keep a public response, in seconds.
    private static let publicMaxAge = 60

    /// Returns the HTTP status. A request error has 400 as `application/graphql-response+json`, and 200 as
    /// `application/json`.
    ///
    /// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes
    func httpStatus(as mediaType: ResponseMediaType) -> HTTPResponseStatus {
        switch refusal {
        case .mutationInReadOnlyRequest?: .methodNotAllowed
        case .rateLimited?: .tooManyRequests
        case .unavailable?: .serviceUnavailable
        case nil: isRequestError && mediaType == .graphQLResponse ? .badRequest : .ok
        }
    }

    /// Returns the header fields that describe the response.
    ///
    /// Spec of `ratelimit`: https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
    func headers(isGET: Bool) -> [(String, String)] {
        var headers: [(String, String)] = []
        if let limit = rateLimit {
            headers += [
                ("RateLimit-Policy", "\"\(limit.name)\";q=\(limit.unitsPerMinute);w=60"),
                (
                    "RateLimit",
                    "\"\(limit.name)\";r=\(limit.remainingUnits);t=\(limit.waitSeconds)"
                ),
            ]
        }
        switch refusal {
        case .rateLimited(let seconds)?, .unavailable(let seconds)?:
            headers.append(("Retry-After", "\(seconds)"))
        case .mutationInReadOnlyRequest?, nil: break
        }
        if let cost = databaseCost {
            headers.append(
                (
                    "X-Database-Cost",
                    "statements=\(cost.statementCount), round-trips=\(cost.roundTripCount)"
                ))
        }
        if isGET, isPublic {
            headers.append(("Cache-Control", "public, max-age=\(Self.publicMaxAge)"))
        }
        return headers
    }
}
