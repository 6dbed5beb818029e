import EventLoops
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite struct LoopMeterTests {
    private static func threadCPUMilliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Only the CPU time of the loop's thread counts, not the time that passes.
    @Test(arguments: [true, false])
    func longWorkIsReported(isBusy: Bool) async throws {
        let reports = Mutex<[LoopMeter.LongWork]>([])
        let meter = LoopMeter(limit: .milliseconds(20)) { work in
            reports.withLock { $0.append(work) }
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let executor = EventLoopTaskExecutor(loop, meter: meter)
        try await loop.submit {
            executor.measure { executor.note("short") }
            executor.measure {
                executor.note("long")
                executor.turn {
                    if isBusy {
                        let start = Self.threadCPUMilliseconds()
                        while Self.threadCPUMilliseconds() - start < 40 {}
                    } else {
                        usleep(100_000)
                    }
                }
            }
        }.get()
        let found = reports.withLock { $0 }
        #expect(found.map(\.notes) == (isBusy ? [["long"]] : []))
        #expect(found.allSatisfy { $0.cpuTime > .milliseconds(20) })
    }
}
