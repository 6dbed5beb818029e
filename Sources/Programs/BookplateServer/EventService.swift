import Bookplate
import Config
import EventLoops
import Logging
import MQTT
import NIOPosix
import Postgres
import ServiceLifecycle

/// Publishes events to the MQTT broker until the server stops.
struct EventService: Service {
    private let publisher: EventPublisher

    /// The time for connecting to the broker, and for publishing a batch of messages.
    private static let brokerTimeout = Duration.seconds(5)

    init(
        _ broker: Configuration.Broker, database: ConnectionPool, services: Services
    ) {
        let address = BrokerAddress(
            host: broker.host, port: broker.port, isEncrypted: broker.isEncrypted,
            user: broker.user,
            password: broker.password, certificatesFile: broker.certificatesFile)
        publisher = EventPublisher(database: database, services: services) {
            // Each connection needs its own client id: a broker disconnects the older of two clients with the same id. The
            // older one may even be an attempt that reaches the broker after its timeout.
            let connection = try await BrokerConnection.connect(
                to: address, clientID: "bookplate-\(UUID.version7())",
                timeout: Self.brokerTimeout)
            return EventPublisher.Broker(
                publish: { messages in
                    try await connection.publish(
                        messages.map { .init(topic: $0.topic, payload: $0.payload) },
                        timeout: Self.brokerTimeout)
                },
                close: { await connection.close() })
        }
    }

    func run() async {
        await cancelWhenGracefulShutdown { await publisher.run() }
    }
}
