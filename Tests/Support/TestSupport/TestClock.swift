import Synchronization

/// The continuous clock plus an offset that a test can increase.
package final class TestClock: Sendable {
    private let offset = Mutex(Duration.zero)

    package init() {}

    package var now: ContinuousClock.Instant { .now.advanced(by: offset.withLock { $0 }) }

    package func advance(by duration: Duration) { offset.withLock { $0 += duration } }
}
