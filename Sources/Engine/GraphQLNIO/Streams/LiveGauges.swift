import Synchronization

/// The numbers of open connections and running operations on all event loops. Each number returns to 0 when the server
/// is idle.
package final class LiveGauges: Sendable {
    private let socketCount = Atomic(0)
    private let operationCount = Atomic(0)
    private let streamCount = Atomic(0)

    package init() {}

    /// The number of open WebSockets.
    package var sockets: Int { socketCount.load(ordering: .relaxed) }
    /// The number of operations that run on WebSockets.
    package var operations: Int { operationCount.load(ordering: .relaxed) }
    /// The number of open streams: responses with `text/event-stream` or `multipart/mixed`.
    package var streams: Int { streamCount.load(ordering: .relaxed) }

    func socketOpened() { socketCount.add(1, ordering: .relaxed) }
    func socketClosed() { socketCount.subtract(1, ordering: .relaxed) }
    func operationStarted() { operationCount.add(1, ordering: .relaxed) }
    func operationEnded() { operationCount.subtract(1, ordering: .relaxed) }
    func streamOpened() { streamCount.add(1, ordering: .relaxed) }
    func streamClosed() { streamCount.subtract(1, ordering: .relaxed) }
}
