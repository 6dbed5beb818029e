import NIOCore

/// Runs tasks on one event loop.
///
/// A task that prefers it resumes on the loop, next to the sockets it waits for: an await then costs
/// tenths of a microsecond, where a hop to Swift's own threads and back costs several. What is made
/// ready inside `turn` runs before `turn` returns, with no further pass of the loop.
///
/// It must live as long as its tasks, and they end before the loop does; make one per loop, for ever.
package final class EventLoopTaskExecutor: TaskExecutor, @unchecked Sendable {
    /// The loop it runs on.
    package let eventLoop: any EventLoop

    // All below belongs to the loop: read and written there only, which is what makes it Sendable.
    private var ready = CircularBuffer<UnownedJob>(initialCapacity: 64)
    private var isTurning = false
    private var isScheduled = false

    /// Jobs of one turn, so that tasks which wake each other for ever leave the loop its sockets.
    private static let jobsPerTurnMax = 1024

    package init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if eventLoop.inEventLoop {
            ready.append(job)
            if !isTurning { schedule() }
        } else {
            eventLoop.execute {
                self.ready.append(job)
                self.turn {}
            }
        }
    }

    /// Does the work, then whatever jobs it made ready.
    ///
    /// To be called on the loop, around what resumes or starts many tasks: a channel's read, for instance.
    package func turn<Result>(_ work: () -> Result) -> Result {
        eventLoop.assertInEventLoop()
        if isTurning { return work() }
        isTurning = true
        let result = work()
        var jobCount = 0
        while jobCount < EventLoopTaskExecutor.jobsPerTurnMax, let job = ready.popFirst() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            jobCount += 1
        }
        isTurning = false
        if !ready.isEmpty { schedule() }
        return result
    }

    private func schedule() {
        if isScheduled { return }
        isScheduled = true
        eventLoop.execute {
            self.isScheduled = false
            self.turn {}
        }
    }
}

extension EventLoopTaskExecutor {
    /// Does the work on the loop: right here when the caller is there already.
    package func perform<Value: Sendable, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if eventLoop.inEventLoop { return try await work() }
        return try await withTaskExecutorPreference(self, operation: work)
    }
}
