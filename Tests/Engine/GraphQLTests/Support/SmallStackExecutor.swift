import Foundation
import Synchronization

/// Runs tasks on one thread with a small stack. A task that uses more stack crashes the tests.
final class SmallStackExecutor: TaskExecutor {
    /// The jobs that were not started yet. Nil stops the thread.
    private let jobs = Mutex<[UnownedJob?]>([])
    private let available = DispatchSemaphore(value: 0)

    init(stackKilobytes: Int) {
        let thread = Thread { [self] in
            while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
        thread.stackSize = stackKilobytes * 1024
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) { append(UnownedJob(job)) }

    func stop() { append(nil) }

    private func append(_ job: UnownedJob?) {
        jobs.withLock { $0.append(job) }
        available.signal()
    }

    private func next() -> UnownedJob? {
        available.wait()
        return jobs.withLock { $0.removeFirst() }
    }
}

/// Runs `body` on a thread with a stack of the given size.
func withStack<Result: Sendable>(
    kilobytes: Int, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let executor = SmallStackExecutor(stackKilobytes: kilobytes)
    defer { executor.stop() }
    return try await Task(executorPreference: executor) { try await body() }.value
}
