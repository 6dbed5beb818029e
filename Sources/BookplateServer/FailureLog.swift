import Logging
import Synchronization

/// Logs failures of external services, at most once per minute and service: an unavailable service fails for every
/// book.
final class FailureLog: Sendable {
    private struct Suppression {
        let since: ContinuousClock.Instant
        /// The number of failures that were not logged.
        var count = 0
    }

    private static let interval = Duration.seconds(60)

    private let suppressions = Mutex<[String: Suppression]>([:])
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func failed(_ source: String, _ error: any Error) {
        let now = ContinuousClock.now
        let suppressedCount = suppressions.withLock { suppressions -> Int? in
            if let suppression = suppressions[source], now - suppression.since < Self.interval {
                suppressions[source]?.count += 1
                return nil
            }
            let suppressedCount = suppressions[source]?.count ?? 0
            suppressions[source] = Suppression(since: now)
            return suppressedCount
        }
        guard let suppressedCount else { return }
        logger.warning(
            "a request to a source failed",
            metadata: ["source": "\(source)", "error": "\(error)", "before": "\(suppressedCount)"])
    }
}
