import CReadiness
import EventLoops
import Glibc
import NIOCore

/// Watches descriptors with a thread that blocks in `epoll_wait` and forwards events to the event loop.
///
/// It is the fallback where the kernel refuses `AIOReadiness`. It costs more, because each event wakes
/// two threads.
final class ThreadReadiness: Readiness {
    private struct Watch {
        let descriptor: CInt
        let watcher: any DescriptorWatcher
        var events: UInt32 = 0
    }

    private let executor: EventLoopTaskExecutor
    private let epoll: CInt
    private let stopDescriptor: CInt
    private var watches: [UInt64: Watch] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false

    init(_ executor: EventLoopTaskExecutor) throws(PostgresError) {
        self.executor = executor
        epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .connectFailed("epoll_create1: \(errorText(errno))") }
        stopDescriptor = eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC))
        guard stopDescriptor >= 0 else {
            Glibc.close(epoll)
            throw .connectFailed("eventfd: \(errorText(errno))")
        }
        var stop = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, stopDescriptor, &stop) == 0 else {
            Glibc.close(epoll)
            Glibc.close(stopDescriptor)
            throw .connectFailed("epoll_ctl: \(errorText(errno))")
        }
        try startThread()
    }

    private func startThread() throws(PostgresError) {
        let loopBound = NIOLoopBound(self, eventLoop: executor.eventLoop)
        let loop = executor.eventLoop
        let forwarder = Forwarder(epoll: epoll, stopDescriptor: stopDescriptor) { events in
            loop.execute { loopBound.value.collect(events) }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(forwarder)
        let failure = pthread_create(
            &thread, nil,
            { argument in
                // The argument is `box`, retained for this thread only.
                Unmanaged<Forwarder>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard failure == 0 else {
            box.release()
            Glibc.close(epoll)
            Glibc.close(stopDescriptor)
            throw .connectFailed("pthread_create: \(errorText(failure))")
        }
        pthread_detach(thread)
    }

    func add(_ descriptor: CInt, _ watcher: any DescriptorWatcher) -> WatchID {
        lastID += 1
        watches[lastID] = Watch(descriptor: descriptor, watcher: watcher)
        var event = epoll_event(events: EPOLLONESHOT.rawValue, data: epoll_data_t(u64: lastID))
        // An error here is reported by the first wait, whose EPOLL_CTL_MOD fails as well.
        epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        return WatchID(value: lastID)
    }

    func waitToRead(_ id: WatchID) -> Bool {
        wait(id, for: EPOLLIN.rawValue)
    }

    func waitToWrite(_ id: WatchID) -> Bool {
        wait(id, for: EPOLLOUT.rawValue)
    }

    private func wait(_ id: WatchID, for events: UInt32) -> Bool {
        guard let watch = watches[id.value] else { return false }
        if watch.events & events == events { return true }
        let requested = watch.events | events
        var event = epoll_event(
            events: requested | EPOLLONESHOT.rawValue, data: epoll_data_t(u64: id.value))
        guard epoll_ctl(epoll, EPOLL_CTL_MOD, watch.descriptor, &event) == 0 else { return false }
        watches[id.value]?.events = requested
        return true
    }

    func remove(_ id: WatchID) {
        guard let watch = watches.removeValue(forKey: id.value) else { return }
        var unused = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, watch.descriptor, &unused)
    }

    func close() {
        if isClosed { return }
        isClosed = true
        watches = [:]
        var one: UInt64 = 1
        // The thread wakes up, exits, and closes both descriptors.
        _ = write(stopDescriptor, &one, 8)
    }

    private func collect(_ ready: [UInt64]) {
        executor.turn {
            for id in ready where watches[id] != nil {
                watches[id]?.events = 0  // EPOLLONESHOT disarmed both directions
                watches[id]?.watcher.descriptorIsReady()
            }
        }
    }
}

/// The part of `ThreadReadiness` that the thread owns: the descriptors, but none of the loop's state.
private final class Forwarder: Sendable {
    private let epoll: CInt
    private let stopDescriptor: CInt
    private let onReady: @Sendable ([UInt64]) -> Void

    init(
        epoll: CInt, stopDescriptor: CInt, onReady: @escaping @Sendable ([UInt64]) -> Void
    ) {
        self.epoll = epoll
        self.stopDescriptor = stopDescriptor
        self.onReady = onReady
    }

    func run() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            while true {
                let count = epoll_wait(epoll, events.baseAddress, CInt(events.count), -1)
                if count < 0 && errno != EINTR { break }
                let ready = events.prefix(Int(max(0, count))).map(\.data.u64)
                if ready.contains(0) { break }
                if !ready.isEmpty { onReady(ready) }
            }
        }
        close(epoll)
        close(stopDescriptor)
    }
}
