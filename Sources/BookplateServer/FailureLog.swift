import Logging
import Synchronization

/// Logs that a service outside does not answer, once a minute for each: one that is away fails for every book.
final class FailureLog: Sendable {
    private struct Silence {
        let since: ContinuousClock.Instant
        /// Failures that were not told of.
        var count = 0
    }

    private static let interval = Duration.seconds(60)

    private let silences = Mutex<[String: Silence]>([:])
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func failed(_ source: String, _ error: any Error) {
        let now = ContinuousClock.now
        let untold = silences.withLock { silences -> Int? in
            if let silence = silences[source], now - silence.since < Self.interval {
                silences[source]?.count += 1
                return nil
            }
            let untold = silences[source]?.count ?? 0
            silences[source] = Silence(since: now)
            return untold
        }
        guard let untold else { return }
        logger.warning(
            "a source could not answer",
            metadata: ["source": "\(source)", "error": "\(error)", "before": "\(untold)"])
    }
}
