/// How long to wait before the next attempt to connect: not at all, then twice as long each time.
struct Backoff {
    private static let first: Duration = .milliseconds(50)
    private static let longest: Duration = .seconds(5)

    private var failureCount = 0

    /// An attempt failed.
    ///
    /// - Parameter random: from 0 to 1; spreads the attempts of many connections.
    mutating func failed(random: Double) -> Duration {
        // 50 ms doubled seven times is past the longest.
        let delay = min(Backoff.longest, Backoff.first * (1 << min(failureCount, 7)))
        failureCount += 1
        return delay * (0.5 + random / 2)
    }

    mutating func succeeded() {
        failureCount = 0
    }
}
