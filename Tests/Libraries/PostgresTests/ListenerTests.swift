import EventLoops
import NIOPosix
import Synchronization
import Testing

@testable import Postgres

@Suite struct ListenerTests {
    @Test(arguments: [ReadinessMethod.aio, .thread])
    func reportsNotificationsAndResyncsAfterReconnecting(readiness: ReadinessMethod) async throws {
        let database = try TestDatabase()
        var configuration = PostgresConfiguration(url: database.url)
        configuration.readiness = readiness
        let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
        let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next())
        let listener = try await Listener.start(
            configuration, channels: ["books", #"odd "name""#], on: executor
        ) { event in
            continuation.yield(event)
        }
        var next = events.makeAsyncIterator()
        let notify: @Sendable (AdminConnection) throws -> Void = {
            try $0.execute(
                #"NOTIFY books, 'one'; NOTIFY other, 'ignored'; NOTIFY "odd ""name""", 'two'"#)
        }
        for _ in 0..<3 {
            #expect(await next.next() == .resync)
            try await database.asAdmin(notify)
            #expect(await next.next() == .notification(channel: "books", payload: "one"))
            #expect(await next.next() == .notification(channel: #"odd "name""#, payload: "two"))
            try await database.terminateSessions()
        }
        #expect(await next.next() == .resync)
        await listener.close()
        try await database.asAdmin(notify)
        continuation.finish()
        #expect(await next.next() == nil)
    }
}
