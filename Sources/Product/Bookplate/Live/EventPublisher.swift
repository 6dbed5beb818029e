import GraphQL
import Logging
import Postgres
import Requests
import Telemetry

/// Publishes the events of the outbox to a broker: each at least once, and the events of one user in order.
///
/// Only one server publishes at a time: the one that holds the lease. Events stay in the outbox until the broker has
/// acknowledged them.
package final class EventPublisher: Sendable {
    /// An event as it is published. The message does not depend on the kind of broker.
    package struct Message: Sendable {
        package let topic: String
        package let payload: [UInt8]
    }

    /// A connection to the broker. After a failure it is closed and replaced.
    package struct Broker: Sendable {
        package let publish: @Sendable ([Message]) async throws -> Void
        package let close: @Sendable () async -> Void

        package init(
            publish: @escaping @Sendable ([Message]) async throws -> Void,
            close: @escaping @Sendable () async -> Void
        ) {
            self.publish = publish
            self.close = close
        }
    }

    /// The maximum number of events that are published together.
    private static let batchMax: Int32 = 100
    /// The duration of the lease. It is longer than a batch may take.
    private static let leaseMilliseconds: Int32 = 15_000
    /// The time after which the outbox is read even without a notification.
    private static let pollInterval = Duration.seconds(2)
    /// The delay after a notification, so that one read covers the notifications that follow it closely.
    private static let gatheringDelay = Duration.milliseconds(10)
    /// The pause after a failure.
    private static let retryInterval = Duration.seconds(1)

    private let database: ConnectionPool
    private let hub: Hub
    private let urls: ImageURLBuilder
    private let connect: @Sendable () async throws -> Broker
    private let logger: Logger
    private let holder = UUID.version7()

    package init(
        database: ConnectionPool, services: Services,
        connect: @escaping @Sendable () async throws -> Broker
    ) {
        self.database = database
        hub = services.hub
        urls = services.covers.urls
        logger = services.logger
        self.connect = connect
    }

    /// Publishes until the task is cancelled, then releases the lease.
    package func run() async {
        let watch = hub.watchOutbox()
        var broker: Broker?
        var failure = RepeatedFailure()
        while !Task.isCancelled {
            do {
                let mayHaveMore = try await publish(&broker)
                failure.end()
                if mayHaveMore { continue }
                await watch.signal.wait(atMost: Self.pollInterval)
                // Wait for the notifications that follow closely. The signal is set for every change of every library, and most
                // changes write no event.
                try await Task.sleep(for: Self.gatheringDelay)
            } catch is CancellationError {
                break
            } catch {
                if failure.isToBeLogged("\(error)") {
                    logger.warning(
                        "cannot publish events, trying again", metadata: ["reason": "\(error)"])
                }
                await broker?.close()
                broker = nil
                // Another server may be able to reach the broker.
                _ = try? await database.run(.one(Self.releaseLease, .of(holder)))
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
        await broker?.close()
        // In a task of its own, because this one is cancelled.
        await Task {
            _ = try? await self.database.run(.one(Self.releaseLease, .of(self.holder)))
        }.value
    }

    /// Publishes a batch of events.
    ///
    /// - Returns: Whether the outbox may have more events.
    private func publish(_ broker: inout Broker?) async throws -> Bool {
        var parameters = Parameters.of(holder)
        parameters.append(int32: Self.leaseMilliseconds)
        parameters.append(int32: Self.batchMax)
        let events = try await database.run(.one(Self.takeEvents.statement, parameters))[0]
            .decode(OutboxEvent.self)
        if events.isEmpty { return false }
        let messages = events.compactMap(message)
        if !messages.isEmpty {
            let connected: Broker
            if let broker { connected = broker } else { connected = try await connect() }
            broker = connected
            try await connected.publish(messages)
        }
        var published = Parameters()
        published.append(uuids: events.map(\.user))
        published.append(int64s: events.map(\.id))
        _ = try await database.run(.one(Self.markDelivered, published))
        return events.count == Int(Self.batchMax)
    }

    /// Returns the message of an event; nil if events of this kind are not published.
    private func message(_ event: OutboxEvent) -> Message? {
        guard event.kind == "cover_changed", let book = event.book, let version = event.version,
            let source = event.source, let at = event.at
        else { return nil }
        var writer = ResponseWriter(capacity: 512)
        writer.write(
            .object([
                .init("book_id", .string(book.description)),
                .init("cover_url", .string(urls.cover(event.user, book, version))),
                .init("timestamp", .string(Instant(microseconds: at).text)),
                .init(
                    "source",
                    .string(Self.readerSources.contains(source) ? "manual_upload" : "web_search")),
            ]))
        return Message(topic: "users/\(event.user)/cover_uploaded", payload: writer.bytes)
    }

    /// The sources of covers that readers provide. Covers of all other sources are found by a search.
    private static let readerSources: Set = [
        CoverSource.manualUpload.rawValue, CoverSource.url.rawValue,
    ]

    private struct OutboxEvent: RowDecodable {
        let user: UUID
        let id: Int64
        let kind: String?
        let book: UUID?
        let version: String?
        let source: String?
        /// The time of the event in microseconds since the Unix epoch.
        let at: Int64?

        init?(_ row: inout RowReader) {
            guard let user = row.uuid(), let id = row.int64() else { return nil }
            self.user = user
            self.id = id
            kind = row.text()
            book = row.uuid()
            version = row.text()
            source = row.text()
            at = row.timestamptz()
        }
    }

    /// Acquires or renews the lease, and returns the oldest events of the outbox. Returns none if another server holds
    /// the lease.
    private static let takeEvents = TypedStatement<OutboxEvent>(
        """
        SELECT
          user_id, id, kind, (payload->>'book_id')::uuid, payload->>'version', payload->>'source',
          created_at
        FROM take_events($1, $2, $3)
        """)

    private static let markDelivered = Statement("SELECT mark_events_delivered($1, $2)")

    private static let releaseLease = Statement("SELECT release_events($1)")
}
