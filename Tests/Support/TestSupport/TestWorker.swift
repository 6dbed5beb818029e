import EventLoops
import Logging
import NIOPosix
import Postgres

@testable import JobQueue
import Requests

/// A job worker on a test's database. Its lease is 600 ms, so a test can wait until it expires.
package struct TestWorker: Sendable {
    package let worker: JobWorker
    package let pool: ConnectionPool
    private let queue: ConnectionPool
    private let running: Task<Void, Never>

    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    package static func start(
        _ database: TestDatabase, _ handlers: [any JobHandler], connectionCount: Int = 2
    ) async throws -> TestWorker {
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = connectionCount
        let pool = try await ConnectionPool.start(
            configuration, on: EventLoopTaskExecutor(loops.next()))
        configuration.connectionCount = 1
        let queue = try await ConnectionPool.start(
            configuration, on: EventLoopTaskExecutor(loops.next()))
        var limits = JobWorkerState.Limits()
        limits.lease = .milliseconds(600)
        limits.heartbeat = .milliseconds(100)
        limits.poll = .milliseconds(20)
        limits.stopGrace = .milliseconds(200)
        let worker = JobWorker(
            handlers, database: pool, queue: queue, name: "test",
            userChangeChannel: Hub.changeChannel,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, limits: limits)
        return TestWorker(
            worker: worker, pool: pool, queue: queue, running: Task { await worker.run() })
    }

    package func stop() async {
        worker.stop()
        await running.value
        await pool.close()
        await queue.close()
    }

    /// Closes the connections before the worker stops, so that it cannot release its jobs, as if its process were
    /// killed.
    package func kill() async {
        await queue.close()
        await pool.close()
        worker.stop()
        await running.value
    }
}
