import Config
import EventLoops
import Glibc
import Logging
import ObjectStorage
import Telemetry

extension Metrics {
    /// Returns a meter that counts and logs work that keeps an event loop busy for too long.
    func makeLoopMeter(logLevel: Logger.Level, _ logger: Logger) -> LoopMeter {
        let count = counter(
            "bookplate_long_loop_turns_total",
            "Pieces of work that kept an event loop busy for more than 5 ms of CPU time.")
        return LoopMeter { work in
            count.increment()
            logger.log(
                level: logLevel, "an event loop was busy for too long",
                metadata: [
                    "limit": .stringConvertible(LoopMeter.limit.nanoseconds / 1000),
                    "microseconds": .stringConvertible(work.cpuTime.nanoseconds / 1000),
                    "work": "\(work.notes.joined(separator: ", "))",
                ])
        }
    }

    /// Reports the memory, CPU time, and file descriptors of this process, by the names that all Prometheus clients use.
    func reportProcess() {
        let start = gauge(
            "process_start_time_seconds", "When the process was started, as a Unix time.")
        start.set(time(nil))
        let memory = gauge("process_resident_memory_bytes", "Memory of the process.")
        let cpu = counter("process_cpu_seconds_total", "Whole seconds of CPU time.")
        let descriptors = gauge("process_open_fds", "Open file descriptors.")
        let descriptorsMax = gauge("process_max_fds", "The maximum number of file descriptors.")
        beforeReading {
            if let bytes = ProcessMemory()?.residentBytes { memory.set(bytes) }
            cpu.set(cpuSeconds())
            if let count = openDescriptorCount() { descriptors.set(count) }
            var limit = rlimit()
            if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
                descriptorsMax.set(Int(clamping: limit.rlim_cur))
            }
        }
    }

    /// Reports the time of the newest backup. It is 0 if there is none.
    func reportBackups(in folder: Configuration.BackupFolder) {
        let newest = gauge(
            "bookplate_backup_timestamp_seconds",
            "When the newest complete backup was made, as a Unix time; 0 if there is none.")
        beforeReading { newest.set(folder.newestTime() ?? 0) }
    }

    /// Reports the free space of the disk with the covers.
    func reportFreeSpace(of folder: String) {
        guard let bytes = FileStore.freeBytes(folder) else { return }
        let free = gauge(
            "bookplate_storage_free_bytes", "Free space of the disk with the covers.")
        free.set(bytes)
        beforeReading {
            if let bytes = FileStore.freeBytes(folder) { free.set(bytes) }
        }
    }
}

/// The whole seconds that the process has used in user mode and in the kernel.
private func cpuSeconds() -> Int {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + Int(microseconds) / 1_000_000
}

/// The number of open file descriptors; nil if the system does not say.
private func openDescriptorCount() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Without `.`, `..`, and the descriptor of the folder.
    return count - 3
}
