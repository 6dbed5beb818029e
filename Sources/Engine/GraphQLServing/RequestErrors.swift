import GraphQL

extension GraphQLRequest {
    /// Reads the parameter `onError`. The default is `.propagate`.
    ///
    /// - Throws: An error if it is not the name of a behavior.
    package func errorBehavior() throws(RequestErrors) -> ErrorBehavior {
        guard let onError, !onError.isNull else { return .propagate }
        guard let behavior = onError.string.flatMap(ErrorBehavior.init) else {
            throw RequestErrors([
                GraphQLError(
                    "The parameter 'onError' must be \"NULL\", \"PROPAGATE\", or \"HALT\".",
                    kind: .invalidInput)
            ])
        }
        return behavior
    }
}

extension GraphQLError {
    /// The error of a subscription in a request that expects a single response.
    package static let subscriptionNeedsStream = GraphQLError(
        "A subscription returns several responses. Accept text/event-stream or "
            + "multipart/mixed;subscriptionSpec=\"1.0\", or use a WebSocket.",
        kind: .invalidInput)

    /// The error of a mutation in a request that is read-only.
    package static let mutationNeedsPOST = GraphQLError(
        "GET requests can only execute queries. Send mutations with POST.",
        kind: .invalidInput)
}
