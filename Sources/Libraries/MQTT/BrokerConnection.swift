import CMosquitto
import Glibc
import Synchronization

/// A connection to an MQTT broker, served by a thread of its own.
///
/// Only this thread calls libmosquitto. Callers change the state under the lock and wake the thread up. After the first failure the
/// thread closes the connection and ends.
///
/// The thread waits with `poll`. The loop of libmosquitto (`mosquitto_loop_start`) uses `pselect`, which supports only descriptors
/// below 1,024: a server with more open connections could not connect to the broker.
///
/// The connection does not reconnect. Once a method has thrown, close it and create another one.
package final class BrokerConnection: Sendable {
    /// A message with quality of service 1: it is delivered to the broker at least once.
    package struct Message: Sendable {
        package var topic: String
        package var payload: [UInt8]

        package init(topic: String, payload: [UInt8]) {
            self.topic = topic
            self.payload = payload
        }
    }

    private typealias Waiting = CheckedContinuation<Result<Void, BrokerError>, Never>

    private static let library: Int32 = mosquitto_lib_init()
    /// The number of threads that are establishing TCP connections, perhaps after the timeout of `connect`.
    private static let connectingCount = Mutex(0)
    private static let connectingMax = 4
    private static let keepAliveSeconds: Int32 = 15
    /// libmosquitto checks the keep-alive time, and must be called about once per second for that.
    private static let pollMilliseconds: Int32 = 1000

    private let address: BrokerAddress
    private let clientID: String
    /// An eventfd that wakes the thread up.
    private let wakeUpDescriptor: Int32
    private let state = Mutex(State())

    private struct State {
        /// Whether the broker has accepted the connection.
        var isConnected = false
        /// The messages that the thread has not taken yet.
        var outgoing: [Message] = []
        /// The number of messages that the broker has not acknowledged yet, including `outgoing`.
        var unacknowledgedCount = 0
        /// The caller of `connect` or `publish`.
        var waiting: Waiting?
        /// The number of calls of `connect` and `publish`.
        var callCount = 0
        /// The first failure, or `.connectionLost` after `close`.
        var failure: BrokerError?
        /// The callers of `close`.
        var closing: [CheckedContinuation<Void, Never>] = []
        var threadHasEnded = false

        /// The result for the waiting caller; nil while the broker has not responded to everything.
        var result: Result<Void, BrokerError>? {
            if let failure { return .failure(failure) }
            return isConnected && unacknowledgedCount == 0 ? .success(()) : nil
        }
    }

    /// Connects and waits until the broker accepts the connection.
    ///
    /// - Throws: `.unreachable`, `.refused`, or `.timeout`. The connection need not be closed then: its thread ends soon, or
    ///   after the system's timeout if it is still resolving the host name or establishing the TCP connection.
    package static func connect(
        to address: BrokerAddress, clientID: String, timeout: Duration
    ) async throws(BrokerError) -> BrokerConnection {
        let connection = try BrokerConnection(address, clientID: clientID)
        try connection.startThread()
        try await connection.wait(timeout)
        return connection
    }

    private init(_ address: BrokerAddress, clientID: String) throws(BrokerError) {
        self.address = address
        self.clientID = clientID
        wakeUpDescriptor = eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC))
        guard wakeUpDescriptor >= 0 else {
            throw .unreachable("eventfd: \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        Glibc.close(wakeUpDescriptor)
    }

    /// Sends the messages in order and waits until the broker has acknowledged all of them. Only one call may run at a time.
    ///
    /// - Throws: If the broker has not acknowledged all messages. Any of them may have arrived.
    package func publish(_ messages: [Message], timeout: Duration) async throws(BrokerError) {
        if messages.isEmpty { return }
        try await wait(timeout, toPublish: messages)
    }

    /// Closes the connection and waits until its thread has ended. Messages that are not acknowledged are dropped.
    package func close() async {
        fail(.connectionLost)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let threadHasEnded = state.withLock { state in
                if !state.threadHasEnded { state.closing.append(continuation) }
                return state.threadHasEnded
            }
            if threadHasEnded { continuation.resume() }
        }
    }

    // MARK: Waiting

    /// Waits until the broker has accepted the connection and acknowledged the messages, or for a failure or the timeout.
    private func wait(
        _ timeout: Duration, toPublish messages: [Message] = []
    ) async throws(BrokerError) {
        let call = state.withLock { state in
            state.callCount += 1
            return state.callCount
        }
        let alarm = Task {
            try await Task.sleep(for: timeout)
            // The broker may have acknowledged everything in this moment.
            let isWaiting = self.state.withLock { $0.waiting != nil && $0.callCount == call }
            if isWaiting { self.fail(.timeout) }
        }
        defer { alarm.cancel() }
        try await withCheckedContinuation { (continuation: Waiting) in
            update { state in
                state.waiting = continuation
                state.outgoing += messages
                state.unacknowledgedCount += messages.count
            }
            wakeUp()
        }.get()
    }

    /// Changes the state, and resumes the waiting caller if there is a result.
    private func update(_ change: (inout State) -> Void) {
        let resumption = state.withLock { state -> (Waiting, Result<Void, BrokerError>)? in
            change(&state)
            guard let result = state.result, let waiting = state.waiting.take() else { return nil }
            return (waiting, result)
        }
        if let (waiting, result) = resumption { waiting.resume(returning: result) }
    }

    private func fail(_ error: BrokerError) {
        update { $0.failure = $0.failure ?? error }
        wakeUp()
    }

    private func wakeUp() {
        eventfd_write(wakeUpDescriptor, 1)
    }

    // MARK: The thread

    private func startThread() throws(BrokerError) {
        let connection = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // The argument is the connection, which was retained for this thread.
                Unmanaged<BrokerConnection>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, connection.toOpaque())
        guard code == 0 else {
            connection.release()
            throw .unreachable("pthread_create: \(String(cString: strerror(code)))")
        }
        pthread_detach(thread)
    }

    private func run() {
        do throws(BrokerError) { try serve() } catch { fail(error) }
        let closing = state.withLock { state in
            state.threadHasEnded = true
            return state.closing
        }
        for continuation in closing { continuation.resume() }
    }

    /// Connects, and publishes messages until there is a failure.
    private func serve() throws(BrokerError) {
        let object = Unmanaged.passUnretained(self).toOpaque()
        guard Self.library == MOSQ_ERR_SUCCESS.rawInt32,
            let handle = mosquitto_new(clientID, true, object)
        else { throw .unreachable("libmosquitto cannot be initialized") }
        defer {
            mosquitto_disconnect(handle)
            mosquitto_destroy(handle)
        }
        try configure(handle)
        // This call blocks until the TCP connection is established, which takes minutes if a host drops packets. It tries all addresses
        // of the host, unlike `mosquitto_connect_async`.
        let mayConnect = Self.connectingCount.withLock { count in
            guard count < Self.connectingMax else { return false }
            count += 1
            return true
        }
        guard mayConnect else { throw .unreachable("Earlier attempts are still waiting.") }
        let code = mosquitto_connect(
            handle, address.host, Int32(clamping: address.port), Self.keepAliveSeconds)
        Self.connectingCount.withLock { $0 -= 1 }
        try check(code)
        while let messages = takeMessages() {
            for message in messages {
                try check(
                    mosquitto_publish(
                        handle, nil, message.topic, Int32(clamping: message.payload.count),
                        message.payload, 1, false))
            }
            let isClosed = waitForEvents(handle)
            // The socket does not block. Read even if it has no input, because OpenSSL may have decrypted more than was read.
            try check(mosquitto_loop_read(handle, 1))
            if isClosed, !state.withLock({ $0.isConnected }) {
                // libmosquitto does not report a peer that closes the connection during the TLS handshake.
                throw .unreachable("The connection was closed.")
            }
            if mosquitto_want_write(handle) { try check(mosquitto_loop_write(handle, 1)) }
            try check(mosquitto_loop_misc(handle))
        }
    }

    private func configure(_ handle: OpaquePointer) throws(BrokerError) {
        mosquitto_connect_callback_set(handle) { _, object, code in
            BrokerConnection.of(object)?.connected(code)
        }
        mosquitto_publish_callback_set(handle) { _, object, _ in
            BrokerConnection.of(object)?.update { $0.unacknowledgedCount -= 1 }
        }
        if let user = address.user {
            try check(mosquitto_username_pw_set(handle, user, address.password))
        }
        guard address.isEncrypted else { return }
        let file = address.certificatesFile
        try check(
            mosquitto_tls_set(
                handle, file, file == nil ? "/etc/ssl/certs" : nil, nil, nil, nil))
    }

    /// Returns the messages to publish next, which may be none; nil after a failure.
    private func takeMessages() -> [Message]? {
        state.withLock { state -> [Message]? in
            guard state.failure == nil else { return nil }
            defer { state.outgoing = [] }
            return state.outgoing
        }
    }

    /// Waits until the socket is ready, the thread is woken up, or libmosquitto must be called to check the time.
    ///
    /// - Returns: Whether the peer has closed the connection, or it has failed. The socket may still have input.
    private func waitForEvents(_ handle: OpaquePointer) -> Bool {
        let events = mosquitto_want_write(handle) ? POLLIN | POLLOUT : POLLIN
        var watched = [
            pollfd(fd: mosquitto_socket(handle), events: Int16(events), revents: 0),
            pollfd(fd: wakeUpDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&watched, nfds_t(watched.count), Self.pollMilliseconds)
        var count: eventfd_t = 0
        eventfd_read(wakeUpDescriptor, &count)
        return Int32(watched[0].revents) & (POLLHUP | POLLERR | POLLNVAL) != 0
    }

    private func connected(_ code: Int32) {
        if code == 0 {
            update { $0.isConnected = true }
        } else {
            fail(.refused(String(cString: mosquitto_connack_string(code))))
        }
    }

    private func check(_ code: Int32) throws(BrokerError) {
        if code == MOSQ_ERR_SUCCESS.rawInt32 { return }
        let reason = String(cString: mosquitto_strerror(code))
        guard state.withLock({ $0.isConnected }) else { throw .unreachable(reason) }
        switch code {
        case MOSQ_ERR_INVAL.rawInt32, MOSQ_ERR_MALFORMED_UTF8.rawInt32,
            MOSQ_ERR_PAYLOAD_SIZE.rawInt32, MOSQ_ERR_OVERSIZE_PACKET.rawInt32:
            throw .invalidMessage(reason)
        default: throw .connectionLost
        }
    }

    /// Returns the connection of a callback. It stays alive until its thread has ended.
    private static func of(_ object: UnsafeMutableRawPointer?) -> BrokerConnection? {
        object.map { Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension mosq_err_t {
    /// The code in the type that libmosquitto's functions return.
    fileprivate var rawInt32: Int32 { Int32(rawValue) }
}
