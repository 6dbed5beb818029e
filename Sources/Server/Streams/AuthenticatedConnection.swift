import GraphQL
import NIOCore

/// The authenticated client of a long-lived connection. The session is watched while this value is alive.
package struct AuthenticatedConnection {
    /// When the token expires.
    package let expiresAt: NIODeadline
    /// The id of the session. A later token on the same connection must belong to the same session.
    package let session: String
    private let watch: AnyObject

    /// - Parameter watch: Keeps watching the session until it is released.
    package init(expiresAt: NIODeadline, session: String, watch: AnyObject) {
        self.expiresAt = expiresAt
        self.session = session
        self.watch = watch
    }
}

/// The kind of a long-lived connection.
package enum ConnectionKind {
    /// A WebSocket from this address. Its token was not sent with a request, so rate limits count the authentication as
    /// one.
    case socket(from: ClientAddress?)
    /// A stream of responses. Rate limits have already counted its request.
    case stream
}

/// The reason why a long-lived connection is not authenticated.
package enum ConnectionAuthenticationError: Error, Equatable {
    /// The token is invalid, or its session has ended.
    case unauthenticated
    case rateLimited(retryAfterSeconds: Int)
    /// The database is unavailable.
    case unavailable
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
