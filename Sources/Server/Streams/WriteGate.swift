/// Where the tasks of one connection wait until its client has read what was sent before.
///
/// Whoever passes writes at once, so what waits in memory is one response and the socket's watermark.
final class WriteGate {
    private enum State {
        case open, shut, gone
    }

    private var state = State.open
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Returns when the client can be written to.
    ///
    /// - Returns: false when the connection is gone.
    func pass() async -> Bool {
        while case .shut = state {
            await withCheckedContinuation { waiting.append($0) }
        }
        if case .gone = state { return false }
        return true
    }

    func set(isWritable: Bool) {
        if case .gone = state { return }
        state = isWritable ? .open : .shut
        if isWritable { resume() }
    }

    func close() {
        state = .gone
        resume()
    }

    private func resume() {
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }
}
