import CLibPQ
import EventLoops
import Glibc
import NIOCore
import NIOPosix

/// Keeps one libpq connection open on an event loop: connects, waits for input, and reconnects when lost.
final class Link: DescriptorWatcher {
    private enum State {
        case idle
        case connecting
        case open(OpaquePointer, WatchID)
        case waiting(Scheduled<Void>)
        case closed
    }

    private let configuration: PostgresConfiguration
    private let executor: EventLoopTaskExecutor
    private let readiness: any Readiness
    /// Retained until the link is closed, because the kernel may report an event at any time.
    private var owner: (any LinkOwner)?
    private var state = State.idle
    private var backoff = Backoff()
    /// Why the last attempt to connect failed; nil once one succeeds.
    private(set) var failure: String?
    /// The time limit of the socket in milliseconds before `setPatient` raised it; nil if it is not raised.
    private var usualTimeout: CUnsignedInt?
    /// How long a server may take until it reads a large request, for example because it waits for a lock.
    static let patientTimeout = Duration.seconds(60)
    /// Whether the owner needs to know the size of the input. Measuring it takes two system calls.
    var measuresInput = false

    /// - Parameter owner: Receives all events; retained until the link is closed.
    init(
        _ configuration: PostgresConfiguration, on executor: EventLoopTaskExecutor,
        _ readiness: any Readiness, owner: any LinkOwner
    ) {
        self.configuration = configuration
        self.executor = executor
        self.readiness = readiness
        self.owner = owner
    }

    /// The open connection, or nil while connecting or closed.
    var connection: OpaquePointer? {
        if case .open(let connection, _) = state { connection } else { nil }
    }

    func start() {
        guard case .idle = state else { return }
        connect()
    }

    /// Closes the connection, reports the loss to the owner, and starts to reconnect.
    func lose(_ reason: String) {
        guard case .open(let connection, let watch) = state else { return }
        readiness.remove(watch)
        // The host of a connection that is closed for another reason is healthy.
        if PQstatus(connection) != CONNECTION_OK { HostOrder.lost(configuration.url, connection) }
        PQfinish(connection)
        configuration.onEvent(.connectionLost(reason: reason))
        state = .idle
        owner?.linkLost(reason)
        start()
    }

    /// Closes the connection and opens another one.
    func replace() {
        guard case .open(let connection, let watch) = state else { return }
        readiness.remove(watch)
        PQfinish(connection)
        state = .idle
        start()
    }

    func close() {
        switch state {
        case .open(let connection, let watch):
            readiness.remove(watch)
            PQfinish(connection)
        case .waiting(let attempt): attempt.cancel()
        case .idle, .connecting, .closed: break
        }
        state = .closed
        owner = nil
    }

    /// Sends what libpq has buffered, now or when the socket becomes writable.
    func flush() {
        guard case .open(let connection, let watch) = state else { return }
        switch PQflush(connection) {
        case 0: break
        case 1:
            if !readiness.waitToWrite(watch) { lose("the kernel refused to watch the socket") }
        default: lose(errorMessage(connection))
        }
    }

    /// Gives the server more time to read what is sent, or the usual time again.
    ///
    /// Has no effect on Unix sockets, which have no such time limit.
    func setPatient(_ isPatient: Bool) {
        guard case .open(let connection, _) = state else { return }
        let socket = PQsocket(connection)
        if isPatient {
            let raised = CUnsignedInt(Link.patientTimeout.timeoutMilliseconds)
            // Zero is the limit of the system, which is longer.
            guard usualTimeout == nil, let timeout = userTimeout(socket), timeout > 0,
                timeout < raised
            else { return }
            usualTimeout = timeout
            setUserTimeout(socket, raised)
        } else if let timeout = usualTimeout {
            usualTimeout = nil
            setUserTimeout(socket, timeout)
        }
    }

    func descriptorIsReady() {
        guard case .open(let connection, let watch) = state else { return }
        let bytesBefore = measuresInput ? waitingBytes(PQsocket(connection)) : 0
        guard PQconsumeInput(connection) == 1 else { return lose(errorMessage(connection)) }
        // The difference is too low if more bytes have arrived meanwhile. libpq reads at least 8 KiB if they are there.
        let byteCount =
            measuresInput
            ? max(bytesBefore - waitingBytes(PQsocket(connection)), min(bytesBefore, 8 << 10)) : 0
        owner?.linkReceived(connection, byteCount: byteCount)
        // The owner may have closed this connection while it handled the input.
        guard case .open(connection, watch) = state else { return }
        guard PQstatus(connection) == CONNECTION_OK else { return lose(errorMessage(connection)) }
        guard readiness.waitToRead(watch) else {
            return lose("the kernel refused to watch the socket")
        }
        flush()
    }

    private func connect() {
        state = .connecting
        let configuration = configuration
        let loop = executor.eventLoop
        let link = NIOLoopBound(self, eventLoop: loop)
        HelperThreads.connecting.submit { _ in
            let outcome = Result { () throws(PostgresError) in
                try OpenedConnection.open(configuration).configureSession(configuration)
            }
            loop.execute { link.value.connected(outcome) }
        }
    }

    private func connected(_ outcome: Result<OpenedConnection, PostgresError>) {
        switch (state, outcome) {
        case (.connecting, .success(let opened)):
            open(opened.pointer)
        case (.connecting, .failure(.connectFailed(let reason))):
            retryLater(reason)
        case (.connecting, .failure(let error)):
            retryLater(error.description)
        case (_, .success(let opened)):
            PQfinish(opened.pointer)
        case (_, .failure): break
        }
    }

    private func open(_ connection: OpaquePointer) {
        guard PQsetnonblocking(connection, 1) == 0 else {
            let message = errorMessage(connection)
            PQfinish(connection)
            return retryLater(message)
        }
        let watch = readiness.add(PQsocket(connection), self)
        guard readiness.waitToRead(watch) else {
            readiness.remove(watch)
            PQfinish(connection)
            return retryLater("the kernel refused to watch the socket")
        }
        state = .open(connection, watch)
        failure = nil
        usualTimeout = nil
        configuration.onEvent(.connected(processID: PQbackendPID(connection)))
        executor.turn { owner?.linkOpened(connection) }
        if case .open = state { backoff.reset() }
    }

    private func retryLater(_ reason: String) {
        failure = reason
        let delay = backoff.nextDelay(random: .random(in: 0...1))
        configuration.onEvent(.connectFailed(reason: reason, retryAfter: delay))
        let link = NIOLoopBound(self, eventLoop: executor.eventLoop)
        state = .waiting(
            executor.eventLoop.scheduleTask(in: TimeAmount(delay)) {
                link.value.connect()
            })
    }
}

/// Returns the number of bytes that have arrived at a socket and have not been read.
private func waitingBytes(_ socket: CInt) -> Int {
    var count: CInt = 0
    return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
}

/// Returns the time limit of a TCP socket for data that is not acknowledged or not read, in milliseconds; nil for a Unix socket.
private func userTimeout(_ socket: CInt) -> CUnsignedInt? {
    var timeout: CUnsignedInt = 0
    var size = socklen_t(MemoryLayout<CUnsignedInt>.size)
    let status = getsockopt(socket, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &size)
    return status == 0 ? timeout : nil
}

private func setUserTimeout(_ socket: CInt, _ timeout: CUnsignedInt) {
    var timeout = timeout
    setsockopt(
        socket, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout,
        socklen_t(MemoryLayout<CUnsignedInt>.size))
}

/// Receives the events of a link, always on its event loop.
protocol LinkOwner: AnyObject {
    func linkOpened(_ connection: OpaquePointer)
    /// New input has been read from the socket; results may be available.
    ///
    /// - Parameter byteCount: The approximate size of the input; 0 unless `measuresInput` is set.
    func linkReceived(_ connection: OpaquePointer, byteCount: Int)
    /// The connection was lost; the link is already reconnecting.
    func linkLost(_ reason: String)
}

/// Thread pools for the libpq calls that block.
enum HelperThreads {
    /// After the loss of a machine, all connections are opened again at the same time, and each may wait for hosts that do not
    /// respond.
    static let connecting = started(count: 8)
    /// Separate from `connecting`, so that a cancel request does not wait behind unreachable hosts.
    static let cancelling = started(count: 2)

    private static func started(count: Int) -> NIOThreadPool {
        let threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
        return threads
    }
}
