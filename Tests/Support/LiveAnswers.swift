import Bookplate
import GraphQL
import Postgres

/// A subscription as a transport reads it: each answer is asked for when the test wants it.
package final class LiveAnswers: Sendable {
    private let answers: AsyncStream<Value>
    private let task: Task<Void, Never>

    /// - Parameter open: runs on the pool's loop; each answer goes into the stream.
    init(_ run: @Sendable @escaping (AsyncStream<Value>.Continuation) -> Task<Void, Never>) {
        let (answers, continuation) = AsyncStream.makeStream(of: Value.self)
        self.answers = answers
        task = run(continuation)
    }

    deinit { task.cancel() }

    /// The next answer, or null where there is none in time or any more.
    package func next(within limit: Duration = .seconds(10)) async -> Value {
        await withTaskGroup(of: Value.self) { group in
            group.addTask {
                for await answer in self.answers { return answer }
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

    /// Ends it and waits until nothing of it runs.
    package func cancel() async {
        task.cancel()
        await task.value
    }
}
