import Synchronization
import TestBasics
import Testing

@testable import Postgres

/// Deadlines and cancelled tasks, and their effect on the running statement.
@Suite struct DeadlineTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    /// The number of sessions that are executing `pg_sleep(3600)`.
    private func countSleepingSessions() async throws -> Int64? {
        try await database.asAdmin {
            try $0.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'active'
                    AND query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()
                """
            ).int64(0, 0)
        }
    }

    /// Without the cancellation, `SELECT 1` would wait behind the sleeping statement and time out.
    @Test(arguments: [ReadinessMethod.aio, .thread])
    func deadlineFailsTheCallerAndCancelsTheStatement(readiness: ReadinessMethod) async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.statementTimeout = .zero
                $0.readiness = readiness
            }
        ) { pool async throws in
            var pipeline = Pipeline.one("SELECT pg_sleep(3600)", isReadOnly: true)
            pipeline.timeout = .milliseconds(200)
            let sleeping = pipeline
            await #expect(throws: PostgresError.timeout) { _ = try await pool.run(sleeping) }
            let next = try await pool.rows("SELECT 1")
            #expect(next.int32(0, 0) == 1, "the connection must remain usable")
            let sleepingCount = try await countSleepingSessions()
            #expect(sleepingCount == 0)
            #expect(await pool.metrics().lostConnectionCount == 0)
        }
    }

    /// It may be waiting for a synchronous standby, and a cancel request would end that wait.
    @Test func aWriteContinuesAfterItsDeadline() async throws {
        try database.admin().execute("CREATE TABLE t (a int)")
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            var write = Pipeline.one("INSERT INTO t SELECT 1 FROM pg_sleep(1)")
            write.timeout = .milliseconds(300)
            let pipeline = write
            await #expect(throws: PostgresError.timeout) { _ = try await pool.run(pipeline) }
            #expect(try await pool.rows("SELECT count(*) FROM t").int64(0, 0) == 1)
        }
    }

    /// Each abandoned write may occupy a process of the server, so their number is limited. Reads continue.
    @Test func writesAreRefusedWhileManyAreAbandoned() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 2
                $0.pipelinesInFlightMax = 1
                $0.statementTimeout = .zero
            }
        ) { pool async throws in
            @Sendable func isWriteRefused() async throws -> Bool {
                var pipeline = Pipeline.one("SELECT pg_sleep(3600)")
                pipeline.timeout = .milliseconds(100)
                let write = pipeline
                if case .failure(.connectFailed) = try await Result.catching({
                    try await pool.run(write)
                }) {
                    return true
                }
                return false
            }
            // Several callers, so that writes are queued when the connections open again.
            let isRefused = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask(executorPreference: pool.executor) {
                        for _ in 0..<1000 where try await isWriteRefused() { return true }
                        return false
                    }
                }
                return try await group.allSatisfy(\.self)
            }
            #expect(isRefused)
            #expect(await pool.metrics().lostConnectionCount == 2)
            #expect(try await pool.rows("SELECT 1", isReadOnly: true).int32(0, 0) == 1)
            // The statements end, one after the other on each connection, and a write succeeds.
            try await waitUntil("a write succeeds") {
                try await self.database.asAdmin { connection in
                    try connection.execute(
                        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()"
                    )
                }
                if case .success = try await Result.catching({ try await pool.rows("SELECT 2") }) {
                    return true
                }
                return false
            }
        }
    }

    @Test func cancellingTheTaskCancelsTheStatement() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.statementTimeout = .zero
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let task = Task(executorPreference: pool.executor) {
                try await Result.catching {
                    try await pool.rows("SELECT pg_sleep(3600)", isReadOnly: true)
                }
            }
            try await database.waitUntilRuns("pg_sleep(3600)")
            task.cancel()
            guard case .failure(.cancelled) = try await task.value else {
                Issue.record("expected .cancelled")
                return
            }
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
            #expect(try await self.countSleepingSessions() == 0)
        }
    }

    @Test func cancelledTaskSendsNothing() async throws {
        try await withPool(database) { pool async throws in
            let task = Task(executorPreference: pool.executor) {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await Result.catching { try await pool.rows("SELECT 1") }
            }
            guard case .failure(.cancelled) = try await task.value else {
                Issue.record("expected .cancelled")
                return
            }
            #expect(await pool.metrics().pipelineCount == 0)
        }
    }

    @Test func cancelledPipelineInTheQueueIsNotSent() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.pipelinesInFlightMax = 1
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let blocker = try database.admin()
            try blocker.execute("SELECT pg_advisory_lock(1)")
            async let first = pool.rows("SELECT pg_advisory_xact_lock(1)")
            try await database.waitUntilRuns("pg_advisory_xact_lock")
            let waiting = Task(executorPreference: pool.executor) {
                try await Result.catching { try await pool.rows("SELECT 2") }
            }
            try await waitUntil("a queued pipeline") { await pool.metrics().queuedCount == 1 }
            waiting.cancel()
            _ = try await waiting.value
            try blocker.execute("SELECT pg_advisory_unlock(1)")
            _ = try await first
            #expect(await pool.metrics().pipelineCount == 2)
        }
    }

    /// A cancel request cancels whatever the session is executing when it arrives, which may be a later
    /// pipeline. Such a pipeline must be sent again, and must not be executed twice.
    @Test func lateCancelRequestDoesNotFailLaterPipelines() async throws {
        try database.admin().execute("CREATE TABLE t (a int)")
        let cancelCount = Atomic(0)
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.pipelinesInFlightMax = 64
                $0.onEvent = { event in
                    if case .statementCancelled = event { cancelCount.add(1, ordering: .relaxed) }
                }
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            for round in 0..<8 {
                // Ends at about the time when the cancel request arrives.
                var doomed = Pipeline.one(
                    Statement("SELECT pg_sleep(\(0.15 + Double(round) * 0.01))"), isReadOnly: true)
                doomed.timeout = .milliseconds(40)
                let pipeline = doomed
                async let cancelled = Result.catching { try await pool.run(pipeline) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<30 {
                        group.addTask(executorPreference: pool.executor) {
                            _ = try await pool.rows(
                                "INSERT INTO t SELECT \(round * 30 + number) FROM pg_sleep(0.005)")
                        }
                    }
                    try await group.waitForAll()
                }
                _ = try await cancelled
            }
            let rows = try await pool.rows("SELECT count(*), count(DISTINCT a) FROM t")
            #expect(rows.int64(0, 0) == 240, "each row must be inserted exactly once")
            #expect(rows.int64(0, 1) == 240)
        }
        let count = cancelCount.load(ordering: .relaxed)
        #expect(count > 0, "no cancel request was sent")
    }

    @Test func statementTimeoutOfTheServerIsReportedAsAServerError() async throws {
        try await withPool(database, { $0.statementTimeout = .milliseconds(150) }) {
            pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await pool.rows("SELECT pg_sleep(5)")
            }
            #expect(error?.sqlState == .queryCanceled)
        }
    }
}
