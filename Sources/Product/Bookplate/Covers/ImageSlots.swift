import Postgres
import Requests
import Synchronization

/// Limits how many images are received from other servers at a time, in total and for each reader or address, because each is
/// held in memory while it arrives.
final class ImageSlots<Key: Hashable & Sendable>: Sendable {
    let ofKeyMax: Int
    let totalMax: Int
    private let retryAfterSeconds: Int

    private struct State {
        var total = 0
        /// Contains only keys with running work.
        var byKey: [Key: Int] = [:]
    }

    private let running = Mutex(State())

    init(ofKeyMax: Int, totalMax: Int, retryAfterSeconds: Int) {
        self.ofKeyMax = ofKeyMax
        self.totalMax = totalMax
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// Receives an image.
    ///
    /// - Parameter key: The reader or address whose limit applies; nil if only the total limit applies.
    /// - Throws: `.rateLimited` if too many are being received, or an error of `work`.
    func run<Value>(
        for key: Key?, _ work: () async throws(BookplateError) -> Value
    ) async throws(BookplateError) -> Value {
        let isAllowed = running.withLock { running in
            let ofKey = key.flatMap { running.byKey[$0] } ?? 0
            guard ofKey < ofKeyMax, running.total < totalMax else { return false }
            running.total += 1
            if let key { running.byKey[key] = ofKey + 1 }
            return true
        }
        guard isAllowed else { throw .rateLimited(retryAfterSeconds: retryAfterSeconds) }
        defer {
            running.withLock { running in
                running.total -= 1
                if let key {
                    let left = (running.byKey[key] ?? 0) - 1
                    running.byKey[key] = left > 0 ? left : nil
                }
            }
        }
        return try await work()
    }
}

extension ImageSlots<UUID> {
    /// The downloads that readers ask for, each of up to 25 MiB.
    static func downloads() -> ImageSlots {
        ImageSlots(ofKeyMax: 3, totalMax: 24, retryAfterSeconds: 5)
    }
}

extension ImageSlots<RateKey> {
    /// The images of a private bucket, which anyone with their URLs can request. An app shows at most a hundred on a page.
    static func bucketReads() -> ImageSlots {
        ImageSlots(ofKeyMax: 100, totalMax: 400, retryAfterSeconds: 1)
    }
}
