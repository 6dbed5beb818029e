import Logging
import Synchronization

/// Logs when the server stops being ready, why, and when it is ready again. Requests of monitors are not logged.
final class ReadinessLog: Sendable {
    private let last = Mutex<String?>(nil)
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// - Parameter reason: Why the server is not ready; nil if it is.
    func record(_ reason: String?) {
        let hasChanged = last.withLock { last in
            defer { last = reason }
            return last != reason
        }
        guard hasChanged else { return }
        if let reason {
            logger.warning("not ready", metadata: ["reason": "\(reason)"])
        } else {
            logger.notice("ready again")
        }
    }
}
