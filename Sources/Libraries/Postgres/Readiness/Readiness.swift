import EventLoops
import NIOCore

/// Notifies an event loop when descriptors owned by libpq become readable or writable.
///
/// NIO cannot do this: its channels own their descriptors and read the bytes themselves. All methods
/// must be called on the loop.
///
/// A wait is level-triggered and one-shot. It ends immediately if the descriptor is already readable,
/// and must be requested again afterwards. Edge-triggered waits would hang, because libpq does not
/// always read until the socket is empty.
protocol Readiness: AnyObject {
    /// Starts to watch a descriptor without waiting for any event. The watcher is retained until `remove`.
    func add(_ descriptor: CInt, _ watcher: any DescriptorWatcher) -> WatchID
    /// Calls the watcher once when the descriptor has input, an error, or end-of-file.
    ///
    /// - Returns: False if the kernel refuses the request.
    func waitToRead(_ id: WatchID) -> Bool
    /// Calls the watcher once when the descriptor is writable.
    ///
    /// - Returns: False if the kernel refuses the request.
    func waitToWrite(_ id: WatchID) -> Bool
    /// Stops watching. Must be called before the descriptor is closed.
    func remove(_ id: WatchID)
    /// Stops all watches permanently.
    func close()
}

/// Is notified when a descriptor becomes ready.
protocol DescriptorWatcher: AnyObject {
    /// The descriptor may be readable or writable. The wait that caused this call has ended.
    func descriptorIsReady()
}

/// Identifies one watch; never reused.
struct WatchID: Hashable, Sendable {
    let value: UInt64
}

extension ReadinessMethod {
    /// Creates a watcher of this kind for the loop. Must be called on the loop.
    ///
    /// - Throws: `.connectFailed` if the kernel refuses to create it.
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
