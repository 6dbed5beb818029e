import Synchronization

/// Whether a request was cancelled because its response took too long.
///
/// A request's task is cancelled for two reasons: its client disconnected, or its response took too long. Only in the
/// second case does the client still wait for the response.
package final class ResponseTimeout: Sendable {
    private let passed = Atomic(false)

    package init() {}

    package var hasPassed: Bool { passed.load(ordering: .relaxed) }

    func pass() { passed.store(true, ordering: .relaxed) }
}
