import CMosquitto
import NIOPosix
import Synchronization

/// A connection to an MQTT broker, served by a thread of libmosquitto.
///
/// The connection does not reconnect. Once a method has thrown, close it and create another one.
package final class BrokerConnection: @unchecked Sendable {
    /// A message with quality of service 1: it is delivered to the broker at least once.
    package struct Message: Sendable {
        package var topic: String
        package var payload: [UInt8]

        package init(topic: String, payload: [UInt8]) {
            self.topic = topic
            self.payload = payload
        }
    }

    private static let library: Int32 = mosquitto_lib_init()
    /// Connecting resolves host names, and closing waits for a thread, so both run on threads that may block.
    private static let threads = {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return threads
    }()
    private static let keepAliveSeconds: Int32 = 15

    // libmosquitto synchronizes access to the handle, which is freed once, in close().
    private let handle: OpaquePointer
    private let state = Mutex(State())

    private struct State {
        /// The identifiers of the messages that the broker has not acknowledged yet.
        var unacknowledged: Set<Int32> = []
        /// Acknowledgements that arrived before `mosquitto_publish` returned the message's identifier.
        var earlyAcknowledgements: Set<Int32> = []
        var isPublishing = false
        var waiting: CheckedContinuation<Result<Void, BrokerError>, Never>?
        var failure: BrokerError?
        var isClosed = false
    }

    /// Connects and waits until the broker accepts the connection.
    ///
    /// - Throws: `.unreachable`, `.refused`, or `.timeout`.
    package static func connect(
        to address: BrokerAddress, clientID: String, timeout: Duration
    ) async throws(BrokerError) -> BrokerConnection {
        guard library == MOSQ_ERR_SUCCESS.rawInt32, let handle = mosquitto_new(clientID, true, nil)
        else { throw .unreachable("libmosquitto cannot be initialized") }
        let connection = BrokerConnection(handle)
        do throws(BrokerError) {
            try connection.configure(address)
            try await connection.wait(timeout) { () throws(BrokerError) in
                try connection.start(address)
            }
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    private init(_ handle: OpaquePointer) {
        self.handle = handle
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(handle) { _, object, code in
            BrokerConnection.of(object)?.connected(code)
        }
        mosquitto_disconnect_callback_set(handle) { _, object, _ in
            BrokerConnection.of(object)?.fail(.connectionLost)
        }
        mosquitto_publish_callback_set(handle) { _, object, number in
            BrokerConnection.of(object)?.acknowledged(number)
        }
    }

    private func configure(_ address: BrokerAddress) throws(BrokerError) {
        if let user = address.user {
            try check(mosquitto_username_pw_set(handle, user, address.password))
        }
        guard address.isEncrypted else { return }
        let file = address.certificatesFile
        try check(
            mosquitto_tls_set(
                handle, file, file == nil ? "/etc/ssl/certs" : nil, nil, nil, nil))
    }

    private func start(_ address: BrokerAddress) throws(BrokerError) {
        try check(
            mosquitto_connect_async(
                handle, address.host, Int32(clamping: address.port), Self.keepAliveSeconds))
        try check(mosquitto_loop_start(handle))
    }

    /// Sends the messages in order and waits until the broker has acknowledged all of them.
    ///
    /// - Throws: If the broker has not acknowledged all messages. Any of them may have arrived.
    package func publish(_ messages: [Message], timeout: Duration) async throws(BrokerError) {
        if messages.isEmpty { return }
        state.withLock { $0.isPublishing = true }
        try await wait(timeout) { () throws(BrokerError) in
            for message in messages {
                var id: Int32 = 0
                try self.check(
                    mosquitto_publish(
                        self.handle, &id, message.topic, Int32(clamping: message.payload.count),
                        message.payload, 1, false))
                self.state.withLock { state in
                    if state.earlyAcknowledgements.remove(id) == nil {
                        state.unacknowledged.insert(id)
                    }
                }
            }
            self.update { $0.isPublishing = false }
        }
    }

    /// Closes the connection. Messages that are not acknowledged are dropped.
    package func close() async {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        try? await Self.threads.runIfActive {
            mosquitto_disconnect(self.handle)
            // Stop libmosquitto's thread before its memory is freed.
            mosquitto_loop_stop(self.handle, false)
            mosquitto_destroy(self.handle)
        }
    }

    // MARK: Waiting

    /// Starts the work on a thread that may block, and waits for success, a failure, or the timeout.
    private func wait(
        _ timeout: Duration, _ work: @Sendable @escaping () throws(BrokerError) -> Void
    ) async throws(BrokerError) {
        let alarm = Task {
            try await Task.sleep(for: timeout)
            self.fail(.timeout)
        }
        defer { alarm.cancel() }
        try await withCheckedContinuation { continuation in
            let failure = state.withLock { state in
                if state.failure == nil { state.waiting = continuation }
                return state.failure
            }
            if let failure { return continuation.resume(returning: .failure(failure)) }
            Self.threads.submit { _ in
                do throws(BrokerError) { try work() } catch { self.fail(error) }
            }
        }.get()
    }

    private func connected(_ code: Int32) {
        if code == 0 {
            state.withLock { $0.waiting.take() }?.resume(returning: .success(()))
        } else {
            fail(.refused(String(cString: mosquitto_connack_string(code))))
        }
    }

    private func acknowledged(_ id: Int32) {
        update { state in
            if state.unacknowledged.remove(id) == nil { state.earlyAcknowledgements.insert(id) }
        }
    }

    /// Changes the state, and resumes the waiting caller if all messages have been acknowledged.
    private func update(_ change: (inout State) -> Void) {
        state.withLock { state -> CheckedContinuation<Result<Void, BrokerError>, Never>? in
            change(&state)
            guard !state.isPublishing, state.unacknowledged.isEmpty else { return nil }
            return state.waiting.take()
        }?.resume(returning: .success(()))
    }

    private func fail(_ error: BrokerError) {
        state.withLock { state in
            state.failure = state.failure ?? error
            return state.waiting.take()
        }?.resume(returning: .failure(error))
    }

    private func check(_ code: Int32) throws(BrokerError) {
        switch code {
        case MOSQ_ERR_SUCCESS.rawInt32: return
        case MOSQ_ERR_INVAL.rawInt32, MOSQ_ERR_MALFORMED_UTF8.rawInt32,
            MOSQ_ERR_PAYLOAD_SIZE.rawInt32, MOSQ_ERR_OVERSIZE_PACKET.rawInt32:
            throw .invalidMessage(String(cString: mosquitto_strerror(code)))
        case MOSQ_ERR_NO_CONN.rawInt32, MOSQ_ERR_CONN_LOST.rawInt32: throw .connectionLost
        default: throw .unreachable(String(cString: mosquitto_strerror(code)))
        }
    }

    /// Returns the connection of a callback. It stays alive until libmosquitto's thread has been stopped.
    private static func of(_ object: UnsafeMutableRawPointer?) -> BrokerConnection? {
        object.map { Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension mosq_err_t {
    /// The code in the type that libmosquitto's functions return.
    fileprivate var rawInt32: Int32 { Int32(rawValue) }
}
