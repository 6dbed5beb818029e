/// Makes the tasks of one connection wait until its client has read what was sent before.
///
/// A task that passes the gate writes immediately. The memory for pending writes is therefore limited to one response
/// and the socket's write watermark.
final class WriteGate {
    private enum State {
        case writable, blocked, closed
    }

    private var state = State.writable
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits until the connection is writable.
    ///
    /// - Returns: false if the connection is closed.
    func waitUntilWritable() async -> Bool {
        while case .blocked = state {
            await withCheckedContinuation { waiting.append($0) }
        }
        if case .closed = state { return false }
        return true
    }

    func set(isWritable: Bool) {
        if case .closed = state { return }
        state = isWritable ? .writable : .blocked
        if isWritable { resume() }
    }

    func close() {
        state = .closed
        resume()
    }

    private func resume() {
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }
}
