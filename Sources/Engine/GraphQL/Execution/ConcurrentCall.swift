import Synchronization

/// A request to another service, or other work that may take long.
///
/// The calls of one level run at the same time, and while the context is flushed. The result of a call for what is delivered
/// after the first of several responses is delivered as soon as it is there. At most eight calls of an operation run at once.
/// A call ends early if the operation is cancelled and its work supports cancellation.
public struct ConcurrentCall {
    /// The maximum number of calls of one operation that run at the same time.
    static let runningMax = 8

    /// Where the work runs; nil for no preference.
    let executor: (any TaskExecutor)?
    /// Runs the work and keeps its result.
    let run: @Sendable () async -> Void
    /// Returns the children for the result of the work. Called after `run`.
    let finish: () -> Children

    /// - Parameters:
    ///   - executor: where the work runs; nil for no preference: it then runs where the operation does, or on Swift's global
    ///     executor. Pass the operation's own executor if the work uses the context, so that both run on one thread.
    ///   - work: the work, which can run in a task of its own.
    ///   - finish: converts the result of the work. It runs alone, so it may use the context.
    public init<Result: Sendable>(
        on executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async -> Result,
        finish: @escaping (Result) -> Children
    ) {
        self.executor = executor
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
    /// Runs the calls, and `meanwhile` at the same time. Returns when all have ended.
    func run(meanwhile: () async -> Void) async {
        let calls = map { (executor: $0.executor, run: $0.run) }
        async let ended: Void = Self.run(calls)
        await meanwhile()
        await ended
    }

    private static func run(
        _ calls: [(executor: (any TaskExecutor)?, run: @Sendable () async -> Void)]
    ) async {
        await withTaskGroup(of: Void.self) { tasks in
            for (index, call) in calls.enumerated() {
                if index >= ConcurrentCall.runningMax { await tasks.next() }
                tasks.addTask(executorPreference: call.executor) { await call.run() }
            }
        }
    }
}

/// Calls that run while the parts of a response are delivered.
///
/// They are cancelled when this object is released, because the rest of the response is then not requested.
final class BackgroundCalls {
    struct Entry {
        let frame: Frame
        let field: Int
        let call: ConcurrentCall
    }

    /// The calls that have not been started.
    private var waiting: [Entry] = []
    private var running: [Int: (entry: Entry, task: Task<Void, Never>)] = [:]
    private var startedCount = 0
    /// The numbers of the calls that have ended.
    private let ended: AsyncStream<Int>
    private let end: AsyncStream<Int>.Continuation
    private let endedCount = EndedCount()

    init() { (ended, end) = AsyncStream.makeStream() }

    deinit {
        for (_, task) in running.values { task.cancel() }
    }

    func add(_ entry: Entry) {
        waiting.append(entry)
        startNext()
    }

    private func startNext() {
        while !waiting.isEmpty, running.count < ConcurrentCall.runningMax {
            let entry = waiting.removeFirst()
            let number = startedCount
            startedCount += 1
            let (run, end, endedCount) = (entry.call.run, end, endedCount)
            let task = Task(executorPreference: entry.call.executor) {
                await run()
                endedCount.add(1)
                end.yield(number)
            }
            running[number] = (entry, task)
        }
    }

    /// Whether `next` returns a call without waiting for it.
    var hasEnded: Bool { endedCount.value > 0 }

    /// Waits for a call to end.
    ///
    /// - Returns: nil if there is none, or if the task is cancelled. The calls are cancelled then, too.
    func next() async -> Entry? {
        if running.isEmpty { return nil }
        var iterator = ended.makeAsyncIterator()
        guard let number = await iterator.next() else {
            for (_, task) in running.values { task.cancel() }
            return nil
        }
        endedCount.add(-1)
        let ended = running.removeValue(forKey: number)?.entry
        startNext()
        return ended
    }
}

/// The number of calls that have ended and whose results have not been taken. The tasks of the calls share it.
private final class EndedCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add(_ change: Int) { count.add(change, ordering: .acquiringAndReleasing) }
}
