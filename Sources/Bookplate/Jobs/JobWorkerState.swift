import Postgres

/// What a worker does next: events in, actions out, with no clock, no database and no task.
///
/// Instants are durations since the worker began.
struct JobWorkerState {
    struct Limits: Sendable {
        /// How long a job is a worker's without a word from it.
        var lease: Duration = .seconds(15)
        /// How often a worker says that it is alive.
        var heartbeat: Duration = .seconds(5)
        /// How often it looks for jobs when nobody wakes it.
        var poll: Duration = .seconds(1)
        /// How long jobs may go on when the worker is to stop, before they are cancelled, and after.
        var stopGrace: Duration = .seconds(5)
    }

    enum Event {
        case tick
        /// There may be a job.
        case woken
        case claimed([ClaimedJob])
        case claimFailed
        /// The heartbeat's answer: the jobs that are still this worker's, of those it asked for.
        case renewed(asked: [JobLease], kept: Set<UUID>)
        /// The handler has returned.
        case ended(JobLease, JobOutcome, random: Double)
        case settled(JobLease)
        case settlingFailed(JobLease)
        /// The server is to stop.
        case stop
    }

    enum Action: Equatable {
        /// Answered by `claimed` or `claimFailed`.
        case claim(capacity: [String: Int])
        /// Answered by `renewed`, or not at all.
        case renew([JobLease])
        /// Answered by `ended`.
        case start(ClaimedJob)
        case cancel(JobLease)
        /// Answered by `settled` or `settlingFailed`.
        case settle(JobLease, JobSettlement)
        /// Everything is done.
        case exit
    }

    private enum Phase: Equatable {
        case running
        /// The handler's task was told to stop.
        case cancelled(Reason)
        /// Over; the database is to be told.
        case settling(JobSettlement)
    }

    private enum Reason: Equatable {
        case tookTooLong, lost, stopping
    }

    private struct Held {
        let job: ClaimedJob
        let startedAt: Duration
        var leaseUntil: Duration
        var phase = Phase.running

        /// A handler that does not heed its cancellation is not helped to keep its job.
        var isWorthKeeping: Bool {
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
    /// Woken while a claim was under way, which may have looked too early.
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
        case .renewed(let asked, let kept):
            return renewed(asked, kept, now)
        case .ended(let lease, let outcome, let random):
            return ended(lease, outcome, random: random)
        case .settled(let lease):
            forget(lease)
            // The next one takes its place at once.
            isWoken = true
            return claimIfPossible(now) + exitIfDone()
        case .settlingFailed:
            // The next tick tries again, as long as the lease is good.
            return []
        case .stop:
            if stoppingSince == nil { stoppingSince = now }
            return exitIfDone()
        }
    }

    // MARK: - Claims

    private var capacity: [String: Int] {
        var capacity = kinds.mapValues(\.concurrency)
        for job in held.values { capacity[job.job.kind, default: 0] -= 1 }
        return capacity.filter { $0.value > 0 }
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
            // The database counts from a moment after the claim was sent.
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

    // MARK: - What runs

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
        case (.cancelled(.tookTooLong), .failed), (.cancelled(.tookTooLong), .postponed):
            settlement = failure("It took too long and was cancelled.", nil, of: job.job, random)
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
            held[id]?.phase = .cancelled(.tookTooLong)
            actions.append(.cancel(job.job.lease))
        }
        actions += stopIfDue(now)
        if now - lastRenewalAt >= limits.heartbeat {
            lastRenewalAt = now
            let leases = held.values.filter(\.isWorthKeeping).map(\.job.lease)
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

    /// Without word from the database for so long, the jobs may be others' by now.
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
        _ asked: [JobLease], _ kept: Set<UUID>, _ now: Duration
    ) -> [Action] {
        var actions: [Action] = []
        for lease in asked {
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

    /// Jobs get some time to finish, then some to give up; what is left is given back over their heads,
    /// which the fence makes safe.
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

/// How a handler ended.
enum JobOutcome: Equatable, Sendable {
    case finished
    /// After a given delay, or the usual one.
    case failed(String, after: Duration?)
    /// It cannot be done before the pause ends.
    case postponed(String, pause: Duration)
    case gaveUp(String)
    /// The database said that the job is another worker's.
    case lost
}
