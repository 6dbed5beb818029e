import NIOCore

/// The times of one socket: what is due next, and when.
struct SocketClock {
    enum Action: Equatable {
        case nothing
        case ping
        case initialisationTimedOut
        case tokenExpired
        /// The client has not read for too long.
        case tooSlow
        /// Nobody is there, or the last word has had its time.
        case giveUp
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

    /// When `action` has something to say.
    var deadline: NIODeadline {
        closedAt ?? min(initialisationAt ?? .distantFuture, pingAt, slowAt, tokenExpiresAt)
    }

    mutating func connected(now: NIODeadline) {
        initialisationAt = nil
        heard(now: now)
    }

    /// Something came from the client.
    mutating func heard(now: NIODeadline) {
        isPinged = false
        pingAt = now + limits.pingInterval
    }

    mutating func set(isWritable: Bool, now: NIODeadline) {
        slowAt = isWritable ? .distantFuture : now + limits.slowReaderTimeout
    }

    mutating func closing(now: NIODeadline) { closedAt = now + limits.lastWordTimeout }

    mutating func action(now: NIODeadline) -> Action {
        if let closedAt { return closedAt <= now ? .giveUp : .nothing }
        if let initialisationAt, initialisationAt <= now { return .initialisationTimedOut }
        if tokenExpiresAt <= now { return .tokenExpired }
        if slowAt <= now { return .tooSlow }
        guard pingAt <= now else { return .nothing }
        if isPinged { return .giveUp }
        isPinged = true
        pingAt = now + limits.pingInterval
        return .ping
    }
}
