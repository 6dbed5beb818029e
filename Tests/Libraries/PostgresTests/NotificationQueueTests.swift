import EventLoops
import NIOPosix
import Testing

@testable import Postgres

/// Notifications of a pipeline are sent after its commit, in a separate transaction.
@Suite struct NotificationQueueTests {
    private static let insert = Statement("INSERT INTO books VALUES ($1)")

    private static func notifying(_ payload: String, inserting number: Int32) -> Pipeline {
        var parameters = Parameters()
        parameters.append(int32: number)
        var pipeline = Pipeline.one(insert, parameters)
        pipeline.notify("books", payload)
        return pipeline
    }

    @Test func notifiesAfterCommitsButNotAfterFailures() async throws {
        let database = try TestDatabase()
        try database.admin().execute("CREATE TABLE books (number int PRIMARY KEY)")
        let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
        let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next())
        let listener = try await Listener.start(
            PostgresConfiguration(url: database.url), channels: ["books"], on: executor
        ) { continuation.yield($0) }
        var next = events.makeAsyncIterator()
        #expect(await next.next() == .resync)
        try await withPool(database) { pool in
            _ = try await pool.run(Self.notifying("one", inserting: 1))
            await #expect(throws: PostgresError.self) {
                try await pool.run(Self.notifying("failed", inserting: 1))
            }
            _ = try await pool.run(Self.notifying("two", inserting: 2))
        }
        #expect(await next.next() == .notification(channel: "books", payload: "one"))
        #expect(await next.next() == .notification(channel: "books", payload: "two"))
        await listener.close()
    }

    @Test func collectsNotificationsAndSendsEachOnce() throws {
        var queue = NotificationQueue()
        let one = Notification(channel: "books", payload: "one")
        let two = Notification(channel: "books", payload: "two")
        let mustStart = [queue.add([]), queue.add([one]), queue.add([one, two])]
        #expect(mustStart == [false, true, false])
        let statementCounts = [queue.next()?.count, queue.next()?.count]
        #expect(statementCounts == [1, nil])
        let mustStartAgain = queue.add([two])
        #expect(mustStartAgain)
    }
    @Test func sendsManyNotificationsInBatches() {
        var queue = NotificationQueue()
        _ = queue.add(Set((0..<2500).map { Notification(channel: "books", payload: "\($0)") }))
        var count = 0
        while queue.next() != nil { count += 1 }
        #expect(count == 3)
    }
}
