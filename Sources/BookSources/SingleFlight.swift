import Synchronization

/// Work that many ask for at once and that is done once.
///
/// It is nobody's child, so a caller who gives up does not end it for the others.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let underWay = Mutex<[Key: Task<Value, Never>]>([:])

    func value(of key: Key, _ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = underWay.withLock { underWay in
            if let task = underWay[key] { return task }
            let task = Task {
                let value = await work()
                self.underWay.withLock { $0[key] = nil }
                return value
            }
            underWay[key] = task
            return task
        }
        return await task.value
    }
}
