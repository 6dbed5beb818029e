import NIOCore
import Synchronization
import TestBasics
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

    private static let reader = PipelineOwner.user(UUID(high: 0, low: 1))
    private static let other = PipelineOwner.user(UUID(high: 0, low: 2))

    private func pipeline(
        _ statement: Statement, of owner: PipelineOwner, isReadOnly: Bool
    ) -> Pipeline {
        var pipeline = Pipeline.one(statement, isReadOnly: isReadOnly)
        pipeline.owner = owner
        return pipeline
    }

    /// The pipelines that wait for the lock would fill all connections if they were not limited, and the others would time out.
    @Test(arguments: [true, false])
    func ownerWhoseStatementsAreBlockedDoesNotDelayOthers(areReads: Bool) async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 3
                $0.statementTimeout = .zero
            }
        ) { pool async throws in
            try await waitUntil("three connections are ready") {
                await pool.metrics().readyConnectionCount == 3
            }
            let blocker = try database.admin()
            try blocker.execute("SELECT pg_advisory_lock(1)")
            let blocked = pipeline(
                "SELECT pg_advisory_xact_lock(1)", of: Self.reader, isReadOnly: areReads)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask(executorPreference: pool.executor) {
                        _ = try await pool.run(blocked)
                    }
                }
                try await waitUntil("the others of them wait for their turn") {
                    await pool.metrics().queuedCount == 40 - 16
                }
                for _ in 0..<20 {
                    let quick = pipeline("SELECT 1", of: Self.other, isReadOnly: areReads)
                    async let first = pool.run(quick)
                    async let second = pool.run(quick)
                    _ = try await (first, second)
                }
                let busyCount = await pool.executor.perform {
                    pool.state.members.count { $0.inFlightCount > 0 }
                }
                #expect(busyCount == 1)
                try blocker.execute("SELECT pg_advisory_unlock(1)")
                try await group.waitForAll()
            }
        }
    }

    /// If each pool sent its write, both would hold a connection, and wait in the database.
    @Test func writesOfOneUserTakeTurnsOnAllPools() async throws {
        let turns = WriteTurns()
        try await withPool(database, { $0.writeTurns = turns }) { first async throws in
            try await withPool(database, { $0.writeTurns = turns }) { second async throws in
                try await waitUntil("the connections are ready") {
                    let counts = [await first.metrics(), await second.metrics()]
                    return counts.allSatisfy { $0.readyConnectionCount == 2 }
                }
                let admin = try database.admin()
                try admin.execute("CREATE TABLE order_of_writes (n serial, pool text)")
                try admin.execute("SELECT pg_advisory_lock(1)")
                let blocked = pipeline(
                    "SELECT pg_advisory_xact_lock(1)", of: Self.reader, isReadOnly: false)
                func add(_ pool: String) -> Pipeline {
                    pipeline(
                        Statement("INSERT INTO order_of_writes (pool) VALUES ('\(pool)')"),
                        of: Self.reader, isReadOnly: false)
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await first.run(blocked) }
                    try await waitUntil("the lock is awaited") {
                        await first.metrics().inFlightCount == 1
                    }
                    for (name, pool) in [("second", second), ("first", first)] {
                        for count in 1...3 {
                            let pipeline = add(name)
                            group.addTask { _ = try await pool.run(pipeline) }
                            try await waitUntil("a write waits in the server") {
                                await pool.metrics().queuedCount == count
                            }
                        }
                    }
                    #expect(await second.metrics().inFlightCount == 0)
                    _ = try await second.run(
                        pipeline("SELECT 1", of: Self.other, isReadOnly: false))
                    _ = try await second.run(
                        pipeline("SELECT 1", of: Self.reader, isReadOnly: true))
                    try admin.execute("SELECT pg_advisory_unlock(1)")
                    try await group.waitForAll()
                }
                let rows = try admin.query("SELECT pool FROM order_of_writes ORDER BY n")
                #expect(
                    (0..<rows.count).compactMap { rows.text($0, 0) }
                        == ["second", "first", "second", "first", "second", "first"])
            }
        }
    }

    /// Otherwise the other pool's writes would overtake it as long as its connections are busy.
    @Test func turnIsKeptUntilAConnectionIsFree() async throws {
        let turns = WriteTurns()
        let write = pipeline("SELECT 1", of: Self.reader, isReadOnly: false)
        let waitsFor1 = pipeline(
            "SELECT pg_advisory_xact_lock(1)", of: Self.reader, isReadOnly: false)
        let waitsFor2 = pipeline(
            "SELECT pg_advisory_xact_lock(2)", of: Self.other, isReadOnly: false)
        try await withPool(database, { $0.writeTurns = turns }) { idle async throws in
            try await withPool(
                database,
                {
                    $0.writeTurns = turns
                    $0.connectionCount = 1
                    $0.pipelinesInFlightMax = 1
                }
            ) { busy async throws in
                let admin = try database.admin()
                try admin.execute("SELECT pg_advisory_lock(1), pg_advisory_lock(2)")
                async let holder = idle.run(waitsFor1)
                try await waitUntil("the reader's write waits for the first lock") {
                    await idle.metrics().inFlightCount == 1
                }
                let waiting = Task { try await busy.run(write) }
                try await waitUntil("a write on the other pool waits for its turn") {
                    await busy.metrics().queuedCount == 1
                }
                async let other = busy.run(waitsFor2)
                try await waitUntil("another reader's write waits for the second lock") {
                    await busy.metrics().inFlightCount == 1
                }
                try admin.execute("SELECT pg_advisory_unlock(1)")
                _ = try await holder
                // The turn is the busy pool's now, which cannot use it yet.
                let next = Task { try await idle.run(write) }
                try await waitUntil("the next write waits for its turn") {
                    await idle.metrics().queuedCount == 1
                }
                #expect(await busy.metrics().queuedCount == 1)
                try admin.execute("SELECT pg_advisory_unlock(2)")
                _ = try await (other, waiting.value, next.value)
            }
        }
    }

    /// A pool whose caller has stopped waiting, or that is closed, does not keep the turn of a user.
    @Test(arguments: [true, false])
    func turnOfAPoolThatNoLongerWantsItPassesOn(isClosed: Bool) async throws {
        let turns = WriteTurns()
        try await withPool(database, { $0.writeTurns = turns }) { first async throws in
            let admin = try database.admin()
            try admin.execute("SELECT pg_advisory_lock(1)")
            let blocked = pipeline(
                "SELECT pg_advisory_xact_lock(1)", of: Self.reader, isReadOnly: false)
            async let holder = first.run(blocked)
            try await waitUntil("the lock is awaited") {
                await first.metrics().inFlightCount == 1
            }
            try await withPool(database, { $0.writeTurns = turns }) { second async throws in
                let write = pipeline("SELECT 1", of: Self.reader, isReadOnly: false)
                let waiting = Task { try await second.run(write) }
                try await waitUntil("the write waits") {
                    await second.metrics().queuedCount == 1
                }
                if isClosed { await second.close() } else { waiting.cancel() }
                _ = await waiting.result
            }
            try admin.execute("SELECT pg_advisory_unlock(1)")
            _ = try await holder
            _ = try await first.run(pipeline("SELECT 1", of: Self.reader, isReadOnly: false))
        }
    }

    @Test func queueOfOneOwnerIsLimited() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.pipelinesInFlightMax = 1
                $0.pipelinesQueuedOfOwnerMax = 2
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            let blocker = try database.admin()
            try blocker.execute("SELECT pg_advisory_lock(1)")
            let blocked = pipeline(
                "SELECT pg_advisory_xact_lock(1)", of: Self.reader, isReadOnly: false)
            try await withThrowingTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<5 {
                    group.addTask(executorPreference: pool.executor) {
                        do throws(PostgresError) {
                            _ = try await pool.run(blocked)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                for _ in 0..<2 { #expect(try await group.next() == .poolExhausted) }
                async let other = pool.run(
                    pipeline("SELECT 1", of: Self.other, isReadOnly: true))
                try blocker.execute("SELECT pg_advisory_unlock(1)")
                _ = try await other
                while let error = try await group.next() { #expect(error == nil) }
            }
            let metrics = await pool.metrics()
            #expect(metrics.refusedOfOwnerCount == 2)
            #expect(metrics.refusedCount == 0)
        }
    }

    /// The caller knows that nothing has happened, unlike after a timeout of a pipeline that was sent.
    @Test func pipelineThatWasNotSentInTimeHadNoEffect() async throws {
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
            async let blocked = pool.rows("SELECT pg_advisory_xact_lock(1)")
            try await waitUntil("it is sent") { await pool.metrics().inFlightCount == 1 }
            var pipeline = pipeline("SELECT 1", of: Self.reader, isReadOnly: false)
            pipeline.timeout = .milliseconds(100)
            let waiting = pipeline
            await #expect(throws: PostgresError.poolExhausted) { _ = try await pool.run(waiting) }
            try blocker.execute("SELECT pg_advisory_unlock(1)")
            _ = try await blocked
        }
    }

    @Test func timeOfPipelinesIsReported() async throws {
        try await withPool(database) { pool async throws in
            let nanoseconds = Atomic<Int64>(0)
            let statistics = Statistics { time, _ in
                nanoseconds.add(time, ordering: .relaxed)
            }
            // The shortest round trip is the time of the network, which does not count.
            _ = try await pool.rows("SELECT 1")
            for _ in 0..<2 {
                var pipeline = Pipeline(statistics: statistics)
                pipeline.append("SELECT pg_sleep(0.05)")
                _ = try await pool.run(pipeline)
            }
            #expect(nanoseconds.load(ordering: .relaxed) >= 20_000_000)
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

    /// libpq never shrinks the buffers of a connection.
    @Test(arguments: [
        (1_000, "SELECT repeat('x', 10)", false), (3 << 20, "SELECT repeat('x', 10)", true),
        (10, "SELECT repeat('x', 3 << 20)", true),
        // Large only as a whole.
        (10, "SELECT repeat('x', 1000) FROM generate_series(1, 5000)", false),
    ])
    func connectionWithALargeMessageIsReplaced(sent: Int, query: String, isReplaced: Bool)
        async throws
    {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let before = try await pool.rows("SELECT pg_backend_pid()").int32(0, 0)
            var parameters = Parameters()
            parameters.append(text: String(repeating: "x", count: sent))
            let rows = try await pool.rows("\(query) WHERE length($1) = \(sent)", parameters)
            #expect(rows.count > 0)
            let after = try await pool.rows("SELECT pg_backend_pid()").int32(0, 0)
            #expect((after != before) == isReplaced)
            let metrics = await pool.metrics()
            #expect(metrics.lostConnectionCount == 0 && metrics.readyConnectionCount == 1)
        }
    }
}
