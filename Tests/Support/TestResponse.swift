import Bookplate
import GraphQL

/// The response to a GraphQL request, with the database work that it needed.
package struct TestResponse: Sendable {
    package let json: Value
    /// Whether the request failed before execution, for example because it is not valid GraphQL.
    package let isRequestError: Bool
    package let isForbiddenMutation: Bool
    package let statements: Int
    package let roundTrips: Int
    /// The state of the caller's rate limit; nil if no rate limit applies.
    package let rate: RateLimits.State?
    package let retryAfterSeconds: Int?

    /// The value at a path below `data`; nil if the path does not exist.
    package subscript(_ path: PathElement...) -> Value? { value(at: path) }

    package func value(at path: [PathElement]) -> Value? {
        json["data"].flatMap { $0.value(at: path) }
    }

    package var errors: [Value] { json["errors"]?.list ?? [] }

    /// The error code of the first error.
    package var code: String? { errors.first?["extensions"]?["code"]?.string }
    /// The message of the first error.
    package var message: String? { errors.first?["message"]?.string }
    /// The input field that the first error names.
    package var field: String? { errors.first?["extensions"]?["field"]?.string }
}
