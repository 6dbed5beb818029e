import EventLoops
import NIOPosix
import Testing

@testable import Postgres

/// What a segment has to tell is told when it is committed, and costs its transaction nothing.
@Suite struct NoticeTests {
    private static let insert = Statement("INSERT INTO books VALUES ($1)")

    private static func saying(_ payload: String, adding number: Int32) -> Segment {
        var parameters = Parameters()
        parameters.append(int32: number)
        var segment = Segment.one(insert, parameters)
        segment.notify("books", payload)
        return segment
    }

    @Test func commitsAreToldAndWhatFailedIsNot() async throws {
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
            _ = try await pool.run(Self.saying("one", adding: 1))
            await #expect(throws: PostgresError.self) {
                try await pool.run(Self.saying("failed", adding: 1))
            }
            _ = try await pool.run(Self.saying("two", adding: 2))
        }
        #expect(await next.next() == .notification(channel: "books", payload: "one"))
        #expect(await next.next() == .notification(channel: "books", payload: "two"))
        await listener.close()
    }

    @Test func whatGathersGoesTogetherAndOnce() throws {
        var queue = NoticeQueue()
        let (one, two) = (
            Notice(channel: "books", payload: "one"), Notice(channel: "books", payload: "two")
        )
        let begins = [queue.add([]), queue.add([one]), queue.add([one, two])]
        #expect(begins == [false, true, false])
        let sent = [queue.next()?.count, queue.next()?.count]
        #expect(sent == [1, nil])
        let beginsAgain = queue.add([two])
        #expect(beginsAgain)
    }

    @Test func manyAreSentInParts() {
        var queue = NoticeQueue()
        _ = queue.add(Set((0..<2500).map { Notice(channel: "books", payload: "\($0)") }))
        var count = 0
        while queue.next() != nil { count += 1 }
        #expect(count == 3)
    }
}
