import MosquittoBroker
import NIOPosix
import Testing

@testable import MQTT

/// Tests of publishing to a real mosquitto broker.
@Suite struct BrokerConnectionTests {
    private static func connect(
        _ broker: Mosquitto, user: String? = nil, password: String? = nil,
        certificates: String? = nil, host: String = "127.0.0.1"
    ) async throws -> BrokerConnection {
        try await BrokerConnection.connect(
            to: BrokerAddress(
                host: host, port: broker.port, isEncrypted: certificates != nil, user: user,
                password: password, certificatesFile: certificates),
            clientID: "test", timeout: .seconds(5))
    }

    private static func messages(_ range: ClosedRange<Int>) -> [BrokerConnection.Message] {
        range.map { .init(topic: "users/u/cover_uploaded", payload: Array("\($0)".utf8)) }
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

    @Test func failsToConnectWithoutABroker() async throws {
        let broker = try Mosquitto()
        await #expect(throws: BrokerError.self) { _ = try await Self.connect(broker) }
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
        try await connection.publish(Self.messages(1...1), timeout: .seconds(5))
        await connection.close()
        // The same certificate for another host name, and a certificate from an untrusted authority.
        await #expect(throws: BrokerError.self) {
            _ = try await Self.connect(broker, certificates: certificates, host: "127.0.0.1")
        }
        await #expect(throws: BrokerError.self) {
            _ = try await BrokerConnection.connect(
                to: BrokerAddress(host: "localhost", port: broker.port, isEncrypted: true),
                clientID: "test", timeout: .seconds(5))
        }
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

private func blocking<Value: Sendable>(
    _ work: @Sendable @escaping () throws -> Value
) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(work)
}
