import GraphQL

extension GraphQLError {
    /// The error of a subscription in a request that expects a single response.
    package static let subscriptionNeedsStream = GraphQLError(
        "A subscription returns several responses. Accept text/event-stream or "
            + "multipart/mixed;subscriptionSpec=\"1.0\", or use a WebSocket.",
        extensions: [.init("code", .string("BAD_USER_INPUT"))])

    /// The error of a mutation in a request that is read-only.
    package static let mutationNeedsPOST = GraphQLError(
        "GET requests can only execute queries. Send mutations with POST.",
        extensions: [.init("code", .string("BAD_USER_INPUT"))])
}
