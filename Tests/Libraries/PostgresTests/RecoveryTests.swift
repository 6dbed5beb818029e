import Glibc
import Synchronization
import TestBasics
import Testing

@testable import Postgres

/// Behavior when connections are lost.
@Suite struct RecoveryTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test(arguments: [ReadinessMethod.aio, .thread])
    func reconnectsAfterItsSessionsWereTerminated(readiness: ReadinessMethod) async throws {
        try await withPool(database, { $0.readiness = readiness }) { pool async throws in
            for _ in 0..<3 {
                let before = try await pool.rows("SELECT pg_backend_pid()").int32(0, 0)
                try await database.terminateSessions()
                let after = try await retryingWhenLost {
                    try await pool.rows("SELECT pg_backend_pid()")
                }
                #expect(after.int32(0, 0) != before)
            }
            #expect(await pool.metrics().lostConnectionCount >= 3)
        }
    }

    @Test func sendsAReadOnlyPipelineAgain() async throws {
        try database.admin().execute("CREATE SEQUENCE attempts")
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let read = pool.rows(
                "SELECT 'read', pg_sleep(CASE nextval('attempts') WHEN 1 THEN 60 ELSE 0 END)",
                isReadOnly: true)
            try await database.waitUntilRuns("pg_sleep")
            try await database.terminateSessions()
            #expect(try await read.text(0, 0) == "read")
            #expect(await pool.metrics().retryCount == 1)
        }
    }

    @Test func neverSendsAWriteAgain() async throws {
        try database.admin().execute("CREATE TABLE t (a int)")
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let write = Result.catching {
                try await pool.rows("INSERT INTO t SELECT 1 FROM pg_sleep(60)")
            }
            try await waitUntil("one in flight") { await pool.metrics().inFlightCount == 1 }
            // Without delay, because the pool sends nothing after a pipeline that has been running for 100 ms.
            async let next = Result.catching { try await pool.rows("INSERT INTO t VALUES (2)") }
            try await waitUntil("two in flight") { await pool.metrics().inFlightCount == 2 }
            try await database.waitUntilRuns("pg_sleep")
            try await database.terminateSessions()
            for attempt in try await [write, next] {
                guard case .failure(.connectionLost) = attempt else {
                    Issue.record("\(attempt)")
                    continue
                }
            }
            #expect(try await pool.rows("SELECT count(*) FROM t").int64(0, 0) == 0)
        }
    }

    @Test func queuedPipelinesSurviveTheLossOfAConnection() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.pipelinesInFlightMax = 1
            }
        ) { pool async throws in
            _ = try await pool.rows("SELECT 1")
            async let first = Result.catching { try await pool.rows("SELECT pg_sleep(60)") }
            try await database.waitUntilRuns("pg_sleep")
            async let waiting = pool.rows("SELECT 'queued'")
            try await waitUntil("a queued pipeline") { await pool.metrics().queuedCount == 1 }
            try await database.terminateSessions()
            #expect(try await waiting.text(0, 0) == "queued")
            guard case .failure(.connectionLost) = try await first else {
                Issue.record("expected .connectionLost for the pipeline in flight")
                return
            }
        }
    }

    @Test func pipelinesFailDuringAnOutage() async throws {
        try await withPool(
            database,
            {
                $0.url = "postgresql://localhost:1/nowhere"
                $0.pipelineTimeout = .seconds(3600)
                $0.outageGrace = .zero
            }
        ) { pool async throws in
            for _ in 0..<2 {
                guard
                    case .failure(.connectFailed) = try await Result.catching({
                        try await pool.rows("SELECT 1")
                    })
                else {
                    Issue.record("expected .connectFailed")
                    return
                }
            }
        }
    }

    @Test func refusedRolesCannotConnect() async throws {
        try await withPool(
            database,
            {
                $0.refusal = "SELECT 'the role is ' || current_user"
                $0.pipelineTimeout = .seconds(3600)
                $0.outageGrace = .zero
            }
        ) { pool async throws in
            guard
                case .failure(.connectFailed(let reason)) = try await Result.catching({
                    try await pool.rows("SELECT 1")
                })
            else {
                Issue.record("expected .connectFailed")
                return
            }
            #expect(reason.hasPrefix("the role is "))
        }
        try await withPool(database, { $0.refusal = "SELECT NULL::text" }) { pool async throws in
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
        }
    }

    @Test func preparesStatementsAgainOnANewConnection() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statement = Statement("SELECT 'prepared'")
            for _ in 0..<3 {
                let rows = try await retryingWhenLost { try await pool.run(.one(statement)) }
                #expect(rows[0].text(0, 0) == "prepared")
                try await database.terminateSessions()
            }
        }
    }

    @Test func reportsWhyThereIsNoConnection() async throws {
        let events = EventLog()
        try await withPool(
            database,
            {
                $0.url = "host=/nowhere dbname=none"
                $0.pipelineTimeout = .milliseconds(300)
                $0.onEvent = { events.append($0) }
            }
        ) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await pool.rows("SELECT 1")
            }
            guard case .connectFailed(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("/nowhere"))
            #expect(await pool.metrics().readyConnectionCount == 0)
        }
        let retries = events.all.compactMap {
            if case .connectFailed(_, let delay) = $0 { delay } else { nil }
        }
        #expect(retries.count >= 2)
        #expect(retries.allSatisfy { $0 > .zero && $0 <= .seconds(5) })
    }

    @Test func connectsWhenTheDatabaseBecomesAvailableLater() async throws {
        let name = "late_\(getpid())"
        var late = try ConnectionString(database.url)
        late["dbname"] = name
        let url = late.description
        let events = EventLog()
        try await withPool(
            database,
            {
                $0.url = url
                $0.onEvent = { events.append($0) }
            }
        ) { pool async throws in
            async let rows = pool.rows("SELECT 'up'")
            try await waitUntil("a failed attempt") {
                events.all.contains { if case .connectFailed = $0 { true } else { false } }
            }
            try await database.asAdmin { try $0.execute("CREATE DATABASE \(name)") }
            #expect(try await rows.text(0, 0) == "up")
        }
        try database.admin().execute("DROP DATABASE \(name) WITH (FORCE)")
    }
}

final class EventLog: Sendable {
    private let events = Mutex<[PostgresEvent]>([])

    func append(_ event: PostgresEvent) {
        events.withLock { $0.append(event) }
    }

    var all: [PostgresEvent] { events.withLock { $0 } }
}
