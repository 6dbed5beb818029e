import EventLoops
import GraphQL
import Logging
import NIOPosix
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import JobQueue
@testable import Requests

/// Shares of readers, and of background jobs.
extension JobQueueTests {
    /// Ready background jobs are claimed only up to their own capacity, and after those that users wait for.
    @Test func claimsAtMostTheBackgroundCapacityOfBackgroundJobs() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["b1", "b2", "b3", "b4", "b5"])
        try await database.execute("UPDATE jobs SET priority = 10")
        let queue = JobTable(database: pool, worker: "one", lease: .seconds(60))
        func claim(_ total: Int, _ background: Int) async throws -> [JobPriority] {
            let capacity = JobCapacity(total: total, background: background)
            return try await queue.claim(["test.echo": capacity]).map(\.priority)
        }
        #expect(try await claim(3, 2) == [.background, .background])
        #expect(try await claim(1, 0) == [])
        try await enqueue(pool, ["f1", "f2", "f3"])
        #expect(try await claim(1, 0) == [.foreground])
        let claimed = try await claim(4, 1)
        #expect(claimed.count { $0 == .foreground } == 2 && claimed.count == 3)
        #expect(try await database.count("SELECT count(*) FROM jobs WHERE state = 'READY'") == 2)
        await pool.close()
    }

    /// Adds jobs of readers, which are older than all others.
    func add(
        _ count: Int, to app: TestApp, of reader: UUID, priority: JobPriority = .foreground
    ) async throws {
        try await app.database.execute(
            """
            INSERT INTO jobs (user_id, kind, payload, priority, run_at, attempts_max)
            SELECT '\(reader)', 'test.echo', '{"word": "one"}', \(priority.rawValue), now() - interval '1 hour', 3
            FROM generate_series(1, \(count))
            """)
    }

    /// Returns two readers who have no jobs.
    private func readers(of app: TestApp) async throws -> (UUID, UUID) {
        let ids = [try await app.makeReader().id, try await app.makeReader(.beta).id]
        try await app.database.execute("DELETE FROM jobs")
        return (
            try #require(UUID(ids[0].string ?? "")), try #require(UUID(ids[1].string ?? ""))
        )
    }

    /// One reader has added many jobs before another one adds some, more than a claim looks at.
    @Test(arguments: [JobPriority.foreground, .background])
    func readersTakeTurns(priority: JobPriority) async throws {
        let app = try await TestApp.start(catalog: [])
        let (many, few) = try await readers(of: app)
        try await add(100, to: app, of: many, priority: priority)
        let queue = JobTable(database: app.pool, worker: "one", lease: .seconds(60))
        func claim(_ count: Int) async throws -> [UUID?] {
            try await queue.claim(["test.echo": JobCapacity(total: count, background: count)])
                .map(\.userID)
        }
        #expect(try await claim(2) == [many, many])
        try await enqueue(app.pool, ["one", "two", "three"], for: few, priority: priority)
        #expect(try await claim(1) == [few])
        #expect(try await claim(1) == [few])
        // Both have two running jobs. The older job comes first.
        #expect(try await claim(1) == [many])
        #expect(try await claim(1) == [few])
        // Nobody else waits.
        #expect(try await claim(3) == [many, many, many])
    }

    /// Jobs for which a user waits come before background jobs, also before those of readers without a running job.
    @Test func readersTakeTurnsAmongJobsOfOnePriority() async throws {
        let app = try await TestApp.start(catalog: [])
        let (many, few) = try await readers(of: app)
        try await add(2, to: app, of: many)
        try await add(2, to: app, of: few, priority: .background)
        let queue = JobTable(database: app.pool, worker: "one", lease: .seconds(60))
        let readers = try await queue.claim(["test.echo": 3]).map(\.userID)
        #expect(readers.count { $0 == many } == 2 && readers.count { $0 == few } == 1)
    }

    /// Another worker claims no more jobs of the reader.
    @Test func runningJobsOfAReaderAreLimited() async throws {
        let app = try await TestApp.start(catalog: [])
        let (many, few) = try await readers(of: app)
        try await add(5, to: app, of: many)
        let capacity = ["test.echo": JobCapacity(total: 2, background: 2, ofReader: 1)]
        let queues = ["one", "two"].map {
            JobTable(database: app.pool, worker: $0, lease: .seconds(60))
        }
        let first = try await queues[0].claim(capacity)
        #expect(first.map(\.userID) == [many])
        #expect(try await queues[1].claim(capacity) == [])
        try await enqueue(app.pool, ["other"], for: few)
        #expect(try await queues[1].claim(capacity).map(\.userID) == [few])
        try await queues[0].settle(first[0].lease, .finished)
        #expect(try await queues[1].claim(capacity).map(\.userID) == [many])
        // Jobs of the installation are not limited.
        try await enqueue(app.pool, ["a", "b"])
        #expect(try await queues[0].claim(capacity).map(\.userID) == [nil, nil])
    }

    /// Returns the number of database pages that a claim reads.
    private func cost(_ app: TestApp) async throws -> Int {
        try await app.database.withConnection { connection in
            let plan = try connection.query(
                """
                EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
                SELECT * FROM claim_jobs('{test.echo}', '{2}', '{2}', '{1}', 'one', 60000)
                """)
            let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
            let buffers = lines.first { $0.contains("Buffers: shared") } ?? ""
            return buffers.matches(of: /(hit|read)=([0-9]+)/).compactMap { Int($0.2) }
                .reduce(0, +)
        }
    }

    /// The reader may have only one running job, so that the others are passed over each time.
    @Test func costOfAClaimDoesNotDependOnTheWaitingJobs() async throws {
        let app = try await TestApp.start(catalog: [])
        let (many, few) = try await readers(of: app)
        try await add(20, to: app, of: many)
        try await add(20, to: app, of: few)
        _ = try await cost(app)
        let before = try await cost(app)
        try await add(20_000, to: app, of: many)
        try await app.database.execute("VACUUM ANALYZE jobs")
        _ = try await cost(app)
        #expect(try await cost(app) <= before + 50)
    }
}
