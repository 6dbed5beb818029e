import Synchronization

/// A request to another service, or other work that does not use the context of the request.
///
/// The calls of one level run at the same time, and while the context is flushed. At most eight of an operation run at once.
/// Calls for what is delivered after the first of several responses run one after the other. A call ends early if the operation
/// is cancelled and its work supports cancellation.
public struct ConcurrentCall {
    /// Runs the work and keeps its result.
    let run: @Sendable () async -> Void
    /// Returns the children for the result of the work. Called after `run`.
    let finish: () -> Children

    /// - Parameters:
    ///   - work: the work, which runs in a task of its own.
    ///   - finish: converts the result of the work. It runs alone, so it may use the context.
    public init<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        finish: @escaping (Result) -> Children
    ) {
        let result = CallResult<Result>()
        run = {
            let value = await work()
            result.value.withLock { $0 = value }
        }
        self.finish = {
            guard let value = result.value.withLock({ $0 }) else {
                // Impossible: `run`, which sets the value, has returned.
                preconditionFailure("A call was finished before it was run.")
            }
            return finish(value)
        }
    }
}

/// The result of a call, nil until the work has ended.
private final class CallResult<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

extension [ConcurrentCall] {
    /// The maximum number of calls of one operation that run at the same time.
    private static var runningMax: Int { 8 }

    /// Runs the calls, and `meanwhile` at the same time. Returns when all have ended.
    func run(meanwhile: () async -> Void) async {
        let calls = map(\.run)
        async let ended: Void = Self.run(calls)
        await meanwhile()
        await ended
    }

    private static func run(_ calls: [@Sendable () async -> Void]) async {
        await withTaskGroup(of: Void.self) { tasks in
            for (index, call) in calls.enumerated() {
                if index >= runningMax { await tasks.next() }
                tasks.addTask { await call() }
            }
        }
    }
}
