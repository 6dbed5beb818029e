import FoundationEssentials
import Logging
import Postgres
import Synchronization

/// Runs jobs of the queue until it is stopped. Any number of workers can share the queue.
///
/// `JobWorkerState` makes the decisions, and this type executes them. One task calls the database. Each handler runs in a
/// task of its own on Swift's global executor, so that it does not block the event loops that serve requests.
package final class JobWorker: Sendable {
    /// The channel of notifications that there may be a due job.
    package static let channel = "jobs"

    private let handlers: [String: any JobHandler]
    private let jobs: JobTable
    /// The connections of the handlers.
    private let database: ConnectionPool
    private let userChangeChannel: String
    private let limits: JobWorkerState.Limits
    private let logger: Logger
    private let events: AsyncStream<JobWorkerState.Event>
    private let post: AsyncStream<JobWorkerState.Event>.Continuation

    /// - Parameters:
    ///   - database: A pool that only this worker uses, so that jobs and requests do not wait for each other.
    ///   - queue: A pool for the queue itself. Long statements of jobs do not delay the renewal of their leases there. nil for
    ///     `database`.
    ///   - name: The name of the worker that `jobs list` shows.
    ///   - userChangeChannel: The channel that is notified with the id of the job's user when a job has written.
    package convenience init(
        _ handlers: [any JobHandler], database: ConnectionPool, queue: ConnectionPool? = nil,
        name: String, userChangeChannel: String, logger: Logger
    ) {
        self.init(
            handlers, database: database, queue: queue, name: name,
            userChangeChannel: userChangeChannel, logger: logger, limits: JobWorkerState.Limits())
    }

    init(
        _ handlers: [any JobHandler], database: ConnectionPool, queue: ConnectionPool? = nil,
        name: String, userChangeChannel: String, logger: Logger, limits: JobWorkerState.Limits
    ) {
        self.handlers = Dictionary(
            handlers.map { (type(of: $0).kind, $0) },
            uniquingKeysWith: { first, _ in
                preconditionFailure("There are two handlers for \(type(of: first).kind).")
            })
        self.limits = limits
        self.logger = logger
        self.userChangeChannel = userChangeChannel
        self.database = database
        jobs = JobTable(database: queue ?? database, worker: name, lease: limits.lease)
        (events, post) = AsyncStream.makeStream()
    }

    /// Makes the worker look for jobs now instead of at its next poll.
    package func wake() { post.yield(.woken) }

    /// Stops claiming jobs. Running jobs get a few seconds to finish and are then released.
    package func stop() { post.yield(.stop) }

    /// Runs until `stop` was called and all jobs are finished or released. Call this once.
    package func run() async {
        let clock = ContinuousClock()
        let start = clock.now
        let ticking = Task { [post, tick = min(limits.poll, limits.heartbeat)] in
            while !Task.isCancelled {
                post.yield(.tick)
                try? await Task.sleep(for: tick)
            }
        }
        defer { ticking.cancel() }
        let scheduling = Task { await schedule() }
        defer { scheduling.cancel() }

        var state = JobWorkerState(
            handlers.mapValues { type(of: $0).settings }, limits: limits)
        var tasks: [JobLease: Task<Void, Never>] = [:]
        for await event in events {
            if case .ended(let lease, _, _) = event { tasks[lease] = nil }
            var actions = state.handle(event, at: clock.now - start)[...]
            while let action = actions.popFirst() {
                var result: JobWorkerState.Event?
                switch action {
                case .claim(let capacity): result = await claim(capacity)
                case .renew(let leases): result = await renew(leases)
                case .start(let job): tasks[job.lease] = Task.detached { await self.run(job) }
                case .cancel(let lease): tasks[lease]?.cancel()
                case .settle(let lease, let settlement): result = await settle(lease, settlement)
                case .exit: return
                }
                if let result { actions += state.handle(result, at: clock.now - start) }
            }
        }
    }

    // MARK: - Actions

    /// Claims due jobs, after adding those that are due by marks. A kind without capacity leaves its marks for later.
    private func claim(_ capacity: [String: JobCapacity]) async -> JobWorkerState.Event {
        for kind in capacity.keys {
            guard let handler = handlers[kind], let statement = type(of: handler).enqueueDue
            else { continue }
            do throws(PostgresError) {
                try await jobs.enqueueDue(by: statement)
            } catch {
                // The marks remain for the next claim, and the jobs of other kinds do not wait for it.
                logger.warning(
                    "cannot add due jobs", metadata: ["kind": "\(kind)", "error": "\(error)"])
            }
        }
        do throws(PostgresError) {
            return .claimed(try await jobs.claim(capacity))
        } catch {
            logger.warning("cannot claim jobs", metadata: ["error": "\(error)"])
            return .claimFailed
        }
    }

    private func renew(_ leases: [JobLease]) async -> JobWorkerState.Event? {
        do throws(PostgresError) {
            let kept = try await jobs.renew(leases)
            return JobWorkerState.Event.renewed(requested: leases, kept: kept)
        } catch {
            logger.warning("cannot extend the leases of jobs", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func settle(
        _ lease: JobLease, _ settlement: JobSettlement
    ) async -> JobWorkerState.Event {
        do throws(PostgresError) {
            try await jobs.settle(lease, settlement)
            return .settled(lease)
        } catch {
            logger.warning("cannot save the result of a job", metadata: ["error": "\(error)"])
            return .settlingFailed(lease)
        }
    }

    /// Adds the repeated jobs. Retries until the database is available.
    private func schedule() async {
        for (kind, handler) in handlers {
            let settings = type(of: handler).settings
            guard let every = settings.every else { continue }
            while !Task.isCancelled {
                do throws(PostgresError) {
                    try await jobs.schedule(
                        kind, every: every, attemptsMax: settings.attemptsMax)
                    break
                } catch {
                    logger.warning(
                        "cannot schedule a job",
                        metadata: ["kind": "\(kind)", "error": "\(error)"])
                    try? await Task.sleep(for: limits.heartbeat)
                }
            }
        }
        wake()
    }

    // MARK: - Handlers

    private func run(_ job: ClaimedJob) async {
        let outcome: JobOutcome
        if let handler = handlers[job.kind] {
            outcome = await run(job, handler)
        } else {
            outcome = .failed("This server has no handler for this kind of job.", after: nil)
        }
        post.yield(.ended(job.lease, outcome, random: .random(in: 0...1)))
    }

    private func run<Handler: JobHandler>(_ job: ClaimedJob, _ handler: Handler) async -> JobOutcome
    {
        var logger = logger
        logger[metadataKey: "job"] = "\(job.kind) \(job.lease.id)"
        guard
            let payload = try? JSONDecoder().decode(
                Handler.Payload.self, from: Data(job.payload))
        else { return .gaveUp("The payload does not have the form that this version expects.") }
        let context = JobContext(
            id: job.lease.id, userID: job.userID, attempt: job.attempt,
            attemptsMax: Handler.settings.attemptsMax, priority: job.priority,
            postponedFor: job.postponedFor, logger: logger, lease: job.lease,
            database: database, userChangeChannel: userChangeChannel)
        do throws(JobError) {
            try await handler.run(payload, in: context)
            return .finished
        } catch {
            if case .database(.server(let server)) = error, server.sqlState == .leaseLost {
                return .lost
            }
            if case .postpone(let message, let end) = error, context.canBePostponed {
                let pause = ContinuousClock.now.duration(to: end)
                logger.info(
                    "a job was postponed",
                    metadata: [
                        "reason": "\(message)",
                        "seconds": .stringConvertible(pause.components.seconds),
                    ])
                return .postponed(message, pause: pause)
            }
            if !Task.isCancelled {
                logger.warning(
                    "a job failed",
                    metadata: [
                        "attempt": .stringConvertible(job.attempt), "error": "\(error.message)",
                    ])
            }
            switch error {
            case .giveUp(let message): return .gaveUp(message)
            case .retry(_, let delay): return .failed(error.message, after: delay)
            case .database, .postpone: return .failed(error.message, after: nil)
            }
        }
    }
}
