import Synchronization

/// Combines concurrent requests for the same key, so that the work is done once.
///
/// The work runs in an unstructured task. A caller that is cancelled does not cancel it for the other callers.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let tasks = Mutex<[Key: Task<Value, Never>]>([:])

    func value(of key: Key, _ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = tasks.withLock { tasks in
            if let task = tasks[key] { return task }
            let task = Task {
                let value = await work()
                self.tasks.withLock { $0[key] = nil }
                return value
            }
            tasks[key] = task
            return task
        }
        return await task.value
    }
}
