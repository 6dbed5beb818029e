/// The authenticated client of a long-lived connection. The session is watched while this value is alive.
public struct AuthenticatedConnection {
    /// The time until the token expires.
    public let tokenLifetime: Duration
    /// The id of the session. A later token on the same connection must belong to the same session.
    public let session: String
    private let watch: AnyObject

    /// - Parameters:
    ///   - tokenLifetime: The time until the token expires. The connection is closed then, unless the client sends a new token.
    ///   - session: The id of the session, which a later token must have.
    ///   - watch: Watches the session until it is released.
    public init(tokenLifetime: Duration, session: String, watch: AnyObject) {
        self.tokenLifetime = tokenLifetime
        self.session = session
        self.watch = watch
    }
}

/// The kind of a long-lived connection.
public enum ConnectionKind: Sendable {
    /// A WebSocket from this address. Its token was not sent with a request, so rate limits count the authentication as
    /// one.
    case socket(from: ClientAddress?)
    /// A stream of responses. Rate limits have already counted its request.
    case stream
}

/// The reason why a long-lived connection is not authenticated.
public enum ConnectionAuthenticationError: Error, Equatable {
    /// The token is invalid, or its session has ended.
    case unauthenticated
    /// The client has exceeded a rate limit.
    case rateLimited(retryAfterSeconds: Int)
    /// The database is unavailable.
    case unavailable
}

/// The address of a client: an IPv6 address, or an IPv4 address mapped into one.
public struct ClientAddress: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Creates the address of these 16 bytes. An IPv4 address is `::ffff:a.b.c.d`.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
