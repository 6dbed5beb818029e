import Synchronization

/// What is open right now, of all loops; each returns to zero when nobody listens.
package final class LiveGauges: Sendable {
    private let socketCount = Atomic(0)
    private let operationCount = Atomic(0)
    private let streamCount = Atomic(0)

    package init() {}

    /// WebSockets.
    package var sockets: Int { socketCount.load(ordering: .relaxed) }
    /// Operations under way on WebSockets.
    package var operations: Int { operationCount.load(ordering: .relaxed) }
    /// Answers that are sent in parts: `text/event-stream` and `multipart/mixed`.
    package var streams: Int { streamCount.load(ordering: .relaxed) }

    func socketOpened() { socketCount.add(1, ordering: .relaxed) }
    func socketClosed() { socketCount.subtract(1, ordering: .relaxed) }
    func operationStarted() { operationCount.add(1, ordering: .relaxed) }
    func operationEnded() { operationCount.subtract(1, ordering: .relaxed) }
    func streamOpened() { streamCount.add(1, ordering: .relaxed) }
    func streamClosed() { streamCount.subtract(1, ordering: .relaxed) }
}
