import Glibc
import MosquittoBroker
import NIOPosix
import Testing

@testable import MQTT

/// Tests of publishing to a real mosquitto broker.
@Suite struct BrokerConnectionTests {
    private static func connect(
        _ broker: Mosquitto, user: String? = nil, password: String? = nil,
        certificates: String? = nil, host: String = "127.0.0.1", timeout: Duration = .seconds(5)
    ) async throws -> BrokerConnection {
        try await BrokerConnection.connect(
            to: BrokerAddress(
                host: host, port: broker.port, isEncrypted: certificates != nil, user: user,
                password: password, certificatesFile: certificates),
            clientID: "test", timeout: timeout)
    }

    private static func messages(_ range: ClosedRange<Int>) -> [BrokerConnection.Message] {
        range.map { .init(topic: "users/u/cover_uploaded", payload: Array("\($0)".utf8)) }
    }

    /// Messages that do not fit into the buffers of a socket.
    private static let largeMessages = (1...4).map { _ in
        BrokerConnection.Message(
            topic: "users/u/cover_uploaded", payload: [UInt8](repeating: 0, count: 4 << 20))
    }

    @Test func messagesArriveInOrderAndAreAcknowledged() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let subscriber = try broker.subscribe()
        let connection = try await Self.connect(broker)
        try await connection.publish([], timeout: .seconds(5))
        try await connection.publish(Self.messages(1...100), timeout: .seconds(5))
        try await connection.publish(Self.messages(101...150), timeout: .seconds(5))
        let lines = try await blocking { try subscriber.wait(150) }
        #expect(lines == (1...150).map { "users/u/cover_uploaded \($0)" })
        await connection.close()
    }

    @Test func largeMessagesAreAcknowledged() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let connection = try await Self.connect(broker)
        try await connection.publish(Self.largeMessages, timeout: .seconds(30))
        await connection.close()
    }

    /// The thread of `mosquitto_loop_start` supports only descriptors below 1,024.
    @Test func connectsInAProcessWithManyOpenDescriptors() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let subscriber = try broker.subscribe()
        let descriptors = try occupyDescriptors()
        defer { for descriptor in descriptors { close(descriptor) } }
        let connection = try await Self.connect(broker)
        try await connection.publish(Self.messages(1...100), timeout: .seconds(5))
        await connection.close()
        let lines = try await blocking { try subscriber.wait(100) }
        #expect(lines == (1...100).map { "users/u/cover_uploaded \($0)" })
    }

    @Test func failsToConnectWithoutABroker() async throws {
        let broker = try Mosquitto()
        let error = await #expect(throws: BrokerError.self) {
            _ = try await Self.connect(broker)
        }
        #expect(error == BrokerError.unreachable("Connection refused"))
    }

    @Test func waitsForAnUnresponsiveBrokerUntilTheTimeout() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let connection = try await Self.connect(broker)
        broker.suspend()
        await #expect(throws: BrokerError.timeout) {
            try await connection.publish(Self.messages(1...1), timeout: .milliseconds(100))
        }
        await connection.close()
        await #expect(throws: BrokerError.timeout) {
            _ = try await Self.connect(broker, timeout: .milliseconds(100))
        }
    }

    @Test func checksCredentialsAndDoesNotRevealThem() async throws {
        let broker = try Mosquitto(
            settings: "allow_anonymous false\npassword_file FOLDER/passwords")
        try broker.write("", to: "passwords")
        #expect(
            try Mosquitto.run([
                "/usr/bin/mosquitto_passwd", "-b", "\(broker.folder)/passwords", "bookplate",
                "right-secret",
            ]) == 0)
        _ = try Mosquitto.run(["chmod", "644", "\(broker.folder)/passwords"])
        try broker.start()
        do throws(BrokerError) {
            _ = try await BrokerConnection.connect(
                to: BrokerAddress(
                    host: "127.0.0.1", port: broker.port, user: "bookplate",
                    password: "wrong-secret"),
                clientID: "test", timeout: .seconds(5))
            Issue.record("a wrong password was accepted")
        } catch {
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!"\(error)".contains("secret"))
        }
        let connection = try await Self.connect(broker, user: "bookplate", password: "right-secret")
        try await connection.publish(Self.messages(1...1), timeout: .seconds(5))
        await connection.close()
        let address = BrokerAddress(
            host: "h", port: 1, user: "bookplate", password: "right-secret")
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), dumped] {
            #expect(!text.contains("secret") && !text.contains("bookplate"))
        }
    }

    @Test func checksTheBrokersCertificateAndName() async throws {
        let broker = try Mosquitto(
            settings: "allow_anonymous true\ncertfile FOLDER/cert.pem\nkeyfile FOLDER/key.pem")
        #expect(
            try Mosquitto.run([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                "\(broker.folder)/key.pem", "-out", "\(broker.folder)/cert.pem",
            ]) == 0)
        _ = try Mosquitto.run(["chmod", "644", "\(broker.folder)/key.pem"])
        try broker.start()
        let certificates = "\(broker.folder)/cert.pem"
        let connection = try await Self.connect(
            broker, certificates: certificates, host: "localhost")
        try await connection.publish(Self.messages(1...100), timeout: .seconds(5))
        try await connection.publish(Self.largeMessages, timeout: .seconds(30))
        await connection.close()
        // The same certificate for another host name, and a certificate from an untrusted authority.
        let wrongName = await #expect(throws: BrokerError.self) {
            _ = try await Self.connect(broker, certificates: certificates, host: "127.0.0.1")
        }
        let wrongAuthority = await #expect(throws: BrokerError.self) {
            _ = try await BrokerConnection.connect(
                to: BrokerAddress(host: "localhost", port: broker.port, isEncrypted: true),
                clientID: "test", timeout: .seconds(5))
        }
        #expect(wrongName?.isUnreachable == true && wrongAuthority?.isUnreachable == true)
    }

    /// A load balancer without a broker does this. libmosquitto does not notice it.
    @Test func connectionThatIsResetBeforeTheHandshakeFails() async throws {
        let (listener, port) = try listenOnLoopback()
        defer { close(listener) }
        async let resetting: Void = blocking {
            let accepted = accept(listener, nil, nil)
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                accepted, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            close(accepted)
        }
        let error = await #expect(throws: BrokerError.self) {
            _ = try await BrokerConnection.connect(
                to: BrokerAddress(host: "127.0.0.1", port: port, isEncrypted: true),
                clientID: "test", timeout: .seconds(30))
        }
        #expect(error?.isUnreachable == true, "\(String(describing: error))")
        try await resetting
    }

    @Test func lostBrokerIsDetectedAndMessagesCanBeSentAgain() async throws {
        let broker = try Mosquitto()
        try broker.start()
        let connection = try await Self.connect(broker)
        try await connection.publish(Self.messages(1...1), timeout: .seconds(5))
        broker.stop()
        await #expect(throws: BrokerError.self) {
            try await connection.publish(Self.messages(2...3), timeout: .seconds(5))
        }
        // A failed connection does not recover; the messages are sent on a new one.
        await #expect(throws: BrokerError.self) {
            try await connection.publish(Self.messages(2...3), timeout: .seconds(5))
        }
        await connection.close()
        try broker.start()
        let subscriber = try broker.subscribe()
        let next = try await Self.connect(broker)
        try await next.publish(Self.messages(2...3), timeout: .seconds(5))
        let lines = try await blocking { try subscriber.wait(2) }
        #expect(lines == (2...3).map { "users/u/cover_uploaded \($0)" })
        await next.close()
    }
}

/// Opens descriptors until all numbers below 1,024 are in use, so that the numbers of all others are higher. The caller closes
/// them.
private func occupyDescriptors() throws -> [Int32] {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    // The soft limit is not lowered again, because a higher one does not affect other tests.
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4096))
    setrlimit(resource, &limit)
    try #require(limit.rlim_cur > 2000, "The hard limit of open files is too low.")
    var descriptors: [Int32] = []
    while (descriptors.last ?? 0) < 1024 {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        descriptors.append(descriptor)
    }
    return descriptors
}

/// Returns a socket that listens on a free port, and the port.
private func listenOnLoopback() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(descriptor, pointer, byteCount) + listen(descriptor, 1)
                + getsockname(descriptor, pointer, &byteCount)
        }
    }
    try #require(code == 0)
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

extension BrokerError {
    fileprivate var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }
}

private func blocking<Value: Sendable>(
    _ work: @Sendable @escaping () throws -> Value
) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(work)
}
