import Synchronization

/// Makes the requests to one host wait for their turn in a `RequestQueue`.
final class RequestTurns: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct State {
        var queue: RequestQueue
        var lastID: RequestQueue.ID = 0
        var waiting: [RequestQueue.ID: CheckedContinuation<SourceError?, Never>] = [:]
        /// When the earliest timer fires. nil if there is none.
        var timerAt: Instant?
        /// When background work should try again, after readers' requests have left no time for one of its requests.
        var backgroundPauseEnd: Instant?
    }

    private let state: Mutex<State>

    init(_ limit: RateLimit) { state = Mutex(State(queue: RequestQueue(limit, now: .now))) }

    /// The number of requests that wait.
    var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Waits until a request may be sent.
    ///
    /// - Throws: `.busy` if that is not before its deadline, `.tooManyWaiting`, or `.unreachable(.cancelled)`.
    func wait(_ options: CallOptions) async throws(SourceError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<SourceError?, Never>) in
                let refusal = state.withLock { state -> SourceError? in
                    // The task is cancelled before its handler runs, and the handler needs the lock.
                    if Task.isCancelled { return .unreachable(.cancelled) }
                    if let refusal = state.queue.add(id, options, at: .now) { return refusal }
                    state.waiting[id] = continuation
                    return nil
                }
                if let refusal {
                    continuation.resume(returning: refusal)
                } else {
                    advance()
                }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.queue.remove(id) ? state.waiting.removeValue(forKey: id) : nil
            }
            continuation?.resume(returning: .unreachable(.cancelled))
        }
        guard let error else { return }
        if error == .busy, options.priority == .background {
            state.withLock { $0.backgroundPauseEnd = .now + Self.backgroundPause }
        }
        throw error
    }

    /// The shortest pause of background work. Jobs that are postponed again and again wait longer.
    private static let backgroundPause = Duration.seconds(5)

    /// When the next background request may be sent, after one was refused because of readers' requests. nil if none was refused lately.
    var backgroundPausedUntil: Instant? {
        state.withLock { $0.backgroundPauseEnd.flatMap { $0 > .now ? $0 : nil } }
    }

    /// When the pause after an overload of the host ends. nil if there is no such pause.
    var overloadedUntil: Instant? {
        state.withLock { $0.queue.limiter.overloadedUntil(at: .now) }
    }

    /// Records a response, or a refusal, in the host's rate limiter.
    func record(_ change: (inout RateLimiter) -> Void) {
        state.withLock { change(&$0.queue.limiter) }
    }

    /// Resumes the requests whose turn it is, and sets a timer for the next one.
    private func advance() {
        let (resumed, timer) = state.withLock { state in
            let now = Instant.now
            let (sent, late) = state.queue.takeDue(at: now)
            let resumed =
                sent.map { (state.waiting.removeValue(forKey: $0), SourceError?.none) }
                + late.map { (state.waiting.removeValue(forKey: $0), .busy) }
            guard let next = state.queue.nextDue(at: now),
                state.timerAt.map({ next < $0 }) ?? true
            else { return (resumed, Instant?.none) }
            state.timerAt = next
            return (resumed, next)
        }
        for (continuation, error) in resumed { continuation?.resume(returning: error) }
        guard let timer else { return }
        Task {
            try? await Task.sleep(until: timer, clock: .continuous)
            state.withLock { if $0.timerAt == timer { $0.timerAt = nil } }
            advance()
        }
    }
}
