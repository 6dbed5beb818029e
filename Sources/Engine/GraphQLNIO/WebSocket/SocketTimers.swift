import NIOCore

/// Tracks the deadlines of one WebSocket. It performs no I/O: `action` returns what to do when a deadline has passed.
struct SocketTimers {
    enum Action: Equatable {
        case nothing
        case ping
        case initialisationTimedOut
        case tokenExpired
        /// The client has not read its responses for too long.
        case tooSlow
        /// The client did not answer a ping, or did not answer a close frame in time.
        case disconnect
    }

    private let limits: HTTPLimits
    private var initialisationAt: NIODeadline?
    private var pingAt: NIODeadline
    private var isPinged = false
    private var slowAt = NIODeadline.distantFuture
    private var closedAt: NIODeadline?
    var tokenExpiresAt = NIODeadline.distantFuture

    init(_ limits: HTTPLimits, now: NIODeadline) {
        self.limits = limits
        initialisationAt = now + limits.initialisationTimeout
        pingAt = now + limits.pingInterval
    }

    /// The next time when `action` may return something other than `nothing`.
    var deadline: NIODeadline {
        closedAt ?? min(initialisationAt ?? .distantFuture, pingAt, slowAt, tokenExpiresAt)
    }

    mutating func connected(now: NIODeadline) {
        initialisationAt = nil
        received(now: now)
    }

    /// Records that a message arrived from the client.
    mutating func received(now: NIODeadline) {
        isPinged = false
        pingAt = now + limits.pingInterval
    }

    mutating func set(isWritable: Bool, now: NIODeadline) {
        slowAt = isWritable ? .distantFuture : now + limits.slowReaderTimeout
    }

    mutating func closeStarted(now: NIODeadline) { closedAt = now + limits.lingeringCloseTimeout }

    mutating func action(now: NIODeadline) -> Action {
        if let closedAt { return closedAt <= now ? .disconnect : .nothing }
        if let initialisationAt, initialisationAt <= now { return .initialisationTimedOut }
        if tokenExpiresAt <= now { return .tokenExpired }
        if slowAt <= now { return .tooSlow }
        guard pingAt <= now else { return .nothing }
        if isPinged { return .disconnect }
        isPinged = true
        pingAt = now + limits.pingInterval
        return .ping
    }
}
