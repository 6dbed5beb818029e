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
    /// The last error of a stream whose session has ended.
    static let sessionEnded = GraphQLError(
        "The session has ended, or the access token has expired. Get a new token and resume from your cursor.",
        extensions: [.init("code", .string("UNAUTHENTICATED"))])

    static let unavailable = GraphQLError(
        "The service is not available right now. Try again in a moment.",
        extensions: [.init("code", .string("UPSTREAM_UNAVAILABLE"))])

    /// The last error of a stream whose client reads too slowly.
    static let tooSlow = GraphQLError(
        "The responses were not read fast enough. Resume from your cursor.",
        extensions: [.init("code", .string("TOO_SLOW"))])
}
