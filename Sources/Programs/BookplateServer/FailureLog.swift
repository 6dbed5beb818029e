import Logging
import Synchronization

/// Logs failures of external services and of the database, at most once per minute and source: an unavailable service fails for
/// every book.
final class FailureLog: Sendable {
    private struct Suppression {
        let since: ContinuousClock.Instant
        /// The number of failures that were not logged.
        var count = 0
    }

    private static let interval = Duration.seconds(60)

    private let suppressions = Mutex<[String: Suppression]>([:])
    private let logger: Logger
    private let message: String

    init(_ logger: Logger, message: String = "a request to a source failed") {
        self.logger = logger
        self.message = message
    }

    func failed(_ source: String, _ error: any Error) {
        failed(source, "\(error)", countedAs: source)
    }

    /// - Parameter key: Failures with the same key are logged at most once per minute.
    func failed(_ source: String, _ error: String, countedAs key: String) {
        let now = ContinuousClock.now
        let suppressedCount = suppressions.withLock { suppressions -> Int? in
            if let suppression = suppressions[key], now - suppression.since < Self.interval {
                suppressions[key]?.count += 1
                return nil
            }
            let suppressedCount = suppressions[key]?.count ?? 0
            suppressions[key] = Suppression(since: now)
            return suppressedCount
        }
        guard let suppressedCount else { return }
        logger.warning(
            "\(message)",
            metadata: [
                "source": "\(source)", "error": "\(error)",
                "before": .stringConvertible(suppressedCount),
            ])
    }
}
