import Dispatch
import Glibc
import Synchronization

/// Runs long computations on a few threads of their own, so that they block neither an event loop nor Swift's global
/// executor.
///
/// At most one computation of each key, for example of a reader, runs at a time. The keys whose computations wait take turns,
/// so a key with many waiting computations delays another key by one of them per thread.
///
/// **State.** `waiting` contains each key that has a running or a waiting computation, with the waiting ones in their order.
/// `turns` contains the keys that have waiting computations and no running one, in the order of their turns. `runningCount` is
/// the number of running computations.
///
/// **Invariant.** A key is in `turns` once if it has waiting computations and no running one, and otherwise not at all.
/// `turns` is empty, or all threads are in use.
package final class WorkThreads<Key: Hashable & Sendable>: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var runningCount = 0
        var waiting: [Key: [Work]] = [:]
        var waitingCount = 0
        var turns: [Key] = []
    }

    private let threadCount: Int
    private let waitingOfKeyMax: Int
    private let waitingMax: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "bookplate.work", attributes: .concurrent)

    /// - Parameters:
    ///   - threadCount: The maximum number of computations that run at a time.
    ///   - waitingOfKeyMax: The maximum number of waiting computations of one key.
    ///   - waitingMax: The maximum number of waiting computations of all keys.
    package init(
        threadCount: Int = WorkThreads.defaultThreadCount, waitingOfKeyMax: Int, waitingMax: Int
    ) {
        self.threadCount = threadCount
        self.waitingOfKeyMax = waitingOfKeyMax
        self.waitingMax = waitingMax
    }

    /// Half of the processors, but at least one and at most four. The event loops need the others.
    package static var defaultThreadCount: Int {
        min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2, 1), 4)
    }

    /// The number of waiting computations.
    package var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Waits for a turn of the key and runs the computation.
    ///
    /// - Returns: The result, or nil if too many computations of the key or of all keys are waiting.
    package func run<Value: Sendable>(
        for key: Key, _ work: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let isAccepted = add(key) { continuation.resume(returning: work()) }
            if !isAccepted { continuation.resume(returning: nil) }
        }
    }

    private func add(_ key: Key, _ work: @escaping Work) -> Bool {
        let (isAccepted, isStarting) = state.withLock { state in
            let ofKey = state.waiting[key]
            guard (ofKey?.count ?? 0) < waitingOfKeyMax, state.waitingCount < waitingMax else {
                return (false, false)
            }
            state.waiting[key, default: []].append(work)
            state.waitingCount += 1
            if ofKey == nil { state.turns.append(key) }
            guard !state.turns.isEmpty, state.runningCount < threadCount else {
                return (true, false)
            }
            state.runningCount += 1
            return (true, true)
        }
        if isStarting { queue.async { self.runTurns() } }
        return isAccepted
    }

    /// Runs computations until none waits whose key has no running one.
    private func runTurns() {
        var finished: Key?
        while let (key, work) = next(after: finished) {
            work()
            finished = key
        }
    }

    /// Ends the turn of `finished`, and takes the next one. Ends the thread's use if there is none.
    private func next(after finished: Key?) -> (Key, Work)? {
        state.withLock { state in
            if let finished {
                if state.waiting[finished]?.isEmpty == true {
                    state.waiting[finished] = nil
                } else {
                    state.turns.append(finished)
                }
            }
            guard !state.turns.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            let key = state.turns.removeFirst()
            guard let work = state.waiting[key]?.removeFirst() else { return nil }
            state.waitingCount -= 1
            return (key, work)
        }
    }
}
