import Synchronization

/// Whether a request was cancelled because its response took too long.
///
/// A request's task is cancelled for two reasons: its client left, or this. Only in the second case does a client still
/// wait for the response.
package final class ResponseTimeout: Sendable {
    private let passed = Atomic(false)

    package init() {}

    package var hasPassed: Bool { passed.load(ordering: .relaxed) }

    func pass() { passed.store(true, ordering: .relaxed) }
}
