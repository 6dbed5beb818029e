import EventLoops
import NIOCore

/// The connections of one event loop, shared by everything that runs on it.
///
/// Segments of many callers travel on the same few connections, one behind the other: nobody waits
/// for a connection to be free. Close it in the end: until then it keeps itself alive.
///
/// All of its state belongs to its loop, and every method moves there first; hence Sendable.
package final class ConnectionPool: @unchecked Sendable {
    /// Runs tasks on the pool's loop; a task that prefers it calls the pool without any hop.
    package let executor: EventLoopTaskExecutor
    /// The same for all pools of one event loop.
    package var loopID: ObjectIdentifier { ObjectIdentifier(executor.eventLoop) }
    let configuration: PostgresConfiguration
    private let readiness: any Readiness
    private var connections: [Connection] = []
    private var state: PoolState
    private var queue = CircularBuffer<Submission>()
    private var notices = NoticeQueue()
    private var telling: Task<Void, Never>?
    private var isClosed = false
    private var isTicking = false
    private var counters = PoolMetrics()

    /// How often deadlines are looked at, while anything is under way.
    private static let tick: TimeAmount = .milliseconds(50)

    private init(
        _ configuration: PostgresConfiguration, on executor: EventLoopTaskExecutor
    ) throws(PostgresError) {
        self.configuration = configuration
        self.executor = executor
        readiness = try configuration.readiness.start(on: executor)
        state = PoolState(
            memberCount: configuration.connectionCount,
            inFlightMax: configuration.segmentsInFlightMax,
            queuedMax: configuration.segmentsQueuedMax)
        for index in state.members.indices {
            connections.append(
                Connection(configuration, index: index, pool: self, on: executor, readiness))
        }
        for connection in connections { connection.start() }
    }

    /// Begins to connect and returns at once; what is run meanwhile waits for the first connection.
    ///
    /// - Throws: `.connectFailed` where the kernel has no way to watch a connection.
    package static func start(
        _ configuration: PostgresConfiguration, on executor: EventLoopTaskExecutor
    ) async throws(PostgresError) -> ConnectionPool {
        try await executor.perform { () throws(PostgresError) in
            try ConnectionPool(configuration, on: executor)
        }
    }

    /// Runs the segment in one round trip and gives the rows of each of its statements.
    ///
    /// A segment that has not been sent is sent on another connection when one is lost; one that is under
    /// way is sent again, once, if it is read-only. Cancelling the task cancels the segment.
    ///
    /// - Throws: `.server` when a statement failed, and with it all of them; see `PostgresError` for the rest.
    package func run(_ segment: Segment) async throws(PostgresError) -> [Rows] {
        try await executor.perform { () async throws(PostgresError) in
            try await self.submit(segment)
        }
    }

    /// Has listeners told of what is committed already.
    package func notify(_ channel: String, _ payloads: [String]) async {
        await executor.perform {
            self.tell(Set(payloads.map { Notice(channel: channel, payload: $0) }))
        }
    }

    /// What the pool is doing and has done.
    package func metrics() async -> PoolMetrics {
        await executor.perform {
            var metrics = self.counters
            metrics.readyConnectionCount = self.state.members.count { $0.isReady }
            metrics.inFlightCount = self.state.members.reduce(0) { $0 + $1.inFlightCount }
            metrics.queuedCount = self.queue.count
            return metrics
        }
    }

    /// Ends all connections at once; what is under way or waits fails with `.closed`.
    package func close() async {
        // What was committed just now is still told.
        await executor.perform { self.telling }?.value
        await executor.perform {
            if self.isClosed { return }
            self.isClosed = true
            for submission in self.queue { submission.resume(.failure(.closed)) }
            for connection in self.connections { connection.close() }
            self.queue.removeAll()
            self.connections = []
            self.readiness.close()
        }
    }
}

// MARK: Segments

extension ConnectionPool {
    /// Sends the segment, or lets it wait, and then waits for its rows.
    private func submit(_ segment: Segment) async throws(PostgresError) -> [Rows] {
        if isClosed { throw .closed }
        if Task.isCancelled { throw .cancelled }
        if segment.count == 0 { return [] }
        try segment.check()
        let timeout = segment.timeout ?? configuration.segmentTimeout
        let submission = Submission(segment, deadline: .now() + TimeAmount(timeout))
        return try await withTaskCancellationHandler {
            await wait(submission)
        } onCancel: {
            executor.eventLoop.execute { submission.resume(.failure(.cancelled)) }
        }.get()
    }

    /// Unsafe, because a checked continuation allocates, and `Submission.resume` gives its own away once.
    private func wait(_ submission: Submission) async -> Submission.Outcome {
        await withUnsafeContinuation { continuation in
            submission.wait(continuation)
            sendOrQueue(submission)
        }
    }

    private func sendOrQueue(_ submission: Submission) {
        if let index = state.memberForSegment() {
            send(submission, on: index)
        } else if state.mayQueue(queuedCount: queue.count) {
            queue.append(submission)
            startTicking()
        } else {
            counters.refusedCount += 1
            configuration.onEvent(.poolExhausted(queuedCount: queue.count))
            submission.resume(.failure(.poolExhausted))
        }
    }

    private func send(_ submission: Submission, on index: Int) {
        state.members[index].inFlightCount += 1
        counters.segmentCount += 1
        counters.statementCount += submission.segment.count
        connections[index].send(submission)
        startTicking()
    }

    /// Sends what waits, as far as there are connections for it.
    private func pump() {
        while !queue.isEmpty, let index = state.memberForSegment() {
            let submission = queue.removeFirst()
            if !submission.isAbandoned { send(submission, on: index) }
        }
    }
}

// MARK: What connections tell

extension ConnectionPool {
    func memberOpened(_ index: Int) {
        state.members[index].isReady = true
        pump()
    }

    func memberFinished(_ index: Int, _ submission: Submission) {
        state.members[index].inFlightCount -= 1
        if submission.isWorthAnotherTry, retry(submission) {
            // It waits before all others, and goes with them.
        } else {
            submission.finish()
            if submission.failure == nil { tell(submission.segment.notices) }
        }
        pump()
    }

    /// Tells listeners, beside what else is under way.
    private func tell(_ notices: Set<Notice>) {
        guard self.notices.add(notices) else { return }
        telling = Task(executorPreference: executor) {
            while let segment = self.notices.next() {
                do throws(PostgresError) {
                    _ = try await self.submit(segment)
                } catch {
                    // A notice is a hint: who listens asks the tables, too.
                }
            }
        }
    }

    func memberLost(_ index: Int, _ submissions: [Submission], _ reason: String) {
        state.members[index].isReady = false
        state.members[index].isSlow = false
        state.members[index].inFlightCount = 0
        counters.lostConnectionCount += 1
        for submission in submissions.reversed() {
            if submission.segment.isReadOnly, retry(submission) { continue }
            submission.resume(.failure(.connectionLost(reason)))
        }
        // Not at once: where one connection ends the others often do too, and the loop is to hear of it first.
        executor.eventLoop.execute { self.executor.turn { self.pump() } }
    }

    /// Puts the submission before all others, if it may be sent again and somebody waits for it.
    private func retry(_ submission: Submission) -> Bool {
        guard !submission.isAbandoned, submission.retryCount == 0, !isClosed else { return false }
        submission.prepareToRetry()
        counters.retryCount += 1
        queue.prepend(submission)
        startTicking()
        return true
    }
}

// MARK: The clock

extension ConnectionPool {
    private func startTicking() {
        if isTicking { return }
        isTicking = true
        let pool = self
        executor.eventLoop.scheduleTask(in: ConnectionPool.tick) {
            pool.isTicking = false
            pool.executor.turn { pool.ticked() }
        }
    }

    private func ticked() {
        if isClosed { return }
        let now = NIODeadline.now()
        let failure = failureOfWaiting
        queue.removeAll { $0.expire(at: now, with: failure) }
        for (index, connection) in connections.enumerated() {
            for submission in connection.submissions {
                _ = submission.expire(at: now, with: .timeout)
            }
            connection.tick()
            state.members[index].isSlow = connection.isSlow
        }
        pump()
        if !queue.isEmpty || connections.contains(where: { !$0.isIdle }) {
            startTicking()
        }
    }

    /// Why something has waited in vain: all were busy, or there was no connection.
    private var failureOfWaiting: PostgresError {
        if state.members.contains(where: \.isReady) { return .timeout }
        return .connectFailed(
            connections.lazy.compactMap(\.failure).first ?? "no connection was made in time")
    }
}
