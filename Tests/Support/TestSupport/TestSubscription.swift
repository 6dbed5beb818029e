import GraphQL
import Postgres

/// A running GraphQL subscription. The test reads its events one at a time.
package final class TestSubscription: Sendable {
    private let events: AsyncStream<Value>
    private let task: Task<Void, Never>

    /// - Parameter run: starts the task that adds each event to the stream. The task runs on the pool's event loop.
    init(_ run: @Sendable @escaping (AsyncStream<Value>.Continuation) -> Task<Void, Never>) {
        let (events, continuation) = AsyncStream.makeStream(of: Value.self)
        self.events = events
        task = run(continuation)
    }

    deinit { task.cancel() }

    /// Returns the next event, or null if the subscription has ended or sends nothing before the time limit.
    package func next(within limit: Duration = .seconds(60)) async -> Value {
        await withTaskGroup(of: Value.self) { group in
            group.addTask {
                for await event in self.events { return event }
                return .null
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return .null
            }
            defer { group.cancelAll() }
            return await group.next() ?? .null
        }
    }

    /// Cancels the subscription and waits until its task has ended.
    package func cancel() async {
        task.cancel()
        await task.value
    }
}
