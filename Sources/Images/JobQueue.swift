import Glibc

/// A queue that threads wait at.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
    // All of it is read and written under the lock, which is what makes it Sendable.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let isFilled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    private var isClosed = false
    private let waitingMax: Int

    init(waitingMax: Int) {
        self.waitingMax = waitingMax
        pthread_mutex_init(lock, nil)
        pthread_cond_init(isFilled, nil)
    }

    deinit {
        pthread_cond_destroy(isFilled)
        pthread_mutex_destroy(lock)
        isFilled.deallocate()
        lock.deallocate()
    }

    /// - Returns: false where no more may wait.
    func append(_ job: Job) -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        guard jobs.count < waitingMax, !isClosed else { return false }
        jobs.append(job)
        pthread_cond_signal(isFilled)
        return true
    }

    /// Takes a job out that still waits.
    func remove(_ isWanted: (Job) -> Bool) -> Job? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return jobs.firstIndex(where: isWanted).map { jobs.remove(at: $0) }
    }

    /// Waits for the next job; nil when the queue is closed and empty.
    func next() -> Job? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while jobs.isEmpty {
            if isClosed { return nil }
            pthread_cond_wait(isFilled, lock)
        }
        return jobs.removeFirst()
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

/// Runs the work on a thread of its own, which ends with it.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    var handle = pthread_t()
    let code = pthread_create(
        &handle, nil,
        { raw in
            if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    // Once, at the program's start: a machine without threads has no server either.
    precondition(code == 0, "no thread can be started")
    pthread_detach(handle)
}
