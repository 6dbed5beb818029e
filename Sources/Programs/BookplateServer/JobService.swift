import EventLoops
import Glibc
import JobQueue
import Logging
import NIOPosix
import Postgres
import Requests
import ServiceLifecycle

/// Runs background jobs on their own connections, event loop, and threads, separate from requests.
struct JobService: Service {
    private let worker: JobWorker
    let pool: ConnectionPool
    /// The connection of the queue itself. On it, claims and renewals of leases do not wait for the statements of jobs.
    private let queuePool: ConnectionPool
    private let listener: Listener
    private let logger: Logger

    /// - Parameters:
    ///   - directURL: The address for LISTEN.
    ///   - connectionCount: The number of connections for jobs. Two more are for the queue and for notifications.
    ///   - writeTurns: Shared with the connections of requests.
    init(
        _ handlers: [any JobHandler], _ databaseURL: String, directURL: String,
        connectionCount: Int, writeTurns: WriteTurns, logger: Logger
    ) async throws {
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let executor = EventLoopTaskExecutor(loop)
        var settings = PostgresConfiguration(url: databaseURL)
        settings.connectionCount = connectionCount
        settings.writeTurns = writeTurns
        settings.applicationName = "bookplate jobs"
        settings.refusal = DatabaseCheck.roleRefusal
        // Long statements do not delay requests here.
        settings.pipelineTimeout = .seconds(60)
        settings.statementTimeout = .seconds(60)
        pool = try await ConnectionPool.start(settings, on: executor)
        settings.connectionCount = 1
        queuePool = try await ConnectionPool.start(settings, on: executor)
        let worker = JobWorker(
            handlers, database: pool, queue: queuePool, name: "\(Self.hostName):\(getpid())",
            userChangeChannel: Hub.changeChannel, logger: logger)
        self.worker = worker
        self.logger = logger
        settings.url = directURL
        listener = try await Listener.start(settings, channels: [JobWorker.channel], on: executor) {
            _ in
            worker.wake()
        }
    }

    /// Runs the worker, and returns when it has released its jobs.
    func run() async {
        await withGracefulShutdownHandler {
            if await isReady() { await worker.run() }
        } onGracefulShutdown: {
            worker.stop()
        }
        await listener.close()
        await pool.close()
        await queuePool.close()
    }

    /// Waits until the database is ready for jobs. Returns false if the server is stopped before.
    private func isReady() async -> Bool {
        await cancelWhenGracefulShutdown {
            var hasLogged = false
            while !Task.isCancelled {
                guard let reason = await readiness(of: pool) else { return true }
                if !hasLogged {
                    logger.warning(
                        "background jobs are waiting for the database",
                        metadata: ["reason": "\(reason)"])
                    hasLogged = true
                }
                try? await Task.sleep(for: .seconds(1))
            }
            return false
        }
    }

    private static var hostName: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            // The last byte remains for the terminating 0.
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else {
                return "unknown"
            }
            return String(cString: start)
        }
    }
}
