import Glibc
import NIOCore

/// Reports work that kept an event loop busy for longer than `limit`, so that all requests of the loop waited for it.
///
/// The measure is the CPU time of the thread. The time of the clock would include the time in which other processes ran.
package final class LoopMeter: Sendable {
    /// Work that took longer than the limit.
    package struct LongWork: Sendable {
        package let cpuTime: TimeAmount
        /// What the work was, as far as it has noted it.
        package let notes: [String]
    }

    /// The CPU time that a piece of work may take. Programs that are built without optimization are much slower.
    package static var limit: TimeAmount {
        #if DEBUG
            .milliseconds(200)
        #else
            .milliseconds(5)
        #endif
    }

    private let limit: TimeAmount
    private let report: @Sendable (LongWork) -> Void

    /// - Parameter report: Called on the event loop after each piece of work that took longer than the limit.
    package init(
        limit: TimeAmount = LoopMeter.limit, report: @escaping @Sendable (LongWork) -> Void
    ) {
        self.limit = limit
        self.report = report
    }

    /// The start of a piece of work.
    struct Start {
        fileprivate let time = NIODeadline.now()
        fileprivate let cpuTime = threadCPUTime()
    }

    /// Ends a piece of work.
    func end(_ start: Start, notes: [String]) {
        // Reading the clock is cheaper than reading the CPU time, which is at most the time of the clock.
        guard NIODeadline.now() - start.time > limit else { return }
        let used = TimeAmount.nanoseconds(threadCPUTime() - start.cpuTime)
        if used > limit { report(LongWork(cpuTime: used, notes: notes)) }
    }
}

/// The CPU time of this thread in nanoseconds.
private func threadCPUTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
