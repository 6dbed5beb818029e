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

@Suite struct JobQueueTests {
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    func pool(_ database: TestDatabase) async throws -> ConnectionPool {
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = 2
        return try await ConnectionPool.start(
            configuration, on: EventLoopTaskExecutor(Self.loops.next()))
    }

    func start(
        _ database: TestDatabase, _ handlers: [any JobHandler], connectionCount: Int = 2
    ) async throws -> TestWorker {
        try await TestWorker.start(database, handlers, connectionCount: connectionCount)
    }

    func enqueue(
        _ pool: ConnectionPool, _ words: [String], for user: UUID? = nil, key: String? = nil,
        after delay: Duration = .zero, priority: JobPriority = .foreground
    ) async throws {
        var pipeline = Pipeline()
        if let user {
            pipeline.append(
                Statement("SELECT set_config('app.user_id', $1::text, true)"), .of(user))
        }
        for word in words {
            pipeline.enqueue(
                Echo.self, Word(word: word), for: user, key: key, after: delay, priority: priority)
        }
        _ = try await pool.run(pipeline)
    }

    @Test func eachJobRunsOnceWithSeveralServers() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let recorder = Recorder()
        let workers = [
            try await start(database, [Echo(recorder: recorder)]),
            try await start(database, [Echo(recorder: recorder)]),
        ]
        let words = (1...200).map { "word \($0)" }
        try await enqueue(workers[0].pool, words)
        try await waitUntil("all jobs are done") {
            try await database.count("SELECT count(*) FROM jobs") == 0
        }
        for worker in workers { await worker.stop() }
        #expect(recorder.words.sorted() == words.sorted())
        #expect(recorder.all.allSatisfy { $0.attempt == 1 })
    }

    /// The statement takes longer than the lease.
    @Test func leasesAreRenewedWhileTheOnlyConnectionOfJobsIsBusy() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let recorder = Recorder { _, job throws(JobError) in
            try await job.write { $0.append(Statement("SELECT pg_sleep(1.5)")) }
        }
        let worker = try await start(
            database, [Echo(recorder: recorder)], connectionCount: 1)
        let other = try await start(database, [Echo(recorder: recorder)])
        try await enqueue(worker.pool, ["long"])
        try await waitUntil("the job is done") {
            try await database.count("SELECT count(*) FROM jobs") == 0
        }
        #expect(recorder.all.map(\.attempt) == [1])
        for worker in [worker, other] { await worker.stop() }
    }

    @Test func failedJobsAreRetriedAndThenDead() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let recorder = Recorder { run, _ throws(JobError) in
            switch run.word {
            case "recovers" where run.attempt == 2: return
            case "impossible": throw .giveUp("It is impossible.")
            default: throw .retry("It failed.")
            }
        }
        let worker = try await start(database, [Echo(recorder: recorder)])
        try await enqueue(worker.pool, ["recovers", "impossible", "fails"])
        try await waitUntil("two jobs are dead") {
            try await database.count(
                "SELECT count(*) FILTER (WHERE state = 'DEAD') * 10 + count(*) FROM jobs") == 22
        }
        #expect(recorder.words.count { $0 == "recovers" } == 2)
        #expect(recorder.words.count { $0 == "impossible" } == 1)
        #expect(recorder.words.count { $0 == "fails" } == 3)
        let errors = try await database.withConnection { connection in
            try connection.query("SELECT last_error FROM jobs ORDER BY attempts")
                .decode(String.self)
        }
        #expect(errors == ["It is impossible.", "It failed."])
        // An operator retries them with all their attempts.
        let retried = try await database.withConnection { connection in
            try JobRecord.retry(.init(state: .dead), connection)
        }
        #expect(retried == 2)
        try await waitUntil("the failing job was retried") {
            recorder.words.count { $0 == "fails" } == 6
        }
        await worker.stop()
    }

    /// Postponing a job does not use up its attempts until it has been postponed for three days.
    @Test func postponedRunIsNotAnAttempt() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let isPaused = Mutex(true)
        let recorder = Recorder { _, job throws(JobError) in
            #expect(job.isAwaited == (job.postponedFor == nil))
            if isPaused.withLock({ $0 }) {
                throw .postpone("Paused.", until: .now.advanced(by: .seconds(3600)))
            }
        }
        let worker = try await start(database, [Echo(recorder: recorder)])
        try await enqueue(worker.pool, ["postponed"])
        for run in 1...5 {
            try await waitUntil("the job was postponed \(run) times") {
                try await database.count(
                    """
                    SELECT count(*) FROM jobs WHERE state = 'READY' AND attempts = 0 AND last_error = 'Paused.' \
                    AND run_at BETWEEN now() + interval '59 minutes' AND now() + interval '68 minutes'
                    """) == 1 && recorder.all.count == run
            }
            if run < 5 { try await database.execute("UPDATE jobs SET run_at = now()") }
        }
        #expect(recorder.all.allSatisfy { $0.attempt == 1 })
        // After three days, a postponed run counts as a failed attempt.
        try await database.execute(
            "UPDATE jobs SET postponed_since = now() - interval '73 hours', run_at = now()")
        try await waitUntil("the job is dead") {
            try await database.count(
                "SELECT count(*) FROM jobs WHERE state = 'DEAD' AND attempts = 3") == 1
        }
        // After an operator retries the job, it can be postponed again.
        _ = try await database.withConnection { try JobRecord.retry(.init(state: .dead), $0) }
        try await waitUntil("the job is postponed") {
            try await database.count(
                "SELECT count(*) FROM jobs WHERE state = 'READY' AND attempts = 0") == 1
        }
        isPaused.withLock { $0 = false }
        try await database.execute("UPDATE jobs SET run_at = now()")
        try await waitUntil("the job is done") {
            try await database.count("SELECT count(*) FROM jobs") == 0
        }
        await worker.stop()
    }

    /// A killed worker neither renews the lease nor releases the job.
    @Test func jobOfAKilledWorkerRunsAgainAfterItsLease() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["orphan"])
        let killed = JobTable(database: pool, worker: "killed", lease: .milliseconds(300))
        let claimed = try await killed.claim(["test.echo": 5])
        #expect(claimed.count == 1)
        #expect(try await killed.claim(["test.echo": 5]) == [])

        let recorder = Recorder()
        let worker = try await start(database, [Echo(recorder: recorder)])
        try await waitUntil("another worker has run the job") { recorder.words == ["orphan"] }
        #expect(recorder.all.map(\.attempt) == [2])
        await worker.stop()
        await pool.close()
    }

    /// A job that crashes each of its workers becomes a dead letter.
    @Test func jobIsDeadAfterTheLastAttemptOfAKilledWorker() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["crashes"])
        let queue = JobTable(database: pool, worker: "killed", lease: .zero)
        for attempt in 1...3 {
            try await waitUntil("attempt \(attempt) is claimed") {
                try await queue.claim(["test.echo": 1]).first?.attempt == attempt
            }
        }
        #expect(try await queue.claim(["test.echo": 1]) == [])
        #expect(try await database.count("SELECT count(*) FROM jobs WHERE state = 'DEAD'") == 1)
        await pool.close()
    }

    /// A worker loses its connection while the job runs, so its lease expires and another worker claims the job. Later
    /// writes of the first worker are refused.
    @Test func workerThatLostItsLeaseCannotWrite() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let userID = try #require(UUID(reader.id.string ?? ""))
        try await enqueue(app.pool, ["contested"], for: userID)
        let first = JobTable(database: app.pool, worker: "first", lease: .zero)
        let slow = try #require(try await first.claim(["test.echo": 1]).first)
        let second = JobTable(database: app.pool, worker: "second", lease: .seconds(60))
        let quick = try #require(try await second.claim(["test.echo": 1]).first)
        #expect(quick.lease.id == slow.lease.id && quick.lease.fence != slow.lease.fence)

        func context(_ job: ClaimedJob) -> JobContext {
            JobContext(
                id: job.lease.id, userID: job.userID, attempt: job.attempt, attemptsMax: 3,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, lease: job.lease,
                database: app.pool, userChangeChannel: Hub.changeChannel)
        }
        let rename = Statement("UPDATE users SET display_name = 'job' WHERE id = $1")
        let error = await #expect(throws: JobError.self) {
            _ = try await context(slow).write { $0.append(rename, .of(userID)) }
        }
        guard case .database(.server(let server)) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(server.sqlState.rawValue == "BP410")
        #expect(try await first.renew([slow.lease]) == [])
        try await first.settle(slow.lease, .finished)
        #expect(try await database(app).count("SELECT count(*) FROM jobs") == 1)

        let (results, key) = try await context(quick).write {
            $0.appendForRows(rename, .of(userID))
        }
        #expect(results[key].affectedCount == 1)
        try await second.settle(quick.lease, .finished)
        #expect(try await database(app).count("SELECT count(*) FROM jobs") == 0)
    }

    func database(_ app: TestApp) -> TestDatabase { app.database }

    /// A job whose lease has expired cannot be claimed while the worker that holds it has an open transaction.
    @Test func claimSkipsJobWithOpenTransaction() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["writing"])
        let queue = JobTable(database: pool, worker: "first", lease: .zero)
        let job = try #require(try await queue.claim(["test.echo": 1]).first)
        try await database.withConnection(as: TestCluster.app) { connection in
            try connection.execute("BEGIN")
            try connection.execute(
                "SELECT begin_job('\(job.lease.id)', \(job.lease.fence), false)")
            let other = try AdminConnection(try database.url(as: TestCluster.app))
            let claim =
                "SELECT * FROM claim_jobs('{test.echo}', '{1}', '{1}', '{1}', 'second', 60000)"
            #expect(try other.query(claim).count == 0)
            try connection.execute("COMMIT")
            #expect(try other.query(claim).count == 1)
        }
        await pool.close()
    }

    @Test func jobReadsOnlyTheRowsOfItsUser() async throws {
        let app = try await TestApp.start(catalog: [])
        let (mine, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        _ = try await mine.makeShelf("Mine")
        _ = try await other.makeShelf("Other")
        let shelves = TypedStatement<String>("SELECT name FROM shelves ORDER BY name")
        let names = Mutex<[String: [String]]>([:])
        let recorder = Recorder { run, job throws(JobError) in
            let rows: [String] = try await job.read { $0.append(shelves) }
            names.withLock { $0[run.word] = rows }
        }
        let worker = try await start(app.database, [Echo(recorder: recorder)])
        let userID = UUID(mine.id.string ?? "")
        try await enqueue(worker.pool, ["mine"], for: userID)
        try await enqueue(worker.pool, ["without user"])
        try await waitUntil("both jobs are done") { recorder.all.count == 2 }
        await worker.stop()
        #expect(names.withLock { $0 } == ["mine": ["Mine"], "without user": []])
    }

    @Test func jobWithTheSameKeyWaitsOnceAndRunsAgainIfEnqueuedMeanwhile() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["first"], key: "k")
        try await enqueue(pool, ["second"], key: "k")
        #expect(try await database.count("SELECT count(*) FROM jobs") == 1)
        let queue = JobTable(database: pool, worker: "w", lease: .seconds(60))
        let job = try #require(try await queue.claim(["test.echo": 1]).first)
        #expect(String(decoding: job.payload, as: UTF8.self) == #"{"word": "second"}"#)
        try await enqueue(pool, ["third"], key: "k")
        #expect(try await queue.claim(["test.echo": 1]) == [])
        try await queue.settle(job.lease, .finished)
        let again = try #require(try await queue.claim(["test.echo": 1]).first)
        #expect(again.attempt == 1)
        #expect(String(decoding: again.payload, as: UTF8.self) == #"{"word": "third"}"#)
        try await queue.settle(again.lease, .finished)
        #expect(try await database.count("SELECT count(*) FROM jobs") == 0)
        await pool.close()
    }

    /// The new work has all of its attempts, although the last one of the old work has failed.
    @Test func jobThatFailsForGoodStartsOverIfEnqueuedMeanwhile() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["first"], key: "k")
        let queue = JobTable(database: pool, worker: "w", lease: .seconds(60))
        let job = try #require(try await queue.claim(["test.echo": 1]).first)
        try await enqueue(pool, ["second"], key: "k")
        try await queue.settle(job.lease, .failed(message: "no", retryAfter: nil))
        let again = try #require(try await queue.claim(["test.echo": 1]).first)
        #expect(again.attempt == 1)
        #expect(String(decoding: again.payload, as: UTF8.self) == #"{"word": "second"}"#)
        try await queue.settle(again.lease, .failed(message: "no", retryAfter: nil))
        #expect(try await database.count("SELECT count(*) FROM jobs WHERE state = 'DEAD'") == 1)
        await pool.close()
    }

    /// The new work has all of its attempts, whether it is enqueued while the failed job waits for its next attempt, or during one.
    @Test(arguments: [false, true])
    func jobThatFailedHasAllAttemptsIfEnqueuedAgain(isRunning: Bool) async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["first"], key: "k")
        let queue = JobTable(database: pool, worker: "w", lease: .seconds(60))
        let job = try #require(try await queue.claim(["test.echo": 1]).first)
        if isRunning { try await enqueue(pool, ["second"], key: "k") }
        try await queue.settle(job.lease, .failed(message: "no", retryAfter: .zero))
        if !isRunning { try await enqueue(pool, ["second"], key: "k") }
        let again = try #require(try await queue.claim(["test.echo": 1]).first)
        #expect(again.attempt == 1)
        #expect(String(decoding: again.payload, as: UTF8.self) == #"{"word": "second"}"#)
        await pool.close()
    }

    @Test func dueJobsRunByPriorityAndDelayedJobsDoNotRun() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["backfill"], priority: .background)
        try await enqueue(pool, ["tomorrow"], after: .seconds(86_400))
        try await enqueue(pool, ["now"])
        let queue = JobTable(database: pool, worker: "w", lease: .seconds(60))
        var words: [String] = []
        while let job = try await queue.claim(["test.echo": 1]).first {
            words.append(String(decoding: job.payload, as: UTF8.self))
        }
        #expect(words == [#"{"word": "now"}"#, #"{"word": "backfill"}"#])
        await pool.close()
    }

    /// Two servers share one repeated job, and its runs never overlap.
    @Test func repeatedJobRunsOnceForAllServers() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let running = Mutex((now: 0, most: 0))
        let recorder = Recorder { _, job throws(JobError) in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            try? await Task.sleep(for: .milliseconds(10))
            running.withLock { $0.now -= 1 }
            // A failed run does not end the repetition.
            if job.attempt == 1, Bool.random() { throw .giveUp("It failed.") }
        }
        let workers = [
            try await start(database, [Ticker(recorder: recorder)]),
            try await start(database, [Ticker(recorder: recorder)]),
        ]
        try await waitUntil("the job has run six times") { recorder.all.count >= 6 }
        for worker in workers { await worker.stop() }
        #expect(running.withLock { $0.most } == 1)
        #expect(try await database.count("SELECT count(*) FROM jobs") == 1)
    }

    @Test func stoppedWorkerFinishesOrReleasesItsJobs() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let recorder = Recorder { run, _ throws(JobError) in
            do {
                try await Task.sleep(for: run.word == "short" ? .milliseconds(100) : .seconds(600))
            } catch {
                throw .retry("cancelled")
            }
        }
        let worker = try await start(database, [Echo(recorder: recorder)])
        try await enqueue(worker.pool, ["short", "long"])
        try await waitUntil("both jobs run") { recorder.all.count == 2 }
        await worker.stop()
        let left = try await database.withConnection { connection in
            try connection.query(
                "SELECT payload->>'word' || ' ' || state || ' ' || attempts FROM jobs"
            ).decode(String.self)
        }
        #expect(left == ["long READY 0"])
    }

    /// Jobs that have just failed for good are kept, whatever number of days is given.
    @Test func onlyOldDeadJobsArePurged() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let pool = try await pool(database)
        try await enqueue(pool, ["old", "fresh"])
        await pool.close()
        try await database.execute(
            """
            UPDATE jobs SET state = 'DEAD';
            UPDATE jobs SET updated_at = now() - interval '31 days' WHERE payload ->> 'word' = 'old'
            """)
        for (days, purged) in [(32, 0), (30, 1), (0, 0), (-30, 0)] as [(Int, Int64)] {
            let count = try await database.withConnection(as: TestCluster.app) {
                try $0.query("SELECT purge_dead_jobs(\(days))").int64(0, 0)
            }
            #expect(count == purged, "\(days) days")
        }
        #expect(try await database.count("SELECT count(*) FROM jobs") == 1)
    }

    @Test func deletingAUserDeletesTheirJobs() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await enqueue(app.pool, ["late"], for: UUID(reader.id.string ?? ""))
        try await enqueue(app.pool, ["without user"])
        _ = try await reader.requireValue(
            "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
            "deleteAccount", "id")
        #expect(try await app.database.count("SELECT count(*) FROM jobs") == 1)
    }

    /// The server's role can add jobs, and claims and finishes them only with the queue's functions.
    @Test(arguments: [
        "SELECT * FROM jobs", "SELECT payload FROM jobs",
        "INSERT INTO jobs (kind, payload, attempts_max, fence) VALUES ('a.b', '{}', 1, 1)",
        "UPDATE jobs SET state = 'RUNNING'", "UPDATE jobs SET fence = 1", "DELETE FROM jobs",
        // A job for another user than the caller.
        """
        SELECT set_config('app.user_id', '0198c0de-0000-7000-8000-000000000001', true); \
        SELECT enqueue_job('0198c0de-0000-7000-8000-000000000002', 'a.b', '{}', NULL, 0, 0, 1)
        """,
        // A job for a user, without a caller: the settings of a new connection, and of a job without a user.
        "SELECT enqueue_job('0198c0de-0000-7000-8000-000000000002', 'a.b', '{}', NULL, 0, 0, 1)",
        """
        SELECT set_config('app.user_id', '', true); \
        SELECT enqueue_job('0198c0de-0000-7000-8000-000000000002', 'a.b', '{}', NULL, 0, 0, 1)
        """,
    ])
    func directAccessIsRefused(sql: String) async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let state: SQLState? = try await database.withConnection(as: TestCluster.app) {
            connection in
            // The transaction is rolled back with the connection.
            try connection.execute("BEGIN")
            do throws(PostgresError) {
                try connection.execute(sql)
                return nil
            } catch {
                return error.sqlState
            }
        }
        #expect(state == .insufficientPrivilege)
    }
}
