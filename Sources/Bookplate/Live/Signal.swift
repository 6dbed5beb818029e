import Synchronization

/// Says that there may be something new. Signals that nobody waits for count as one.
final class Signal: Sendable {
    private struct State {
        var isSet = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// To be called on any thread.
    func set() {
        state.withLock { state in
            state.isSet = true
            return state.waiting.take()
        }?.resume()
    }

    /// Waits until it is set, but not for longer.
    func wait(atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until it is set, and takes it back. One task waits at a time.
    ///
    /// - Returns: also when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isSet || Task.isCancelled { return true }
                    state.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
            // What is set while the task is cancelled, another one may wait for.
            if !Task.isCancelled { state.withLock { $0.isSet = false } }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume()
        }
    }
}
