import Synchronization

/// A flag that wakes a task when there may be new data. Setting it again before a task has waited has no effect.
package final class Signal: Sendable {
    private struct State {
        var isSet = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Sets the flag and wakes the waiting task. Can be called on any thread.
    func set() {
        state.withLock { state in
            state.isSet = true
            return state.waiting.take()
        }?.resume()
    }

    /// Waits until the flag is set, and resets it. Returns after `time` at the latest.
    package func wait(atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until the flag is set, and resets it. Only one task may wait at a time.
    ///
    /// Also returns when the task is cancelled.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isSet || Task.isCancelled { return true }
                    state.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
            // A cancelled task leaves the flag set for the next task.
            if !Task.isCancelled { state.withLock { $0.isSet = false } }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume()
        }
    }
}
