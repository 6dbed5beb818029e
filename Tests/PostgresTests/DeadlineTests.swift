import Synchronization
import Testing

@testable import Postgres

/// Callers who give up, and what becomes of their statements.
@Suite struct DeadlineTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private func sleepersAtTheServer() async throws -> Int64? {
        try await database.asAdmin {
            try $0.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(30)%'
                    AND pid <> pg_backend_pid()
                """
            ).int64(0, 0)
        }
    }

    @Test(arguments: [ReadinessMethod.aio, .thread])
    func aDeadlineFailsTheCallerAndStopsTheServer(readiness: ReadinessMethod) async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.readiness = readiness
            }
        ) { pool async throws in
            var segment = Segment.one("SELECT pg_sleep(30)")
            segment.timeout = .milliseconds(200)
            let clock = ContinuousClock()
            let start = clock.now
            await #expect(throws: PostgresError.timeout) { _ = try await pool.run(segment) }
            #expect(clock.now - start < .seconds(10))
            let next = try await pool.rows("SELECT 1")
            #expect(next.int32(0, 0) == 1, "the connection goes on")
            #expect(clock.now - start < .seconds(20), "far less than it would have slept")
            let sleeperCount = try await sleepersAtTheServer()
            #expect(sleeperCount == 0)
            #expect(await pool.metrics().lostConnectionCount == 0)
        }
    }

    @Test func aCancelledTaskStopsTheServer() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let task = Task(executorPreference: pool.executor) {
                try await Result.catching { try await pool.rows("SELECT pg_sleep(30)") }
            }
            try await database.waitUntilRuns("pg_sleep(30)")
            task.cancel()
            guard case .failure(.cancelled) = try await task.value else {
                Issue.record("not cancelled")
                return
            }
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
            #expect(try await self.sleepersAtTheServer() == 0)
        }
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        try await withPool(database) { pool async throws in
            let task = Task(executorPreference: pool.executor) {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await Result.catching { try await pool.rows("SELECT 1") }
            }
            guard case .failure(.cancelled) = try await task.value else {
                Issue.record("not cancelled")
                return
            }
            #expect(await pool.metrics().segmentCount == 0)
        }
    }

    @Test func cancellingWhatWaitsSendsNothing() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.segmentsInFlightMax = 1
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let first = pool.rows("SELECT pg_sleep(1)")
            try await database.waitUntilRuns("pg_sleep")
            let waiting = Task(executorPreference: pool.executor) {
                try await Result.catching { try await pool.rows("SELECT 2") }
            }
            try await Task.sleep(for: .milliseconds(100))
            waiting.cancel()
            _ = try await waiting.value
            _ = try await first
            #expect(await pool.metrics().segmentCount == 2)
        }
    }

    /// A cancel request hits whatever the session does, so those who travel behind may be hit instead.
    @Test func thoseBehindACancelledSegmentAreNotHarmed() async throws {
        try database.admin().execute("CREATE TABLE t (a int)")
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.segmentsInFlightMax = 64
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            for round in 0..<8 {
                // About as long as it takes until the cancel request comes.
                var doomed = Segment.one(
                    Statement("SELECT pg_sleep(\(0.15 + Double(round) * 0.01))"))
                doomed.timeout = .milliseconds(40)
                let segment = doomed
                async let cancelled = Result.catching { try await pool.run(segment) }
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
            #expect(rows.int64(0, 0) == 240, "each once, though some were sent again")
            #expect(rows.int64(0, 1) == 240)
        }
    }

    @Test func theServersOwnTimeLimitIsAnErrorOfTheServer() async throws {
        try await withPool(database, { $0.statementTimeout = .milliseconds(150) }) {
            pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await pool.rows("SELECT pg_sleep(5)")
            }
            #expect(error?.sqlState == .queryCanceled)
        }
    }
}
