import CReadiness
import EventLoops
import Glibc
import NIOCore
import NIOPosix

/// Watches descriptors with the kernel's asynchronous poll (`IOCB_CMD_POLL`).
///
/// Finished requests increment an eventfd, which the event loop reads through a NIO pipe channel. This
/// needs neither a thread nor a lock, but requires Linux 4.19 and a seccomp profile that allows
/// `io_setup`.
final class AIOReadiness: Readiness {
    private final class Watch {
        let watcher: any DescriptorWatcher
        var reading: Wait
        var writing: Wait
        var isRemoved = false

        init(_ watcher: any DescriptorWatcher, reading: Wait, writing: Wait) {
            self.watcher = watcher
            self.reading = reading
            self.writing = writing
        }
    }

    private struct Wait {
        let poll: OpaquePointer
        var isUnderWay = false
        /// Whether it is submitted after all finished requests have been handled.
        var isPostponed = false
    }

    private let executor: EventLoopTaskExecutor
    private let context: UInt
    private let eventDescriptor: CInt
    private var channel: (any Channel)?
    private var watches: [UInt64: Watch] = [:]
    private var lastID: UInt64 = 0
    private var isClosed = false
    /// Whether finished requests are being handled. Most of their watches wait to read again, and these requests are submitted
    /// together.
    private var isCollecting = false
    private var postponed: [Watch] = []

    /// The maximum number of requests in flight for all watches together. A pool has at most two per
    /// connection: one to read, one to write.
    private static let waitsMax: UInt32 = 128

    init(_ executor: EventLoopTaskExecutor) throws(PostgresError) {
        self.executor = executor
        var context: UInt = 0
        let failure = creadiness_setup(AIOReadiness.waitsMax, &context)
        guard failure == 0 else { throw .connectFailed("io_setup: \(errorText(-failure))") }
        self.context = context
        eventDescriptor = eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC))
        guard eventDescriptor >= 0 else {
            creadiness_destroy(context)
            throw .connectFailed("eventfd: \(errorText(errno))")
        }
        openChannel()
    }

    private func openChannel() {
        let descriptor = eventDescriptor
        let loopBound = NIOLoopBound(self, eventLoop: executor.eventLoop)
        NIOPipeBootstrap(group: executor.eventLoop)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = EventCounterHandler { loopBound.value.collect() }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .whenComplete { result in
                switch result {
                case .success(let channel): loopBound.value.opened(channel)
                case .failure: Glibc.close(descriptor)
                }
            }
    }

    private func opened(_ channel: any Channel) {
        if isClosed {
            channel.close(promise: nil)
        } else {
            self.channel = channel
        }
    }

    func add(_ descriptor: CInt, _ watcher: any DescriptorWatcher) -> WatchID {
        lastID += 1
        // calloc of 64 bytes fails only when the process is out of memory and cannot continue.
        let reading = creadiness_poll_make(
            descriptor, CInt(POLLIN), eventDescriptor, lastID << 1)!
        let writing = creadiness_poll_make(
            descriptor, CInt(POLLOUT), eventDescriptor, lastID << 1 | 1)!
        watches[lastID] = Watch(
            watcher, reading: Wait(poll: reading), writing: Wait(poll: writing))
        return WatchID(value: lastID)
    }

    func waitToRead(_ id: WatchID) -> Bool {
        guard let watch = watches[id.value], !watch.isRemoved, !isClosed else { return false }
        guard isCollecting else { return submit(&watch.reading) }
        if watch.reading.isUnderWay { return true }
        watch.reading.isUnderWay = true
        watch.reading.isPostponed = true
        postponed.append(watch)
        return true
    }

    func waitToWrite(_ id: WatchID) -> Bool {
        guard let watch = watches[id.value], !watch.isRemoved, !isClosed else { return false }
        return submit(&watch.writing)
    }

    private func submit(_ wait: inout Wait) -> Bool {
        if wait.isUnderWay { return true }
        var poll: OpaquePointer? = wait.poll
        wait.isUnderWay = creadiness_submit(context, &poll, 1) == 1
        return wait.isUnderWay
    }

    func remove(_ id: WatchID) {
        guard let watch = watches[id.value], !watch.isRemoved else { return }
        watch.isRemoved = true
        if watch.reading.isPostponed {
            watch.reading.isPostponed = false
            watch.reading.isUnderWay = false
        }
        // The kernel keeps the socket open while a request for it is in flight, so cancel both.
        if watch.reading.isUnderWay { _ = creadiness_cancel(context, watch.reading.poll) }
        if watch.writing.isUnderWay { _ = creadiness_cancel(context, watch.writing.poll) }
        forgetIfDone(id.value)
    }

    func close() {
        if isClosed { return }
        for id in Array(watches.keys) { remove(WatchID(value: id)) }
        isClosed = true
        creadiness_destroy(context)  // blocks until all requests in flight have ended
        for watch in watches.values { AIOReadiness.free(watch) }
        watches = [:]
        channel?.close(promise: nil)
        channel = nil
    }

    private func collect() {
        if isClosed { return }
        executor.turn {
            isCollecting = true
            withUnsafeTemporaryAllocation(of: creadiness_event.self, capacity: 64) { events in
                var count: CInt
                repeat {
                    count = creadiness_finished(context, events.baseAddress, CInt(events.count))
                    for event in events.prefix(Int(max(0, count))) { finish(event.tag) }
                } while count == events.count && !isClosed
            }
            isCollecting = false
            submitPostponed()
        }
    }

    private func submitPostponed() {
        // A watch that has been removed in the meantime is no longer postponed, and its requests may be freed.
        let watches = postponed.filter(\.reading.isPostponed)
        postponed.removeAll(keepingCapacity: true)
        if watches.isEmpty || isClosed { return }
        for watch in watches { watch.reading.isPostponed = false }
        let polls: [OpaquePointer?] = watches.map(\.reading.poll)
        let count = creadiness_submit(context, polls, CInt(polls.count))
        for watch in watches.dropFirst(Int(max(0, count))) {
            // The watcher tries again, and learns that the kernel refuses the request.
            watch.reading.isUnderWay = false
            if !watch.isRemoved { watch.watcher.descriptorIsReady() }
        }
    }

    private func finish(_ tag: UInt64) {
        guard let watch = watches[tag >> 1] else { return }
        if tag & 1 == 0 {
            watch.reading.isUnderWay = false
        } else {
            watch.writing.isUnderWay = false
        }
        if watch.isRemoved {
            forgetIfDone(tag >> 1)
        } else {
            watch.watcher.descriptorIsReady()
        }
    }

    private func forgetIfDone(_ id: UInt64) {
        guard let watch = watches[id], watch.isRemoved, !watch.reading.isUnderWay,
            !watch.writing.isUnderWay
        else { return }
        watches[id] = nil
        AIOReadiness.free(watch)
    }

    private static func free(_ watch: Watch) {
        Glibc.free(UnsafeMutableRawPointer(watch.reading.poll))
        Glibc.free(UnsafeMutableRawPointer(watch.writing.poll))
    }
}

/// Calls `onEvent` whenever the eventfd is readable. The bytes read are only its counter.
private final class EventCounterHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let onEvent: () -> Void

    init(_ onEvent: @escaping () -> Void) {
        self.onEvent = onEvent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onEvent()
    }
}

/// Returns the system's description of an errno value.
func errorText(_ code: CInt) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}
