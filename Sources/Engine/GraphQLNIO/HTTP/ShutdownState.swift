import Synchronization

/// Whether the server has received a stop signal. The HTTP server sets it, and `/health/ready` reports it, so that load
/// balancers stop sending requests before the server stops accepting connections.
package final class ShutdownState: Sendable {
    private let flag = Atomic(false)

    package var isStopping: Bool { flag.load(ordering: .relaxed) }

    package init() {}

    func begin() {
        flag.store(true, ordering: .relaxed)
    }
}
