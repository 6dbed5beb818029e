import GraphQL
import GraphQLServing

/// The response to a GraphQL request, with the database work that it needed.
package struct TestResponse: Sendable {
    package let json: Value
    /// Whether the request failed before execution, for example because it is not valid GraphQL.
    package let isRequestError: Bool
    package let refusal: GraphQLResponse.Refusal?
    package let statements: Int
    package let roundTrips: Int
    /// The state of the caller's rate limit; nil if no rate limit applies.
    package let rate: RateLimitStatus?

    /// The value at a path below `data`; nil if the path does not exist.
    package subscript(_ path: PathElement...) -> Value? { value(at: path) }

    package func value(at path: [PathElement]) -> Value? {
        json["data"].flatMap { $0.value(at: path) }
    }

    /// The time after which a request refused by a rate limit can be repeated; nil for any other response.
    package var retryAfterSeconds: Int? {
        if case .rateLimited(let seconds)? = refusal { seconds } else { nil }
    }

    package var errors: [Value] { json["errors"]?.list ?? [] }

    /// The error code of the first error.
    package var code: String? { errors.first?["extensions"]?["code"]?.string }
    /// Why the input of the first error is refused.
    package var reason: String? { errors.first?["extensions"]?["reason"]?.string }
    /// The message of the first error.
    package var message: String? { errors.first?["message"]?.string }
    /// The input field that the first error names.
    package var field: String? { errors.first?["extensions"]?["field"]?.string }
}
