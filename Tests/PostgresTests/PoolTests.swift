import NIOCore
import Testing

@testable import Postgres

@Suite struct PoolTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test(arguments: [ReadinessMethod.aio, .thread])
    func tenThousandAtOnceEachGetTheirOwnRows(readiness: ReadinessMethod) async throws {
        try await withPool(
            database,
            {
                $0.readiness = readiness
                $0.segmentsQueuedMax = 10_000
                $0.connectionCount = 4
                $0.segmentTimeout = .seconds(60)
            }
        ) { pool async throws in
            let statement = Statement("SELECT $1 + 1, repeat('x', $1 % 3000)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int32(0)..<10_000 {
                    group.addTask(executorPreference: pool.executor) {
                        var parameters = Parameters()
                        parameters.append(int32: number)
                        let rows = try await pool.run(.one(statement, parameters))[0]
                        #expect(rows.int32(0, 0) == number + 1)
                        #expect(rows.bytes(0, 1)?.count == Int(number % 3000))
                    }
                }
                try await group.waitForAll()
            }
            let metrics = await pool.metrics()
            #expect(metrics.segmentCount == 10_000)
            #expect(metrics.inFlightCount == 0)
            #expect(metrics.queuedCount == 0)
            #expect(metrics.readyConnectionCount == 4)
        }
    }

    @Test func refusesWhatIsBeyondTheQueueAtOnce() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.segmentsInFlightMax = 2
                $0.segmentsQueuedMax = 3
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let outcomes = await withTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<10 {
                    group.addTask(executorPreference: pool.executor) {
                        do throws(PostgresError) {
                            _ = try await pool.rows("SELECT pg_sleep(0.5)")
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 5)
            #expect(outcomes.count { $0 == .poolExhausted } == 5)
            #expect(await pool.metrics().refusedCount == 5)
        }
    }

    @Test func aSlowStatementDoesNotHoldUpTheRest() async throws {
        try await withPool(database) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let slow = pool.rows("SELECT pg_sleep(6)")
            try await database.waitUntilRuns("pg_sleep")
            try await Task.sleep(for: .milliseconds(200))
            let clock = ContinuousClock()
            let elapsed = try await clock.measure {
                for _ in 0..<20 { _ = try await pool.rows("SELECT 1") }
            }
            #expect(elapsed < .seconds(4), "none of them waited behind it")
            _ = try await slow
        }
    }

    @Test func closingFailsWhatIsUnderWay() async throws {
        try await withPool(database) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let sleeping = Result.catching { try await pool.rows("SELECT pg_sleep(10)") }
            try await database.waitUntilRuns("pg_sleep")
            await pool.close()
            guard case .failure(.closed) = try await sleeping else {
                Issue.record("still under way")
                return
            }
            await #expect(throws: PostgresError.closed) { _ = try await pool.rows("SELECT 1") }
        }
    }

    @Test func tasksResumeOnTheLoop() async throws {
        try await withPool(database) { pool async throws in
            for _ in 0..<10 {
                _ = try await pool.rows("SELECT 1")
                #expect(pool.executor.eventLoop.inEventLoop)
                await Task.yield()
                #expect(pool.executor.eventLoop.inEventLoop)
            }
        }
    }
}
