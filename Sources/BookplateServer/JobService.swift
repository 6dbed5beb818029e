import JobQueue
import Bookplate
import EventLoops
import Glibc
import Logging
import NIOPosix
import Postgres
import ServiceLifecycle

/// Does background work beside the requests: on connections, a loop and threads of its own.
struct JobService: Service {
    private let worker: JobWorker
    let pool: ConnectionPool
    private let listener: Listener
    private let logger: Logger

    /// - Parameter connectionCount: connections for jobs; one more listens.
    init(
        _ handlers: [any JobHandler], _ databaseURL: String, connectionCount: Int, logger: Logger
    ) async throws {
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let executor = EventLoopTaskExecutor(loop)
        var settings = PostgresConfiguration(url: databaseURL)
        settings.connectionCount = connectionCount
        settings.applicationName = "bookplate jobs"
        // Long statements hold up no request here.
        settings.pipelineTimeout = .seconds(60)
        settings.statementTimeout = .seconds(60)
        pool = try await ConnectionPool.start(settings, on: executor)
        let worker = JobWorker(
            handlers, database: pool, name: "\(Self.hostName):\(getpid())",
            userChangeChannel: Hub.changeChannel, logger: logger)
        self.worker = worker
        self.logger = logger
        listener = try await Listener.start(settings, channels: [JobWorker.channel], on: executor) {
            _ in
            worker.wake()
        }
    }

    /// Returns when the worker has let go of its jobs.
    func run() async {
        await withGracefulShutdownHandler {
            if await isReady() { await worker.run() }
        } onGracefulShutdown: {
            worker.stop()
        }
        await listener.close()
        await pool.close()
    }

    /// Returns when the database has what jobs need; false where the server is stopped before.
    private func isReady() async -> Bool {
        await cancelWhenGracefulShutdown {
            var isTold = false
            while !Task.isCancelled {
                guard let reason = await readiness(of: pool) else { return true }
                if !isTold {
                    logger.warning(
                        "background jobs wait for the database", metadata: ["reason": "\(reason)"])
                    isTold = true
                }
                try? await Task.sleep(for: .seconds(1))
            }
            return false
        }
    }

    private static var hostName: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            // One byte is left for the end of the text.
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else {
                return "unknown"
            }
            return String(cString: start)
        }
    }
}
