/// Decides whether a loop that tries again logs a failure: when the reason changes, and every ten minutes while it stays the same.
package struct RepeatedFailure: Sendable {
    private static let interval = Duration.seconds(600)
    private var last: (reason: String, time: ContinuousClock.Instant)?

    package init() {}

    package mutating func isToBeLogged(
        _ reason: String, now: ContinuousClock.Instant = .now
    ) -> Bool {
        if let last, last.reason == reason, now - last.time < Self.interval { return false }
        last = (reason, now)
        return true
    }

    /// Call this after a success, so that the next failure is logged.
    package mutating func end() { last = nil }
}
