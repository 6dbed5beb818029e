import EventLoops
import NIOCore

/// A pool of database connections that belongs to one event loop and is shared by all tasks on it.
///
/// **State.** A fixed number of connections, each in pipeline mode with at most `pipelinesInFlightMax`
/// pipelines in flight, and one bounded queue of pipelines that no connection can take yet.
///
/// **Invariant.** A pipeline waits in the queue only while all ready connections are full or slow, or its owner has its share of
/// them (`PoolState`). Callers never reserve a connection: pipelines of many callers share each connection.
///
/// **Steps.**
/// 1. `run` sends the pipeline on the connection that `PoolState` selects: one that is not slow, then
///    the one with the fewest pipelines in flight. If there is none it goes to the end of its owner's queue. If
///    the queue is full, the newest pipeline of the owner with the most fails with `.poolExhausted`.
/// 2. When a pipeline finishes, its caller is resumed, and the connection takes the next pipeline from
///    the queue, in which the owners take turns (`FairQueue`).
/// 3. When a connection is lost, its read-only pipelines return to the front of the queue, once each.
///    The others fail with `.connectionLost`, because they may or may not have been committed.
/// 4. While no connection is open, pipelines wait in the queue, for at most `outageGrace`.
/// 5. While anything is in flight or queued, a timer ticks every 50 ms. It fails pipelines whose
///    deadline has passed, marks slow connections, and cancels statements without a waiting caller.
///
/// **Example.** With 4 connections of capacity 16, 70 concurrent pipelines are sent as 16 on each
/// connection, and 6 wait in the queue until one of the first 64 has finished.
///
/// Close the pool when it is no longer needed: until then it keeps itself alive. The class is
/// `Sendable` because all of its state belongs to its loop and every method moves there first.
package final class ConnectionPool: @unchecked Sendable {
    /// Runs tasks on the pool's loop. A task that prefers this executor calls the pool without a thread hop.
    package let executor: EventLoopTaskExecutor
    /// Identifies the event loop; equal for all pools of one loop.
    package var loopID: ObjectIdentifier { ObjectIdentifier(executor.eventLoop) }
    let configuration: PostgresConfiguration
    private let readiness: any Readiness
    private var connections: [Connection] = []
    private(set) var state: PoolState
    private var queue = FairQueue<PipelineLane, Submission>(urgentLane: .server)
    /// The shortest time from sending a pipeline to its end, in nanoseconds: the time that the network needs.
    private var fastest = Int64.max
    private var notifications = NotificationQueue()
    private var notifier: Task<Void, Never>?
    /// When the last open connection was lost, or when the first attempt to connect failed; nil while one is open.
    private var outageStart: NIODeadline?
    /// The number of connections that were closed because of an abandoned write, since a write last succeeded. A write is
    /// abandoned if its caller has stopped waiting. Its commit may still wait for a synchronous standby, in a process of the
    /// server.
    private var abandonedWriteCount = 0
    private var writesInFlightCount = 0
    /// The users whose turn came (`WriteTurns`) while their writes had to wait for a connection.
    private var queuedTurns: Set<PipelineOwner> = []
    private var isClosed = false
    private var isTicking = false
    private var counters = PoolMetrics()

    /// The interval of the timer that checks deadlines, which runs while anything is in flight or queued.
    private static let tick: TimeAmount = .milliseconds(50)

    private init(
        _ configuration: PostgresConfiguration, on executor: EventLoopTaskExecutor
    ) throws(PostgresError) {
        self.configuration = configuration
        self.executor = executor
        readiness = try configuration.readiness.start(on: executor)
        state = PoolState(
            memberCount: configuration.connectionCount,
            inFlightMax: configuration.pipelinesInFlightMax)
        for index in state.members.indices {
            connections.append(
                Connection(configuration, index: index, pool: self, on: executor, readiness))
        }
        for connection in connections { connection.start() }
    }

    /// Creates a pool and starts to connect, without waiting for a connection.
    ///
    /// Pipelines that are run before the first connection is open wait in the queue.
    ///
    /// - Throws: `.connectFailed` if the kernel offers no way to watch a socket.
    package static func start(
        _ configuration: PostgresConfiguration, on executor: EventLoopTaskExecutor
    ) async throws(PostgresError) -> ConnectionPool {
        try await executor.perform { () throws(PostgresError) in
            try ConnectionPool(configuration, on: executor)
        }
    }

    /// Runs a pipeline in one round trip and returns the rows of each of its statements, in order.
    ///
    /// A pipeline that has not been sent yet survives the loss of a connection. A pipeline in flight is sent
    /// once more if it is read-only. Cancelling the task cancels the pipeline.
    ///
    /// - Throws: `.server` if a statement failed, which rolls back the whole pipeline; see
    ///   `PostgresError` for the other cases.
    package func run(_ pipeline: Pipeline) async throws(PostgresError) -> [Rows] {
        try await executor.perform { () async throws(PostgresError) in
            try await self.submit(pipeline)
        }
    }

    /// Sends notifications about changes that are already committed. Returns before they are sent, and reports no failure: the
    /// receivers also poll the tables.
    package func notify(_ channel: String, _ payloads: [String]) async {
        await executor.perform {
            self.send(Set(payloads.map { Notification(channel: channel, payload: $0) }))
        }
    }

    /// Returns the pool's current load and its counters since the start.
    package func metrics() async -> PoolMetrics {
        await executor.perform {
            var metrics = self.counters
            metrics.readyConnectionCount = self.state.members.count { $0.isReady }
            metrics.inFlightCount = self.state.members.reduce(0) { $0 + $1.inFlightCount }
            metrics.queuedCount = self.queue.count
            return metrics
        }
    }

    /// Closes all connections. Queued pipelines fail with `.closed`, and those in flight with `.connectionLost`.
    package func close() async {
        // Send the notifications of recent commits first.
        await executor.perform { self.notifier }?.value
        await executor.perform {
            if self.isClosed { return }
            self.isClosed = true
            for submission in self.queue.elements { submission.resume(.failure(.closed)) }
            for connection in self.connections { connection.close() }
            self.queue.removeAll()
            self.connections = []
            self.readiness.close()
            self.configuration.writeTurns.leave(self)
        }
    }
}

// MARK: Pipelines

extension ConnectionPool {
    /// Sends or queues the pipeline and waits for its outcome.
    private func submit(_ pipeline: Pipeline) async throws(PostgresError) -> [Rows] {
        if isClosed { throw .closed }
        if Task.isCancelled { throw .cancelled }
        if pipeline.count == 0 { return [] }
        try pipeline.check()
        let timeout = pipeline.timeout ?? configuration.pipelineTimeout
        let submission = Submission(pipeline, deadline: .now() + TimeAmount(timeout))
        return try await withTaskCancellationHandler {
            await wait(submission)
        } onCancel: {
            executor.eventLoop.execute { submission.resume(.failure(.cancelled)) }
        }.get()
    }

    /// Suspends until the submission is resumed.
    ///
    /// The continuation is unsafe because a checked one allocates; `Submission.resume` uses it only once.
    private func wait(_ submission: Submission) async -> Submission.Outcome {
        await withUnsafeContinuation { continuation in
            submission.wait(continuation)
            sendOrQueue(submission)
        }
    }

    private func sendOrQueue(_ submission: Submission) {
        if refuses(submission) { return }
        let lane = PipelineLane(submission.pipeline)
        let laneCount = queue.count(in: lane)
        if laneCount == 0, let index = memberForPipeline(in: lane) {
            send(submission, on: index)
        } else if hasOutage(at: .now()) {
            submission.resume(.failure(queueTimeoutError))
        } else if lane.owner != nil, laneCount >= configuration.pipelinesQueuedOfOwnerMax {
            countRefusals(1, ofOwner: true)
            submission.resume(.failure(.poolExhausted))
        } else {
            queue.append(submission, to: lane)
            startTicking()
            guard queue.count > configuration.pipelinesQueuedMax,
                let refused = queue.removeLastOfLongest()
            else { return }
            countRefusals(1, ofOwner: false)
            refused.resume(.failure(.poolExhausted))
        }
    }

    /// Counts pipelines that were not sent.
    ///
    /// - Parameter ofOwner: Whether the limits of their owners are the reason, and not the load of the pool.
    private func countRefusals(_ count: Int, ofOwner: Bool) {
        if ofOwner {
            counters.refusedOfOwnerCount += count
        } else if count > 0 {
            counters.refusedCount += count
            configuration.onEvent(.poolExhausted(queuedCount: queue.count))
        }
    }

    /// Fails a write at once if further abandoned writes could use up the connections of the server. One write at a time is
    /// still sent, to find out whether commits succeed again.
    ///
    /// - Returns: Whether it was refused, and must not be sent.
    private func refuses(_ submission: Submission) -> Bool {
        guard submission.pipeline.mayWaitForStandby, writesInFlightCount > 0,
            abandonedWriteCount >= connections.count
        else { return false }
        configuration.onEvent(.writesRefused)
        submission.resume(.failure(.connectFailed(PostgresEvent.writesRefusedReason)))
        return true
    }

    /// Counts an abandoned write, whose connection is then closed.
    ///
    /// - Returns: False if the connection must stay open, because there are too many abandoned writes.
    func countAbandonedWrite() -> Bool {
        guard abandonedWriteCount < connections.count else { return false }
        abandonedWriteCount += 1
        return true
    }

    private func send(_ submission: Submission, on index: Int) {
        submission.isCostly = state.sent(
            on: index, in: PipelineLane(submission.pipeline))
        if submission.pipeline.mayWaitForStandby { writesInFlightCount += 1 }
        counters.pipelineCount += 1
        counters.statementCount += submission.pipeline.count
        connections[index].send(submission)
        startTicking()
    }

    /// Records that a connection no longer has a pipeline.
    private func removed(_ submission: Submission, from index: Int) {
        let lane = PipelineLane(submission.pipeline)
        state.removed(from: index, in: lane, isCostly: submission.isCostly)
        if submission.pipeline.mayWaitForStandby { writesInFlightCount -= 1 }
        endTurn(of: lane)
    }

    /// Sends queued pipelines while a connection has capacity.
    private func drainQueue() {
        while !queue.isEmpty, state.hasCapacity,
            let (submission, index) = queue.removeFirst(where: {
                memberForPipeline(in: PipelineLane($0.pipeline))
            })
        {
            // Writes may have been abandoned since it was queued.
            if submission.isAbandoned || refuses(submission) {
                endTurn(of: PipelineLane(submission.pipeline))
            } else {
                send(submission, on: index)
            }
        }
    }

    /// Returns the index of the connection for the next pipeline of a lane, or nil if it must wait, for a connection or for the writes
    /// of the same user in other pools.
    private func memberForPipeline(in lane: PipelineLane) -> Int? {
        guard let index = state.memberForPipeline(in: lane) else { return nil }
        guard lane.isWriting, let owner = lane.owner else { return index }
        let turns = configuration.writeTurns
        guard turns.take(owner, self, isWriting: state.isInFlight(lane)) else { return nil }
        queuedTurns.remove(owner)
        return index
    }

    /// Lets other pools send writes of a user if this one has none in flight.
    private func endTurn(of lane: PipelineLane) {
        guard lane.isWriting, let owner = lane.owner, !state.isInFlight(lane) else { return }
        configuration.writeTurns.end(owner, self)
    }

    /// Sends the next write of a user, whose writes in other pools have finished. Can be called on any thread.
    func turnCame(for owner: PipelineOwner) {
        executor.eventLoop.execute {
            self.executor.turn {
                self.drainQueue()
                self.endTurnUnlessQueued(of: owner)
            }
        }
    }

    /// Keeps the turn of a user whose write still needs a connection, and ends it if the writes were sent or canceled.
    private func endTurnUnlessQueued(of owner: PipelineOwner) {
        let lane = PipelineLane(owner, isWrite: true)
        if queue.count(in: lane) > 0, !state.isInFlight(lane) {
            queuedTurns.insert(owner)
        } else {
            queuedTurns.remove(owner)
            endTurn(of: lane)
        }
    }
}

// MARK: Events of connections

extension ConnectionPool {
    func memberOpened(_ index: Int) {
        state.members[index].isReady = true
        outageStart = nil
        drainQueue()
    }

    /// The connection was idle, and another one is being opened in its place.
    func memberReplaced(_ index: Int) {
        state.members[index].isReady = false
        state.members[index].isSlow = false
        state.members[index].isBlocked = false
    }

    /// - Parameter nanoseconds: The time since the server could begin with the pipeline.
    func memberFinished(_ index: Int, _ submission: Submission, after nanoseconds: Int64) {
        removed(submission, from: index)
        state.members[index].isBlocked = false
        state.members[index].isSlow = false
        fastest = min(fastest, nanoseconds)
        if let owner = submission.pipeline.owner { state.took(nanoseconds - fastest, of: owner) }
        submission.pipeline.statistics?.count(
            databaseNanoseconds: nanoseconds - fastest, isWrite: !submission.pipeline.isReadOnly)
        if submission.pipeline.mayWaitForStandby, submission.failure == nil {
            abandonedWriteCount = 0
        }
        if submission.isRetryable, retry(submission) {
            // It is at the front of the queue and is sent below.
        } else {
            submission.finish()
            if submission.failure == nil { send(submission.pipeline.notifications) }
        }
        drainQueue()
    }

    /// Queues notifications, and starts the task that sends them unless it is running.
    private func send(_ notifications: Set<Notification>) {
        guard self.notifications.add(notifications) else { return }
        notifier = Task(executorPreference: executor) {
            while let pipeline = self.notifications.next() {
                do throws(PostgresError) {
                    _ = try await self.submit(pipeline)
                } catch {
                    // Notifications are only hints: their receivers also poll the tables.
                }
                await self.pause(NotificationQueue.interval)
            }
        }
    }

    /// Waits on the event loop. `Task.sleep` would wake another thread.
    private func pause(_ time: Duration) async {
        await withUnsafeContinuation { continuation in
            executor.eventLoop.scheduleTask(in: TimeAmount(time)) {
                self.executor.turn { continuation.resume() }
            }
        }
    }

    func memberLost(_ index: Int, _ submissions: [Submission], _ reason: String) {
        state.members[index].isReady = false
        state.members[index].isSlow = false
        state.members[index].isBlocked = false
        for submission in submissions { removed(submission, from: index) }
        counters.lostConnectionCount += 1
        noteOutage(at: .now())
        for submission in submissions.reversed() {
            if submission.pipeline.isReadOnly, retry(submission) { continue }
            submission.resume(.failure(.connectionLost(reason)))
        }
        // Deferred by one pass of the loop: connections often fail together, and the loop should learn
        // about the other losses before a pipeline is sent on one of them.
        executor.eventLoop.execute { self.executor.turn { self.drainQueue() } }
    }

    /// Puts the submission at the front of the queue if its caller still waits and it was not retried yet.
    ///
    /// - Returns: Whether it was queued.
    private func retry(_ submission: Submission) -> Bool {
        guard !submission.isAbandoned, submission.retryCount == 0, !isClosed else { return false }
        submission.prepareToRetry()
        counters.retryCount += 1
        queue.prepend(submission, to: PipelineLane(submission.pipeline))
        startTicking()
        return true
    }
}

// MARK: The timer

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
        if connections.contains(where: { $0.failure != nil }) { noteOutage(at: now) }
        let failure = queueTimeoutError
        if hasOutage(at: now) {
            for submission in queue.elements { submission.resume(.failure(failure)) }
            queue.removeAll()
        } else {
            var expiredCount = 0
            queue.removeAll { submission in
                if submission.isAbandoned { return true }
                guard submission.expire(at: now, with: failure) else { return false }
                expiredCount += 1
                return true
            }
            if failure == .poolExhausted {
                countRefusals(expiredCount, ofOwner: state.hasCapacity)
            }
        }
        for (index, connection) in connections.enumerated() {
            for submission in connection.submissions {
                _ = submission.expire(at: now, with: .timeout)
            }
            connection.tick()
            state.members[index].isSlow = connection.isSlow
            if connection.isSlow, let owner = connection.submissions.first?.pipeline.owner {
                state.took(PoolState.costlyNanoseconds, of: owner)
            }
            state.members[index].isBlocked = connection.isBlocked
            if connection.isBlocked, let owner = connection.submissions.first?.pipeline.owner {
                // The write may wait for a standby. Another pool's write then waits for its locks, but fails in time to say that it
                // had no effect.
                configuration.writeTurns.end(owner, self)
            }
        }
        drainQueue()
        // Writes that had the turn may have been canceled, or may have waited too long.
        for owner in queuedTurns { endTurnUnlessQueued(of: owner) }
        if !queue.isEmpty || connections.contains(where: { !$0.isIdle }) {
            startTicking()
        }
    }

    /// Records the start of an outage if no connection is open.
    private func noteOutage(at now: NIODeadline) {
        if outageStart == nil, !state.members.contains(where: \.isReady) { outageStart = now }
    }

    /// Whether pipelines should fail instead of waiting for a connection.
    private func hasOutage(at now: NIODeadline) -> Bool {
        guard let outageStart, let grace = configuration.outageGrace else { return false }
        return now - outageStart >= TimeAmount(grace)
    }

    /// The error of a pipeline that timed out in the queue. It was not sent, unlike one that fails with `.timeout`.
    private var queueTimeoutError: PostgresError {
        if state.members.contains(where: \.isReady) { return .poolExhausted }
        return .connectFailed(
            connections.lazy.compactMap(\.failure).first ?? "no connection was opened in time")
    }
}
