import GraphQL
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The event outbox and its publisher, with a stub broker.
@Suite struct EventPublisherTests {
    /// A broker that a test can make unavailable.
    private final class StubBroker: Sendable {
        struct Unavailable: Error {}

        private struct State {
            var isUnavailable = false
            var received: [EventPublisher.Message] = []
            var connectionCount = 0
            var failedConnectionCount = 0
        }

        private let state = Mutex(State())

        var received: [EventPublisher.Message] { state.withLock { $0.received } }
        var connectionCount: Int { state.withLock { $0.connectionCount } }
        var failedConnectionCount: Int { state.withLock { $0.failedConnectionCount } }
        var isUnavailable: Bool {
            get { state.withLock { $0.isUnavailable } }
            set { state.withLock { $0.isUnavailable = newValue } }
        }

        func connect() throws -> EventPublisher.Broker {
            try state.withLock { state in
                if state.isUnavailable {
                    state.failedConnectionCount += 1
                    throw Unavailable()
                }
                state.connectionCount += 1
            }
            return EventPublisher.Broker(
                publish: { messages in
                    try self.state.withLock { state in
                        // The connection may be lost after half of a batch has arrived.
                        if state.isUnavailable {
                            state.received += messages.prefix(messages.count / 2)
                            throw Unavailable()
                        }
                        state.received += messages
                    }
                }, close: {})
        }

        /// Waits until the broker has received this number of messages.
        func wait(_ count: Int) async throws {
            try await waitUntil("\(count) messages have arrived") { received.count >= count }
        }
    }

    private static func publisher(_ app: TestApp, _ broker: StubBroker) -> EventPublisher {
        EventPublisher(
            database: app.pool, services: app.services, connect: broker.connect)
    }

    /// Publishes while the body runs.
    private static func publishing(
        _ app: TestApp, _ broker: StubBroker, _ body: () async throws -> Void
    ) async throws {
        let publisher = publisher(app, broker)
        let task = Task(executorPreference: app.pool.executor) { await publisher.run() }
        defer { task.cancel() }
        try await body()
        task.cancel()
        await task.value
    }

    private static func addEvents(
        _ app: TestApp, _ reader: TestReader, _ versions: ClosedRange<Int>
    )
        async throws
    {
        try await app.database.execute(
            """
            INSERT INTO events (user_id, kind, payload)
            SELECT '\(reader.id.string ?? "")', 'cover_changed', jsonb_build_object('book_id',
              '01970000-0000-7000-8000-000000000001', 'status', 'READY', 'source', 'OPEN_LIBRARY',
              'version', n::text) FROM generate_series(\(versions.lowerBound), \(versions.upperBound)) n
            """)
    }

    private static func undeliveredCount(_ app: TestApp) async throws -> Int {
        try await app.database.count("SELECT count(*) FROM events WHERE delivered_at IS NULL")
    }

    private static func versions(_ messages: [EventPublisher.Message], of reader: TestReader)
        -> [Int]
    {
        messages.filter { $0.topic == "users/\(reader.id.string ?? "")/cover_uploaded" }.compactMap
        {
            String(decoding: $0.payload, as: UTF8.self).firstMatch(of: /\?v=([0-9]+)/)
                .flatMap { Int($0.1) }
        }
    }

    @Test func eventsArePublishedInOrderAndOnce() async throws {
        let app = try await TestApp.start(catalog: [])
        let (one, two) = (try await app.makeReader(), try await app.makeReader(.beta))
        let broker = StubBroker()
        try await Self.addEvents(app, one, 1...150)
        try await Self.publishing(app, broker) {
            try await broker.wait(150)
            try await Self.addEvents(app, two, 1...3)
            try await broker.wait(153)
        }
        #expect(Self.versions(broker.received, of: one) == Array(1...150))
        #expect(Self.versions(broker.received, of: two) == [1, 2, 3])
        let payload = try parseJSON(broker.received[0].payload)
        #expect(payload["book_id"] == "01970000-0000-7000-8000-000000000001")
        #expect(
            payload["cover_url"]
                == .string(
                    "http://covers.test/book-covers/\(one.id.string ?? "")/01970000-0000-7000-8000-000000000001.jpg?v=1"
                ))
        #expect(payload["source"] == "web_search")
        #expect(payload["timestamp"]?.string.flatMap { Instant($0) } != nil)
        #expect(try await Self.undeliveredCount(app) == 0)
    }

    @Test func eventsThatAreNotPublishedDoNotBlockOthers() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute(
            """
            INSERT INTO events (user_id, kind, payload)
            SELECT '\(reader.id.string ?? "")', 'cover_changed', jsonb_build_object('book_id',
              '01970000-0000-7000-8000-000000000001', 'status', 'NOT_FOUND') FROM generate_series(1, 120)
            """)
        try await Self.addEvents(app, reader, 1...1)
        let broker = StubBroker()
        try await Self.publishing(app, broker) { try await broker.wait(1) }
        #expect(Self.versions(broker.received, of: reader) == [1])
    }

    @Test func noEventIsLostWhileTheBrokerIsUnavailable() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let broker = StubBroker()
        broker.isUnavailable = true
        try await Self.publishing(app, broker) {
            try await Self.addEvents(app, reader, 1...20)
            try await waitUntil("the publisher has tried to connect") {
                broker.failedConnectionCount > 0
            }
            #expect(try await Self.undeliveredCount(app) == 20)
            broker.isUnavailable = false
            try await broker.wait(20)
            // The connection is lost in the middle of a batch.
            broker.isUnavailable = true
            try await Self.addEvents(app, reader, 21...40)
            try await broker.wait(30)
            broker.isUnavailable = false
            try await broker.wait(50)
        }
        let versions = Self.versions(broker.received, of: reader)
        #expect(versions == Array(1...20) + Array(21...30) + Array(21...40))
        #expect(broker.connectionCount == 2)
    }

    @Test func onlyTheServerWithTheLeasePublishes() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let (first, second) = (StubBroker(), StubBroker())
        try await Self.publishing(app, first) {
            try await Self.addEvents(app, reader, 1...1)
            try await first.wait(1)
            let standby = Self.publisher(app, second)
            let task = Task(executorPreference: app.pool.executor) { await standby.run() }
            for number in 2...5 {
                try await Self.addEvents(app, reader, number...number)
                try await first.wait(number)
            }
            #expect(second.received.isEmpty)
            // A server that cannot reach its broker releases the lease, so that another server can publish.
            first.isUnavailable = true
            try await Self.addEvents(app, reader, 6...6)
            try await second.wait(1)
            task.cancel()
            await task.value
        }
        #expect(
            Self.versions(first.received + second.received, of: reader) == [1, 2, 3, 4, 5, 6])
    }

    @Test func serverRoleCannotReadTheLeases() async throws {
        let app = try await TestApp.start(catalog: [])
        await #expect(throws: (any Error).self) {
            try await app.database.withConnection(as: TestCluster.app) {
                _ = try $0.query("SELECT * FROM leases")
            }
        }
    }
}
