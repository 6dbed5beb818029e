import NIOCore
import Testing

@testable import Postgres

@Suite struct PoolTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test(arguments: [ReadinessMethod.aio, .thread])
    func tenThousandConcurrentCallersEachGetTheirOwnRows(readiness: ReadinessMethod) async throws {
        try await withPool(
            database,
            {
                $0.readiness = readiness
                $0.pipelinesQueuedMax = 10_000
                $0.connectionCount = 4
                $0.pipelineTimeout = .seconds(60)
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
            #expect(metrics.pipelineCount == 10_000)
            #expect(metrics.inFlightCount == 0)
            #expect(metrics.queuedCount == 0)
            #expect(metrics.readyConnectionCount == 4)
        }
    }

    @Test func rejectsPipelinesBeyondTheQueueImmediately() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.pipelinesInFlightMax = 2
                $0.pipelinesQueuedMax = 3
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let blocker = try database.admin()
            try blocker.execute("SELECT pg_advisory_lock(1)")
            try await withThrowingTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<10 {
                    group.addTask(executorPreference: pool.executor) {
                        do throws(PostgresError) {
                            _ = try await pool.rows("SELECT pg_advisory_xact_lock(1)")
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                // Two pipelines are in flight, and three are queued, until the lock is released.
                for _ in 0..<5 {
                    let error = try await group.next() ?? nil
                    #expect(error == .poolExhausted)
                }
                try blocker.execute("SELECT pg_advisory_unlock(1)")
                while let error = try await group.next() { #expect(error == nil) }
            }
            #expect(await pool.metrics().refusedCount == 5)
        }
    }

    /// When the second query of each pair is sent, each connection has one pipeline in flight. Without the
    /// slow mark the query would be sent behind the blocked statement and time out.
    @Test func slowStatementDoesNotDelayOthers() async throws {
        try await withPool(database, { $0.statementTimeout = .zero }) { pool async throws in
            try await waitUntil("two connections are ready") {
                await pool.metrics().readyConnectionCount == 2
            }
            let blocker = try database.admin()
            try blocker.execute("SELECT pg_advisory_lock(1)")
            async let slow = pool.rows("SELECT pg_advisory_xact_lock(1)")
            try await waitUntil("a connection is slow") {
                await pool.executor.perform { pool.state.members.contains(where: \.isSlow) }
            }
            for _ in 0..<20 {
                async let first = pool.rows("SELECT 1")
                async let second = pool.rows("SELECT 2")
                _ = try await (first, second)
            }
            try blocker.execute("SELECT pg_advisory_unlock(1)")
            _ = try await slow
        }
    }

    @Test func closeFailsPipelinesInFlight() async throws {
        try await withPool(database) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let sleeping = Result.catching { try await pool.rows("SELECT pg_sleep(10)") }
            try await database.waitUntilRuns("pg_sleep")
            await pool.close()
            guard case .failure(.connectionLost) = try await sleeping else {
                Issue.record("expected .connectionLost: the statement was sent")
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
