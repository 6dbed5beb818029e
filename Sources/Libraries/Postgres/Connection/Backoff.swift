/// The delay before the next attempt to connect: exponential backoff with jitter.
///
/// The delay starts at 50 ms, doubles with each consecutive failure, and is capped at 5 s. Each delay is
/// then scaled by a random factor from 0.5 to 1, so that connections which failed together do not
/// reconnect together. With a factor of 1 the delays are 50, 100, 200, 400, 800, 1600, 3200, 5000 ms.
struct Backoff {
    private static let first: Duration = .milliseconds(50)
    private static let longest: Duration = .seconds(5)

    private var failureCount = 0

    /// Records a failed attempt and returns the delay before the next one.
    ///
    /// - Parameter random: A random number from 0 to 1 that sets the jitter.
    mutating func nextDelay(random: Double) -> Duration {
        // 50 ms doubled seven times exceeds the maximum, and the cap keeps the shift from overflowing.
        let delay = min(Backoff.longest, Backoff.first * (1 << min(failureCount, 7)))
        failureCount += 1
        return delay * (0.5 + random / 2)
    }

    mutating func reset() {
        failureCount = 0
    }
}
