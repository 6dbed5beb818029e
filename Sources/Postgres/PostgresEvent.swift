/// What an operator may want to know of the database connections.
package enum PostgresEvent: Sendable {
    /// A connection can be used; the backend's process id.
    case connected(processID: Int32)
    /// An attempt to connect failed, and the next one follows after the delay.
    case connectFailed(reason: String, retryAfter: Duration)
    /// A connection in use broke; a new one is made.
    case connectionLost(reason: String)
    /// A statement was cancelled at the server, for its caller had gone.
    case statementCancelled(processID: Int32)
    /// A segment was refused, for too many waited already.
    case poolExhausted(queuedCount: Int)
}
