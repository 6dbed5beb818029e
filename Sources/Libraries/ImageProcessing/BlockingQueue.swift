import Glibc

/// A bounded queue whose consumers are threads that block until there is a job.
final class BlockingQueue<Job: Sendable>: @unchecked Sendable {
    // Sendable because all state is accessed under the lock.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let isFilled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    private var isClosed = false
    private let waitingMax: Int

    init(waitingMax: Int) {
        self.waitingMax = waitingMax
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(isFilled, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(isFilled)
        pthread_mutex_destroy(lock)
        isFilled.deallocate()
        lock.deallocate()
    }

    /// Appends a job.
    ///
    /// - Returns: False if the queue is full or closed.
    func append(_ job: Job) -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        guard jobs.count < waitingMax, !isClosed else { return false }
        jobs.append(job)
        pthread_cond_signal(isFilled)
        return true
    }

    /// Removes and returns the first waiting job that matches; nil if there is none.
    func remove(where matches: (Job) -> Bool) -> Job? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return jobs.firstIndex(where: matches).map { jobs.remove(at: $0) }
    }

    enum Next {
        case job(Job)
        /// No job arrived within the time limit.
        case idle
        /// The queue is closed and empty.
        case closed
    }

    /// Waits for the next job.
    ///
    /// - Parameter timeout: How long to wait; nil waits indefinitely.
    func next(within timeout: Duration?) -> Next {
        let end = timeout.map { instant(after: $0) }
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while jobs.isEmpty {
            if isClosed { return .closed }
            if var end {
                guard pthread_cond_timedwait(isFilled, lock, &end) != ETIMEDOUT else {
                    // A job may have arrived at the moment of the timeout.
                    if jobs.isEmpty { return isClosed ? .closed : .idle }
                    continue
                }
            } else {
                pthread_cond_wait(isFilled, lock)
            }
        }
        return .job(jobs.removeFirst())
    }

    private func instant(after timeout: Duration) -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let (seconds, attoseconds) = timeout.components
        let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }

    func close() {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        isClosed = true
        pthread_cond_broadcast(isFilled)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Runs the work on a new thread, which ends when the work returns.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    var handle = pthread_t()
    let code = pthread_create(
        &handle, nil,
        { raw in
            if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    // Threads are created only when the program starts, and without them it cannot work at all.
    precondition(code == 0, "cannot create a thread")
    pthread_detach(handle)
}
