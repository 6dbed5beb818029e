/// The two media types of a GraphQL response.
package enum ResponseMediaType: Sendable, Equatable {
    /// `application/graphql-response+json`: status 400 if the request was invalid.
    case graphQLResponse
    /// `application/json`: status 200 for every well-formed request.
    case json

    /// The value of `content-type`.
    package var contentType: String {
        switch self {
        case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
        case .json: "application/json; charset=utf-8"
        }
    }
}
