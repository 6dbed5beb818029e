import GraphQL
import Logging
import Postgres

/// Tells a broker of what happened, from the outbox: at least once, and of each user in order.
///
/// Of all servers one publishes at a time: the one that has the lease. What the broker has not
/// acknowledged stays in the outbox.
package final class EventPublisher: Sendable {
    /// How an event is told; the product knows topics and payloads, not brokers.
    package struct Message: Sendable {
        package let topic: String
        package let payload: [UInt8]
    }

    /// A connection to the broker, made anew after each failure.
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

    private static let batchMax: Int32 = 100
    /// Longer than a batch may take.
    private static let leaseMilliseconds: Int32 = 15_000
    /// How often the outbox is looked at though nobody told of an event.
    private static let pollInterval = Duration.seconds(2)
    private static let gatheringTime = Duration.milliseconds(10)
    private static let retryInterval = Duration.seconds(1)

    private let database: ConnectionPool
    private let hub: Hub
    private let urls: CoverURLBuilder
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

    /// Publishes until the task is cancelled, then gives the lease back.
    package func run() async {
        let watch = hub.watchOutbox()
        var broker: Broker?
        while !Task.isCancelled {
            do {
                if try await publish(&broker) { continue }
                await watch.signal.wait(atMost: Self.pollInterval)
                // It is told of every change of every library; so many look once.
                try await Task.sleep(for: Self.gatheringTime)
            } catch is CancellationError {
                break
            } catch {
                logger.warning("events wait for the broker", metadata: ["reason": "\(error)"])
                await broker?.close()
                broker = nil
                // Another server may reach it.
                _ = try? await ask(Self.releaseLease, .of(holder))
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
        await broker?.close()
        // In a task of its own: this one is cancelled.
        await Task { _ = try? await self.ask(Self.releaseLease, .of(self.holder)) }.value
    }

    /// Publishes a batch.
    ///
    /// - Returns: whether there may be more.
    private func publish(_ broker: inout Broker?) async throws -> Bool {
        var parameters = Parameters.of(holder)
        parameters.append(int32: Self.leaseMilliseconds)
        parameters.append(int32: Self.batchMax)
        let rows = try await ask(Self.takeEvents, parameters)
        if rows.count == 0 { return false }
        let messages = (0..<rows.count).compactMap { message(rows, $0) }
        if !messages.isEmpty {
            let connected: Broker
            if let broker { connected = broker } else { connected = try await connect() }
            broker = connected
            try await connected.publish(messages)
        }
        var told = Parameters()
        told.append(uuids: (0..<rows.count).compactMap { rows.uuid($0, 0) })
        told.append(int64s: (0..<rows.count).compactMap { rows.int64($0, 1) })
        _ = try await ask(Self.markDelivered, told)
        return rows.count == Int(Self.batchMax)
    }

    /// nil for events that brokers are not told of.
    private func message(_ rows: Rows, _ row: Int) -> Message? {
        guard let user = rows.uuid(row, 0), rows.text(row, 2) == "cover_changed",
            let book = rows.uuid(row, 3), let version = rows.text(row, 4),
            let source = rows.text(row, 5), let at = rows.timestamptz(row, 6)
        else { return nil }
        var writer = ResponseWriter(capacity: 512)
        writer.write(
            .object([
                .init("book_id", .string(book.description)),
                .init("cover_url", .string(urls.cover(user, book, version))),
                .init("timestamp", .string(Instant(microseconds: at).text)),
                .init(
                    "source",
                    .string(Self.givenSources.contains(source) ? "manual_upload" : "web_search")),
            ]))
        return Message(topic: "users/\(user)/cover_uploaded", payload: writer.bytes)
    }

    /// Those that the reader gave; all others were found.
    private static let givenSources: Set = [
        CoverSource.manualUpload.rawValue, CoverSource.url.rawValue,
    ]

    private func ask(
        _ statement: Statement, _ parameters: Parameters
    ) async throws(PostgresError) -> Rows {
        try await database.run(.one(statement, parameters))[0]
    }

    private static let takeEvents = Statement(
        """
        SELECT user_id, id, kind, (payload->>'book_id')::uuid, payload->>'version', \
        payload->>'source', created_at FROM take_events($1, $2, $3)
        """)

    private static let markDelivered = Statement("SELECT mark_events_delivered($1, $2)")

    private static let releaseLease = Statement("SELECT release_events($1)")
}
