import FoundationEssentials
import Logging
import Postgres
import Synchronization

/// Does the queue's jobs until it is told to stop. Any number of workers share a queue.
///
/// It decides in `JobWorkerState`; this carries the decisions out: one task asks the database, and each
/// handler runs in a task of its own on Swift's threads, away from the loops that answer requests.
package final class JobWorker: Sendable {
    /// Where it is told that there may be a job.
    package static let channel = "jobs"

    private let handlers: [String: any JobHandler]
    private let queue: JobQueue
    private let limits: JobWorkerState.Limits
    private let logger: Logger
    private let events: AsyncStream<JobWorkerState.Event>
    private let post: AsyncStream<JobWorkerState.Event>.Continuation

    /// - Parameters:
    ///   - database: connections of the worker's own, so that jobs and requests do not wait for each other.
    ///   - name: shown by `jobs list`.
    package convenience init(
        _ handlers: [any JobHandler], database: ConnectionPool, name: String, logger: Logger
    ) {
        self.init(
            handlers, database: database, name: name, logger: logger,
            limits: JobWorkerState.Limits())
    }

    init(
        _ handlers: [any JobHandler], database: ConnectionPool, name: String, logger: Logger,
        limits: JobWorkerState.Limits
    ) {
        self.handlers = Dictionary(
            handlers.map { (type(of: $0).kind, $0) },
            uniquingKeysWith: { first, _ in
                preconditionFailure("two handlers of \(type(of: first).kind)")
            })
        self.limits = limits
        self.logger = logger
        queue = JobQueue(database: database, worker: name, lease: limits.lease)
        (events, post) = AsyncStream.makeStream()
    }

    /// Says that there may be a job. A hint: without it the worker finds the job at its next look.
    package func wake() { post.yield(.woken) }

    /// Takes no more jobs; those under way get some seconds to finish and are then given back.
    package func stop() { post.yield(.stop) }

    /// Works until it has been told to stop and has let go of every job. To be called once.
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
                var answer: JobWorkerState.Event?
                switch action {
                case .claim(let capacity): answer = await claim(capacity)
                case .renew(let leases): answer = await renew(leases)
                case .start(let job): tasks[job.lease] = Task.detached { await self.run(job) }
                case .cancel(let lease): tasks[lease]?.cancel()
                case .settle(let lease, let settlement): answer = await settle(lease, settlement)
                case .exit: return
                }
                if let answer { actions += state.handle(answer, at: clock.now - start) }
            }
        }
    }

    // MARK: - Actions

    private func claim(_ capacity: [String: Int]) async -> JobWorkerState.Event {
        do throws(PostgresError) {
            return .claimed(try await queue.claim(capacity))
        } catch {
            logger.warning("jobs cannot be looked for", metadata: ["error": "\(error)"])
            return .claimFailed
        }
    }

    private func renew(_ leases: [JobLease]) async -> JobWorkerState.Event? {
        do throws(PostgresError) {
            return .renewed(asked: leases, kept: try await queue.renew(leases))
        } catch {
            logger.warning("jobs cannot be kept", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func settle(
        _ lease: JobLease, _ settlement: JobSettlement
    ) async -> JobWorkerState.Event {
        do throws(PostgresError) {
            try await queue.settle(lease, settlement)
            return .settled(lease)
        } catch {
            logger.warning("a job's end cannot be told", metadata: ["error": "\(error)"])
            return .settlingFailed(lease)
        }
    }

    /// Enters the kinds that are done again and again, as soon as the database lets it.
    private func schedule() async {
        for (kind, handler) in handlers {
            let settings = type(of: handler).settings
            guard let every = settings.every else { continue }
            while !Task.isCancelled {
                do throws(PostgresError) {
                    try await queue.schedule(
                        kind, every: every, attemptsMax: settings.attemptsMax)
                    break
                } catch {
                    logger.warning(
                        "a job cannot be scheduled",
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
            outcome = .failed("This server has no handler for it.", after: nil)
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
        else { return .gaveUp("The payload is not what this version expects.") }
        let context = JobContext(
            id: job.lease.id, userID: job.userID, attempt: job.attempt,
            attemptsMax: Handler.settings.attemptsMax, priority: job.priority,
            postponedFor: job.postponedFor, logger: logger, lease: job.lease,
            database: queue.database)
        do throws(JobError) {
            try await handler.run(payload, in: context)
            return .finished
        } catch {
            if case .database(.server(let server)) = error, server.sqlState.rawValue == "BP410" {
                return .lost
            }
            if case .postpone(let message, let end) = error, context.canBePostponed {
                let pause = ContinuousClock.now.duration(to: end)
                logger.info(
                    "a job was postponed",
                    metadata: ["reason": "\(message)", "seconds": "\(pause.components.seconds)"])
                return .postponed(message, pause: pause)
            }
            if !Task.isCancelled {
                logger.warning(
                    "a job failed",
                    metadata: ["attempt": "\(job.attempt)", "error": "\(error.message)"])
            }
            switch error {
            case .giveUp(let message): return .gaveUp(message)
            case .retry(_, let delay): return .failed(error.message, after: delay)
            case .database, .postpone: return .failed(error.message, after: nil)
            }
        }
    }
}
