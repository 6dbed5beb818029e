/// Decides whether notifications arrive, from those that the hub sends to itself.
///
/// LISTEN may succeed although no notification ever arrives, for example through a connection pooler. Notifications count as
/// arriving from the first one on the present connection until one is missing.
struct NotificationEcho {
    /// The interval of the notifications to itself.
    static let interval = Duration.seconds(2)

    /// When LISTEN succeeded; nil while the connection is down.
    private var connectedAt: ContinuousClock.Instant?
    /// When the last notification to itself arrived on the present connection.
    private var arrivedAt: ContinuousClock.Instant?
    private var hasReported = false

    enum Check {
        /// The connection is down, or the last notification has arrived.
        case expected
        /// The last notification has not arrived. `isFirst` is false until one arrives again.
        case missing(isFirst: Bool)
    }

    mutating func connected(at now: ContinuousClock.Instant) {
        (connectedAt, arrivedAt) = (now, nil)
    }

    mutating func disconnected() {
        (connectedAt, arrivedAt) = (nil, nil)
    }

    mutating func arrived(at now: ContinuousClock.Instant) {
        arrivedAt = now
        hasReported = false
    }

    /// Checks the last notification, before the next one is sent.
    mutating func check(at now: ContinuousClock.Instant) -> Check {
        guard let last = arrivedAt ?? connectedAt, now - last > Self.interval * 1.5 else {
            return .expected
        }
        defer { hasReported = true }
        return .missing(isFirst: !hasReported)
    }
}
