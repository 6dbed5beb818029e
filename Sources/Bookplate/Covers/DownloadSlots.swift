import Postgres
import Synchronization

/// Limits how many images readers download at a time, because each is held in memory: up to 25 MB.
final class DownloadSlots: Sendable {
    static let ofUserMax = 3
    static let ofProcessMax = 24

    private let running = Mutex<[UUID: Int]>([:])

    /// Runs a download of a reader.
    ///
    /// - Throws: `.rateLimited` if too many are running, or an error of `work`.
    func run<Value>(
        for user: UUID, _ work: () async throws(BookplateError) -> Value
    ) async throws(BookplateError) -> Value {
        let isAllowed = running.withLock { running in
            let ofUser = running[user] ?? 0
            guard ofUser < Self.ofUserMax,
                running.values.reduce(0, +) < Self.ofProcessMax
            else { return false }
            running[user] = ofUser + 1
            return true
        }
        guard isAllowed else { throw .rateLimited(retryAfterSeconds: 5) }
        defer {
            running.withLock { running in
                let left = (running[user] ?? 0) - 1
                running[user] = left > 0 ? left : nil
            }
        }
        return try await work()
    }
}
