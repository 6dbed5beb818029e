import Postgres

/// The number of jobs of one kind that a worker can take.
struct JobCapacity: Sendable, Equatable {
    var total: Int
    /// The part of `total` that jobs with the background priority may use.
    var background: Int
    /// The maximum number of jobs of one reader that run at a time, on all servers together; nil for no limit.
    var ofReader: Int?
}

/// The state machine of a worker. It has no clock, database, or tasks: `JobWorker` passes events to `handle` and executes
/// the actions that it returns.
///
/// Each job that the worker holds is in one of three phases:
///
/// 1. `running`: the handler's task runs. Heartbeats extend the lease.
/// 2. `cancelled`: the task was told to stop because it took too long, the server stops, or the lease was lost.
/// 3. `settling`: the handler has returned, and the result must be written to the database. This is repeated with each
///    tick until it succeeds or the lease expires.
///
/// Invariant: the worker assumes that it holds a job only until `leaseUntil`, which starts when the claim or renewal was
/// *sent*. The database measures from a later moment, so no other worker can have the job before that.
///
/// Example: `tick` at 0 s returns `claim`. `claimed([j])` returns `start(j)`. `tick` at 5 s returns `renew([j])`. If no
/// renewal succeeds until 15 s, `tick` returns `cancel(j)`, and the outcome of the handler is discarded.
///
/// Times are durations since the worker started.
struct JobWorkerState {
    struct Limits: Sendable {
        /// The duration of a lease without renewal.
        var lease: Duration = .seconds(15)
        /// The interval of renewals.
        var heartbeat: Duration = .seconds(5)
        /// The interval of claims without a notification.
        var poll: Duration = .seconds(1)
        /// The time that running jobs get to finish when the worker stops, and again after they have been cancelled.
        var stopGrace: Duration = .seconds(5)
    }

    enum Event {
        case tick
        /// A notification: there may be a due job.
        case woken
        case claimed([ClaimedJob])
        case claimFailed
        /// The result of `renew`: of the requested leases, the ids of the jobs that the worker still holds.
        case renewed(requested: [JobLease], kept: Set<UUID>)
        /// The handler has returned.
        case ended(JobLease, JobOutcome, random: Double)
        case settled(JobLease)
        case settlingFailed(JobLease)
        /// The server stops.
        case stop
    }

    enum Action: Equatable {
        /// Leads to `claimed` or `claimFailed`.
        case claim(capacity: [String: JobCapacity])
        /// Leads to `renewed` if it succeeds.
        case renew([JobLease])
        /// Leads to `ended`.
        case start(ClaimedJob)
        case cancel(JobLease)
        /// Leads to `settled` or `settlingFailed`.
        case settle(JobLease, JobSettlement)
        /// The worker has stopped and holds no jobs anymore.
        case exit
    }

    private enum Phase: Equatable {
        case running
        case cancelled(Reason)
        case settling(JobSettlement)
    }

    private enum Reason: Equatable {
        case timedOut, lost, stopping
    }

    private struct Held {
        let job: ClaimedJob
        let startedAt: Duration
        var leaseUntil: Duration
        var phase = Phase.running

        /// Whether heartbeats extend the lease. If a handler ignores its cancellation, its lease expires.
        var needsRenewal: Bool {
            switch phase {
            case .running, .settling, .cancelled(.stopping): true
            case .cancelled: false
            }
        }
    }

    private let kinds: [String: JobSettings]
    private let limits: Limits
    private var held: [UUID: Held] = [:]
    private var lastClaimAt: Duration?
    private var isClaiming = false
    /// Whether to claim as soon as possible: since the last claim was sent, a notification has arrived, or a job was settled.
    private var isWoken = false
    private var lastRenewalAt = Duration.zero
    private var stoppingSince: Duration?
    private var hasCancelledAll = false
    private var hasExited = false

    init(_ kinds: [String: JobSettings], limits: Limits = Limits()) {
        self.kinds = kinds
        self.limits = limits
    }

    mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        switch event {
        case .tick:
            return ticked(now)
        case .woken:
            isWoken = true
            return claimIfPossible(now)
        case .claimed(let jobs):
            isClaiming = false
            return claimed(jobs, now)
        case .claimFailed:
            isClaiming = false
            return exitIfDone()
        case .renewed(let requested, let kept):
            return renewed(requested, kept, now)
        case .ended(let lease, let outcome, let random):
            return ended(lease, outcome, random: random)
        case .settled(let lease):
            forget(lease)
            // Claim the next job immediately.
            isWoken = true
            return claimIfPossible(now) + exitIfDone()
        case .settlingFailed:
            // The next tick tries again until the lease expires.
            return []
        case .stop:
            if stoppingSince == nil { stoppingSince = now }
            return exitIfDone()
        }
    }

    // MARK: - Claims

    private var capacity: [String: JobCapacity] {
        var capacity = kinds.mapValues {
            JobCapacity(
                total: $0.concurrency, background: $0.concurrency - $0.foregroundReserve,
                ofReader: $0.readerConcurrency)
        }
        for job in held.values {
            capacity[job.job.kind]?.total -= 1
            if job.job.priority == .background { capacity[job.job.kind]?.background -= 1 }
        }
        return capacity.filter { $0.value.total > 0 }.mapValues {
            JobCapacity(
                total: $0.total, background: max(0, min($0.background, $0.total)),
                ofReader: $0.ofReader)
        }
    }

    private mutating func claimIfPossible(_ now: Duration) -> [Action] {
        guard !isClaiming, stoppingSince == nil else { return [] }
        let capacity = capacity
        guard !capacity.isEmpty else { return [] }
        isClaiming = true
        isWoken = false
        lastClaimAt = now
        return [.claim(capacity: capacity)]
    }

    private mutating func claimed(_ jobs: [ClaimedJob], _ now: Duration) -> [Action] {
        var actions: [Action] = []
        for job in jobs {
            var held = Held(
                job: job, startedAt: now, leaseUntil: (lastClaimAt ?? now) + limits.lease)
            if stoppingSince == nil {
                actions.append(.start(job))
            } else {
                held.phase = .settling(.released)
                actions.append(.settle(job.lease, .released))
            }
            self.held[job.lease.id] = held
        }
        if isWoken { actions += claimIfPossible(now) }
        return actions + exitIfDone()
    }

    // MARK: - Outcomes

    private mutating func ended(
        _ lease: JobLease, _ outcome: JobOutcome, random: Double
    ) -> [Action] {
        guard var job = held[lease.id], job.job.lease == lease else { return [] }
        let settlement: JobSettlement
        switch (job.phase, outcome) {
        case (_, .lost), (.cancelled(.lost), _):
            forget(lease)
            return exitIfDone()
        case (_, .finished):
            settlement = .finished
        case (_, .gaveUp(let message)):
            settlement = .failed(message: message, retryAfter: nil)
        case (.cancelled(.stopping), .failed), (.cancelled(.stopping), .postponed):
            settlement = .released
        case (.cancelled(.timedOut), .failed), (.cancelled(.timedOut), .postponed):
            settlement = failure(
                "The job exceeded its timeout and was cancelled.", nil, of: job.job, random)
        case (_, .failed(let message, let delay)):
            settlement = failure(message, delay, of: job.job, random)
        case (_, .postponed(let message, let pause)):
            settlement = .postponed(
                message: message,
                delay: JobSettings.delay(
                    ofPause: pause, postponedFor: job.job.postponedFor, random: random))
        }
        job.phase = .settling(settlement)
        held[lease.id] = job
        return [.settle(lease, settlement)]
    }

    private func failure(
        _ message: String, _ delay: Duration?, of job: ClaimedJob, _ random: Double
    ) -> JobSettlement {
        let settings = kinds[job.kind] ?? JobSettings()
        return .failed(
            message: message,
            retryAfter: delay ?? settings.delay(afterAttempt: job.attempt, random: random))
    }

    private mutating func forget(_ lease: JobLease) {
        if held[lease.id]?.job.lease == lease { held[lease.id] = nil }
    }

    // MARK: - Time

    private mutating func ticked(_ now: Duration) -> [Action] {
        var actions = loseExpired(now)
        for (id, job) in held where job.phase == .running {
            let timeout = kinds[job.job.kind]?.timeout ?? .zero
            guard now - job.startedAt > timeout else { continue }
            held[id]?.phase = .cancelled(.timedOut)
            actions.append(.cancel(job.job.lease))
        }
        actions += stopIfDue(now)
        if now - lastRenewalAt >= limits.heartbeat {
            lastRenewalAt = now
            let leases = held.values.filter(\.needsRenewal).map(\.job.lease)
            if !leases.isEmpty { actions.append(.renew(leases)) }
        }
        for job in held.values {
            if case .settling(let settlement) = job.phase {
                actions.append(.settle(job.job.lease, settlement))
            }
        }
        if isWoken || lastClaimAt.map({ now - $0 >= limits.poll }) ?? true {
            actions += claimIfPossible(now)
        }
        return actions + exitIfDone()
    }

    /// Gives up jobs whose lease has expired, because other workers may hold them by now.
    private mutating func loseExpired(_ now: Duration) -> [Action] {
        var actions: [Action] = []
        for (id, job) in held where now >= job.leaseUntil && job.phase != .cancelled(.lost) {
            if case .settling = job.phase {
                held[id] = nil
            } else {
                held[id]?.phase = .cancelled(.lost)
                actions.append(.cancel(job.job.lease))
            }
        }
        return actions
    }

    private mutating func renewed(
        _ requested: [JobLease], _ kept: Set<UUID>, _ now: Duration
    ) -> [Action] {
        var actions: [Action] = []
        for lease in requested {
            guard let job = held[lease.id], job.job.lease == lease else { continue }
            if kept.contains(lease.id) {
                held[lease.id]?.leaseUntil = lastRenewalAt + limits.lease
            } else if case .settling = job.phase {
                held[lease.id] = nil
            } else if job.phase != .cancelled(.lost) {
                held[lease.id]?.phase = .cancelled(.lost)
                actions.append(.cancel(lease))
            }
        }
        return actions + exitIfDone()
    }

    /// Cancels running jobs after `stopGrace`, and releases those that still run after twice that time. Releasing a running
    /// job is safe because the fence makes its later writes fail.
    private mutating func stopIfDue(_ now: Duration) -> [Action] {
        guard let stoppingSince else { return [] }
        var actions: [Action] = []
        if !hasCancelledAll, now - stoppingSince >= limits.stopGrace {
            hasCancelledAll = true
            for (id, job) in held where job.phase == .running {
                held[id]?.phase = .cancelled(.stopping)
                actions.append(.cancel(job.job.lease))
            }
        }
        if now - stoppingSince >= limits.stopGrace * 2 {
            for (id, job) in held {
                switch job.phase {
                case .cancelled(.lost): held[id] = nil
                case .running, .cancelled: held[id]?.phase = .settling(.released)
                case .settling: if now - stoppingSince >= limits.stopGrace * 3 { held[id] = nil }
                }
            }
        }
        return actions
    }

    private mutating func exitIfDone() -> [Action] {
        guard stoppingSince != nil, held.isEmpty, !isClaiming, !hasExited else { return [] }
        hasExited = true
        return [.exit]
    }
}

/// The result of a handler.
enum JobOutcome: Equatable, Sendable {
    case finished
    /// The job failed; nil is the delay of its settings.
    case failed(String, after: Duration?)
    /// The job cannot run before the pause ends.
    case postponed(String, pause: Duration)
    case gaveUp(String)
    /// The database reported that another worker holds the job.
    case lost
}
