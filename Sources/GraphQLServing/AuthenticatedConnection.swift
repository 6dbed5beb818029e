/// The authenticated client of a long-lived connection. The session is watched while this value is alive.
package struct AuthenticatedConnection {
    /// The time until the token expires.
    package let tokenLifetime: Duration
    /// The id of the session. A later token on the same connection must belong to the same session.
    package let session: String
    private let watch: AnyObject

    /// - Parameter watch: Keeps watching the session until it is released.
    package init(tokenLifetime: Duration, session: String, watch: AnyObject) {
        self.tokenLifetime = tokenLifetime
        self.session = session
        self.watch = watch
    }
}

/// The kind of a long-lived connection.
package enum ConnectionKind: Sendable {
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

/// The address of a client: an IPv6 address, or an IPv4 address mapped into one.
package struct ClientAddress: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
