import CMalloc
import Glibc
import GraphQLNIO
import Logging
import ServiceLifecycle

/// Refuses new requests while the process uses almost as much memory as it may.
///
/// An allocation that fails ends the process, as does the kernel if a control group exceeds its limit. Both end all requests at once,
/// so it is better to refuse some.
struct MemoryReserve: Service {
    private static let interval = Duration.milliseconds(100)
    /// The interval at which free memory is returned while memory is short.
    private static let trimInterval = Duration.seconds(1)

    private let limits: MemoryLimits
    /// The share of the limits that the process may use, in percent.
    private let percentMax: Int
    private let unread: UnreadBytes
    private let logger: Logger

    /// Creates the service; nil if the process has no limit.
    init?(percentMax: Int, unread: UnreadBytes, logger: Logger) {
        let limits = MemoryLimits()
        if limits.isEmpty { return nil }
        self.limits = limits
        self.percentMax = percentMax
        self.unread = unread
        self.logger = logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var lastTrim = ContinuousClock.now - Self.trimInterval
            while !Task.isCancelled {
                var percent = limits.usedPercent()
                if percent > percentMax, .now - lastTrim >= Self.trimInterval {
                    malloc_trim(0)
                    lastTrim = .now
                    percent = limits.usedPercent()
                }
                let isShort = percent > percentMax
                if isShort != unread.isMemoryShort {
                    unread.set(isMemoryShort: isShort)
                    logger.log(
                        level: isShort ? .error : .notice,
                        isShort
                            ? "memory is short, so new requests are refused"
                            : "memory is not short anymore",
                        metadata: ["percent": .stringConvertible(percent)])
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
        unread.set(isMemoryShort: false)
    }
}

/// The limits on the memory of the process, in bytes. nil means that there is none.
struct MemoryLimits {
    /// The limit of the control group on memory in use: `MemoryMax` of systemd, or that of a container.
    private let group: Int?
    /// The limit on the address space: `ulimit -v`.
    private let addressSpace: Int?

    var isEmpty: Bool { group == nil && addressSpace == nil }

    /// Reads the limits of this process.
    init() {
        group = Self.groupLimit()
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        // No limit is the largest number.
        addressSpace = isKnown ? Int(exactly: limit.rlim_cur) : nil
    }

    /// Returns the share of the limits that the process uses, in percent: the largest, if there are several.
    func usedPercent() -> Int {
        guard let memory = ProcessMemory() else { return 0 }
        var percent = 0
        if let group { percent = memory.residentBytes * 100 / max(1, group) }
        if let addressSpace {
            // Addresses of freed blocks are used again.
            let used = memory.virtualBytes - Int(mallinfo2().fordblks)
            percent = max(percent, used * 100 / max(1, addressSpace))
        }
        return percent
    }

    /// Returns the smallest limit of the control group of the process and of the groups that contain it.
    ///
    /// See https://docs.kernel.org/admin-guide/cgroup-v2.html
    private static func groupLimit() -> Int? {
        guard
            let line = firstLines(of: "/proc/self/cgroup").split(separator: "\n")
                .first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        var names = line.dropFirst("0::/".count).split(separator: "/")
        var smallest: Int?
        while true {
            let folder = (["/sys/fs/cgroup"] + names).joined(separator: "/")
            // The file contains a number, or `max` for no limit.
            if let bytes = Int(firstLines(of: folder + "/memory.max").prefix { $0.isNumber }) {
                smallest = min(smallest ?? bytes, bytes)
            }
            if names.popLast() == nil { return smallest }
        }
    }
}

/// The memory of the process.
struct ProcessMemory {
    let virtualBytes: Int
    let residentBytes: Int

    /// Reads the memory of the process; nil if the system does not say.
    init?() {
        // Sizes in pages: in total, in memory, and others.
        let pages = firstLines(of: "/proc/self/statm").split(separator: " ").prefix(2)
            .compactMap { Int($0) }
        guard pages.count == 2 else { return nil }
        let pageBytes = sysconf(Int32(_SC_PAGESIZE))
        virtualBytes = pages[0] * pageBytes
        residentBytes = pages[1] * pageBytes
    }
}

/// Returns the start of a small file of the kernel; an empty text if it cannot be read.
private func firstLines(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
}
