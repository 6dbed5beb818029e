import CMalloc
import Glibc
import Logging
import ServiceLifecycle

/// Returns free memory to the system after the process has grown.
///
/// glibc keeps the memory of freed small blocks, and the rows of a large response consist of many. Without this, the
/// process would stay as large as it ever was. Settings of glibc (`MALLOC_TRIM_THRESHOLD_`, `MALLOC_ARENA_MAX`) make no
/// difference, because they only concern the end of each heap.
struct FreeMemory: Service {
    private static let interval = Duration.seconds(5)
    /// The growth in bytes after which memory is returned. Returning it takes some milliseconds, and the process has to
    /// request it again when it grows again.
    private static let growthBytesMin = 8 << 20

    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func run() async {
        await cancelWhenGracefulShutdown {
            var smallest = Int.max
            while !Task.isCancelled {
                if let bytes = residentBytes() {
                    smallest = min(smallest, bytes)
                    if bytes - smallest >= Self.growthBytesMin {
                        malloc_trim(0)
                        smallest = residentBytes() ?? bytes
                        logger.debug(
                            "returned free memory to the system",
                            metadata: ["bytes": .stringConvertible(bytes - smallest)])
                    }
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}

/// The bytes of the process that are in memory; nil if the system does not say.
func residentBytes() -> Int? {
    // Sizes in pages: in total, in memory, and others.
    guard let file = fopen("/proc/self/statm", "r") else { return nil }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, CInt(text.count), file) != nil else { return nil }
    let line = String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let fields = line.split(separator: " ")
    guard fields.count > 1 else { return nil }
    return Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
}
