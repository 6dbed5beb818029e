import GraphQL
import GraphQLServing
import NIOCore

extension GraphQLService {
    /// Authenticates the client of a long-lived connection on an event loop.
    ///
    /// - Parameter onSessionEnd: Called on the loop if the session ends while the returned value is alive, perhaps several
    ///   times.
    func authenticateConnection(
        _ bearerToken: String, for kind: ConnectionKind, on loop: any EventLoop,
        onSessionEnd: @escaping () -> Void
    ) async throws(ConnectionAuthenticationError) -> AuthenticatedConnection {
        let onSessionEnd = NIOLoopBound(onSessionEnd, eventLoop: loop)
        return try await authenticateConnection(bearerToken, for: kind) {
            loop.execute { onSessionEnd.value() }
        }
    }
}

extension AuthenticatedConnection {
    /// The time when the token expires.
    var expiresAt: NIODeadline { .now() + TimeAmount(tokenLifetime) }
}

extension GraphQLError {
    /// The only error of a stream whose client is not authenticated.
    init(_ error: ConnectionAuthenticationError) {
        self =
            switch error {
            case .unauthenticated: .sessionEnded
            case .rateLimited, .unavailable: .unavailable
            }
    }

    /// The last error of a stream whose session has ended.
    static let sessionEnded = GraphQLError(
        "The session has ended, or the access token has expired. Get a new token, and subscribe again.",
        extensions: [.init("code", .string("UNAUTHENTICATED"))])

    /// The only error of a stream whose session cannot be checked because the database is unavailable.
    static let unavailable = GraphQLError(
        "The server cannot reach the data now. Nothing was changed. Try again in 1 s.",
        extensions: [
            .init("code", .string("SERVICE_UNAVAILABLE")), .init("retryAfter", .int(1)),
            .init("outcome", .string("NOT_DONE")),
        ])

    /// The only error of a subscription that could not be opened in time.
    static let timedOut = GraphQLError(
        "The subscription could not be opened in time. Try again in 1 s.",
        extensions: [
            .init("code", .string("SERVICE_UNAVAILABLE")), .init("retryAfter", .int(1)),
            .init("outcome", .string("NOT_DONE")),
        ])

    /// The last error of a stream whose client reads too slowly.
    static let tooSlow = GraphQLError(
        "The responses were not read fast enough. Subscribe again.",
        extensions: [.init("code", .string("TOO_SLOW"))])
}
