import EventLoops
import NIOCore

/// Tells its event loop when descriptors that belong to somebody else, libpq's, can be read or written.
///
/// NIO has no such service: its channels read the bytes themselves. Everything here happens on the loop.
/// A wait is for one event and by level: it ends at once where there is something to read already,
/// and is asked for anew afterwards. (libpq does not read until nothing is left, so waiting for edges hangs.)
protocol Readiness: AnyObject {
    /// Begins to watch; nothing is waited for yet. The watcher is held until `remove`.
    func add(_ descriptor: CInt, _ watcher: any DescriptorWatcher) -> WatchID
    /// Calls the watcher once, when there are bytes, an error or an end; false where the kernel refuses.
    func waitToRead(_ id: WatchID) -> Bool
    /// Calls the watcher once, when there is room; false where the kernel refuses.
    func waitToWrite(_ id: WatchID) -> Bool
    /// Ends the watch; to be called before the descriptor is closed.
    func remove(_ id: WatchID)
    /// Ends all watches, for good.
    func close()
}

/// Who waits for a descriptor.
protocol DescriptorWatcher: AnyObject {
    /// There may be something to read, or room to write. No wait for it is under way any more.
    func descriptorIsReady()
}

/// One watch; never given twice.
struct WatchID: Hashable, Sendable {
    let value: UInt64
}

extension ReadinessMethod {
    /// Begins in this way on the loop; to be called there.
    func start(on executor: EventLoopTaskExecutor) throws(PostgresError) -> any Readiness {
        switch self {
        case .automatic:
            do throws(PostgresError) {
                return try AIOReadiness(executor)
            } catch {
                return try ThreadReadiness(executor)
            }
        case .aio: return try AIOReadiness(executor)
        case .thread: return try ThreadReadiness(executor)
        }
    }
}
