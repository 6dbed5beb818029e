import NIOCore

/// Runs tasks on one event loop.
///
/// A task that prefers this executor resumes on the thread of the sockets it waits for. Such an await
/// costs tenths of a microsecond; a hop to Swift's global executor and back costs several microseconds.
///
/// **State.** `ready` holds the jobs to run. `isTurning` is true while `turn` runs them. `isScheduled`
/// is true while a callback that runs them is queued on the loop.
///
/// **Invariant.** Whenever `ready` is not empty, either a turn is running or one is scheduled. No job
/// is left behind.
///
/// **Steps.** `enqueue` appends a job on the loop and schedules a turn unless one is running. `turn`
/// performs some work and then runs ready jobs, including those that the jobs make ready, for at most
/// `turnTimeMax`. The remaining jobs run in the next pass of the loop, after it has handled sockets. Long
/// work should therefore call `Task.yield` several times per millisecond.
///
/// **Example.** A socket read delivers the results of three queries. The pool handles it inside `turn`,
/// which resumes three tasks. All three run before `turn` returns, without another pass of the loop.
///
/// The executor must outlive its tasks, and the loop must outlive the executor. Create one per loop and
/// keep it for the life of the process.
package final class EventLoopTaskExecutor: TaskExecutor, @unchecked Sendable {
    /// The event loop that runs the tasks.
    package let eventLoop: any EventLoop

    // Sendable because the properties below are accessed only on the loop.
    private var ready = CircularBuffer<UnownedJob>(initialCapacity: 64)
    private var isTurning = false
    private var isScheduled = false
    private let meter: LoopMeter?
    private var isMeasuring = false
    /// What the work that is being measured is.
    private var notes: [String] = []
    private static let notesMax = 8

    /// The time after which a turn starts no further job, so that tasks which yield or keep waking each other do not
    /// starve I/O.
    private static let turnTimeMax = TimeAmount.microseconds(500)

    /// - Parameter meter: Measures the work on the loop; nil for none.
    package init(_ eventLoop: any EventLoop, meter: LoopMeter? = nil) {
        self.eventLoop = eventLoop
        self.meter = meter
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

    /// Performs the work and then runs the jobs that it made ready. Inside a turn it only performs the work.
    ///
    /// Call it on the loop, around code that resumes or starts many tasks, such as a channel's read handler.
    package func turn<Result>(_ work: () -> Result) -> Result {
        eventLoop.assertInEventLoop()
        if isTurning { return work() }
        return measure {
            isTurning = true
            let result = work()
            if !ready.isEmpty { runJobs(until: .now() + Self.turnTimeMax) }
            isTurning = false
            if !ready.isEmpty { schedule() }
            return result
        }
    }

    /// Performs work on the loop and measures it, unless it is a part of work that is being measured.
    package func measure<Result>(_ work: () -> Result) -> Result {
        guard let meter, !isMeasuring else { return work() }
        isMeasuring = true
        let start = LoopMeter.Start()
        let result = work()
        meter.end(start, notes: notes)
        isMeasuring = false
        if !notes.isEmpty { notes.removeAll(keepingCapacity: true) }
        return result
    }

    /// Notes what the current work is, for the report if it takes long.
    package func note(_ text: @autoclosure () -> String) {
        if isMeasuring, notes.count < Self.notesMax { notes.append(text()) }
    }

    private func runJobs(until end: NIODeadline) {
        while let job = ready.popFirst() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            if NIODeadline.now() >= end { return }
        }
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
    /// Performs the work on the loop: directly if the caller is already there, otherwise after a hop.
    package func perform<Value: Sendable, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if eventLoop.inEventLoop { return try await work() }
        return try await withTaskExecutorPreference(self, operation: work)
    }
}
