/// An event of the database connections, for logs and metrics.
package enum PostgresEvent: Sendable {
    /// A connection is ready for use; carries the process ID of its server backend.
    case connected(processID: Int32)
    /// An attempt to connect failed; the next one follows after the delay.
    case connectFailed(reason: String, retryAfter: Duration)
    /// An open connection was lost; a new one is being opened.
    case connectionLost(reason: String)
    /// A cancel request was sent because the statement's caller stopped waiting.
    case statementCancelled(processID: Int32)
    /// A pipeline was rejected because the queue was full.
    case poolExhausted(queuedCount: Int)
    /// A write was rejected, because too many earlier ones have not ended.
    case writesRefused

    /// The reason of `writesRefused`.
    static let writesRefusedReason = "earlier writes wait for a synchronous standby or a lock"

    /// Why requests fail; nil for an event that affects none.
    package var failure: String? {
        switch self {
        case .connectFailed(let reason, _): reason
        case .poolExhausted(let count): "\(count) requests wait for a connection"
        case .writesRefused: Self.writesRefusedReason
        case .connected, .connectionLost, .statementCancelled: nil
        }
    }
}
