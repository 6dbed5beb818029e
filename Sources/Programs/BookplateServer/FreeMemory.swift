import CMalloc
import Logging
import ServiceLifecycle

/// Returns free memory to the system.
///
/// glibc keeps the memory of freed small blocks, and the rows of a large response consist of many. Without this, the
/// process would stay as large as it ever was.
///
/// `malloc_trim` does not return the free memory at the end of a thread's heap. glibc returns it only above a threshold, which
/// rises to twice the size of the largest block that was freed, up to 64 MB. `init` therefore sets fixed thresholds: larger
/// blocks are mappings of their own, which `free` returns at once, and little stays at the end of a heap.
///
/// Memory is returned when the part that is not in use has grown: the memory of the process without the blocks that it has
/// allocated. The memory of the process itself does not grow when blocks are freed, for example when many connections close.
struct FreeMemory: Service {
    private static let interval = Duration.seconds(5)
    /// The growth in bytes after which memory is returned. Returning it takes some milliseconds, and the process has to
    /// request it again when it grows again.
    private static let growthBytesMin = 8 << 20
    /// The size in bytes from which a block is a mapping of its own.
    private static let mappedBytesMin: Int32 = 1 << 20
    /// The free bytes that may stay at the end of the heap of a thread.
    private static let heapEndBytesMax: Int32 = 2 << 20

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
        mallopt(M_MMAP_THRESHOLD, Self.mappedBytesMin)
        mallopt(M_TRIM_THRESHOLD, Self.heapEndBytesMax)
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var smallest = Int.max
            while !Task.isCancelled {
                if let bytes = unusedBytes() {
                    smallest = min(smallest, bytes)
                    if bytes - smallest >= Self.growthBytesMin {
                        malloc_trim(0)
                        smallest = unusedBytes() ?? bytes
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

/// The memory of the process without its allocated blocks: the program itself, stacks, and freed blocks. nil if the system does
/// not say.
private func unusedBytes() -> Int? {
    let blocks = mallinfo2()
    return (ProcessMemory()?.residentBytes).map {
        $0 - Int(clamping: blocks.uordblks + blocks.hblkhd)
    }
}
