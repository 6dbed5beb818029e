import Postgres
import Testing

@testable import Bookplate
@testable import JobQueue

/// Tests the state machine of the worker, without a clock and a database.
@Suite struct JobWorkerStateTests {
    private static let limits = JobWorkerState.Limits(
        lease: .seconds(15), heartbeat: .seconds(5), poll: .seconds(1), stopGrace: .seconds(4))

    private var state = JobWorkerState(
        ["a.one": JobSettings(concurrency: 2, timeout: .seconds(60), retryDelay: .seconds(2))],
        limits: limits)

    private func job(_ number: UInt64, attempt: Int = 1) -> ClaimedJob {
        ClaimedJob(
            lease: JobLease(id: UUID(high: 0, low: number), fence: Int32(attempt)), kind: "a.one",
            userID: nil, payload: [], attempt: attempt)
    }

    @Test mutating func claimsAtEachPollAndWhenNotified() {
        #expect(state.handle(.tick, at: .zero) == [.claim(capacity: ["a.one": 2])])
        // One claim at a time.
        #expect(state.handle(.woken, at: .milliseconds(1)) == [])
        // The job of the notification may have been added too late for that claim, so another one follows.
        #expect(
            state.handle(.claimed([]), at: .milliseconds(2)) == [.claim(capacity: ["a.one": 2])])
        #expect(state.handle(.claimed([]), at: .milliseconds(3)) == [])
        #expect(state.handle(.tick, at: .milliseconds(500)) == [])
        #expect(state.handle(.tick, at: .milliseconds(1002)) == [.claim(capacity: ["a.one": 2])])
        #expect(state.handle(.claimFailed, at: .milliseconds(1003)) == [])
        #expect(state.handle(.woken, at: .milliseconds(1004)) == [.claim(capacity: ["a.one": 2])])
    }

    @Test mutating func claimsAtMostTheConcurrencyOfAKind() {
        _ = state.handle(.woken, at: .zero)
        #expect(state.handle(.claimed([job(1)]), at: .zero) == [.start(job(1))])
        #expect(state.handle(.woken, at: .zero) == [.claim(capacity: ["a.one": 1])])
        _ = state.handle(.claimed([job(2)]), at: .zero)
        #expect(state.handle(.woken, at: .zero) == [])
        // The capacity is free again when the database has stored the result.
        #expect(
            state.handle(.ended(job(1).lease, .finished, random: 0), at: .zero)
                == [.settle(job(1).lease, .finished)])
        #expect(state.handle(.woken, at: .zero) == [])
        #expect(
            state.handle(.settled(job(1).lease), at: .zero) == [.claim(capacity: ["a.one": 1])])
    }

    /// Background jobs leave a part of the concurrency to jobs that users wait for.
    @Test mutating func backgroundJobsLeaveTheReserve() {
        func job(_ number: UInt64, _ priority: JobPriority) -> ClaimedJob {
            var job = self.job(number)
            job.priority = priority
            return job
        }
        var state = JobWorkerState(
            ["a.one": JobSettings(concurrency: 4, foregroundReserve: 1)], limits: Self.limits)
        func claim(_ total: Int, _ background: Int) -> [JobWorkerState.Action] {
            [.claim(capacity: ["a.one": JobCapacity(total: total, background: background)])]
        }
        #expect(state.handle(.woken, at: .zero) == claim(4, 3))
        _ = state.handle(
            .claimed([job(1, .background), job(2, .background), job(3, .background)]), at: .zero)
        #expect(state.handle(.woken, at: .zero) == claim(1, 0))
        _ = state.handle(.claimed([job(4, .foreground)]), at: .zero)
        #expect(state.handle(.woken, at: .zero) == [])
        _ = state.handle(.ended(job(1, .background).lease, .finished, random: 0), at: .zero)
        #expect(state.handle(.settled(job(1, .background).lease), at: .zero) == claim(1, 1))
    }

    @Test(arguments: [
        (JobOutcome.finished, 1, JobSettlement.finished),
        (.gaveUp("no"), 1, .failed(message: "no", retryAfter: nil)),
        (.failed("e", after: nil), 1, .failed(message: "e", retryAfter: .seconds(2))),
        (.failed("e", after: nil), 3, .failed(message: "e", retryAfter: .seconds(8))),
        (.failed("e", after: .seconds(99)), 3, .failed(message: "e", retryAfter: .seconds(99))),
        (
            .postponed("p", pause: .seconds(100)), 3,
            .postponed(message: "p", delay: .seconds(112.5))
        ),
    ])
    func outcomeDeterminesTheSettlement(
        outcome: JobOutcome, attempt: Int, settlement: JobSettlement
    ) {
        var state = state
        let job = job(1, attempt: attempt)
        _ = state.handle(.woken, at: .zero)
        _ = state.handle(.claimed([job]), at: .zero)
        #expect(
            state.handle(.ended(job.lease, outcome, random: 1), at: .zero)
                == [.settle(job.lease, settlement)])
    }

    @Test(arguments: [
        (1, 1.0, Duration.seconds(2)), (1, 0.0, .seconds(1)), (5, 1.0, .seconds(32)),
        (60, 1.0, .seconds(3600)), (60, 0.0, .seconds(1800)),
    ])
    func delaysDoubleAndAreRandomized(attempt: Int, random: Double, delay: Duration) {
        let settings = JobSettings(retryDelay: .seconds(2))
        #expect(settings.delay(afterAttempt: attempt, random: random) == delay)
    }

    /// A job is postponed until the end of the pause, and at least as long as it has been postponed so far.
    @Test(
        arguments: [
            (100, nil, 0.0, 100), (100, nil, 1, 112.5), (80_000, nil, 1, 80_600), (0, nil, 0, 1),
            (-5, nil, 0, 1),
            (100, 50, 0, 100), (100, 500, 0, 500), (10, 86_400, 0, 6 * 3600),
            (80_000, 86_400, 0, 80_000),
        ] as [(Int, Int?, Double, Double)])
    func postponementsGrow(
        pause: Int, postponedFor: Int?, random: Double, seconds: Double
    ) {
        let delay = JobSettings.delay(
            ofPause: .seconds(pause), postponedFor: postponedFor.map { .seconds($0) },
            random: random)
        #expect(delay == .seconds(seconds))
    }

    @Test mutating func postponedJobIsReleasedWhenTheWorkerStops() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1)]), at: .zero)
        _ = state.handle(.stop, at: .zero)
        _ = state.handle(.tick, at: .seconds(4))
        #expect(
            state.handle(
                .ended(job(1).lease, .postponed("p", pause: .seconds(9)), random: 0),
                at: .seconds(4)) == [.settle(job(1).lease, .released)])
    }

    @Test mutating func renewsLeasesAndCancelsJobsThatItLost() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1), job(2)]), at: .zero)
        let renewal = state.handle(.tick, at: .seconds(5))
        guard case .renew(let leases) = renewal.first else {
            Issue.record("\(renewal)")
            return
        }
        #expect(Set(leases) == [job(1).lease, job(2).lease])
        #expect(
            state.handle(.renewed(requested: leases, kept: [job(1).lease.id]), at: .seconds(6))
                == [.cancel(job(2).lease)])
        // The outcome of a lost job is discarded, because another worker holds the job.
        #expect(state.handle(.ended(job(2).lease, .finished, random: 0), at: .seconds(6)) == [])
        // The lease of the kept job counts from the time when the renewal was sent.
        #expect(!state.handle(.tick, at: .seconds(19)).contains(.cancel(job(1).lease)))
        #expect(state.handle(.tick, at: .seconds(20)).contains(.cancel(job(1).lease)))
    }

    @Test mutating func cancelsJobsAfterTheirTimeoutAndStopsRenewing() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1)]), at: .zero)
        for second in stride(from: 5, through: 60, by: 5) {
            let leases = [job(1).lease]
            #expect(state.handle(.tick, at: .seconds(second)).contains(.renew(leases)))
            _ = state.handle(
                .renewed(requested: leases, kept: [job(1).lease.id]), at: .seconds(second))
            _ = state.handle(.claimed([]), at: .seconds(second))
        }
        let late = state.handle(.tick, at: .seconds(65))
        #expect(late.contains(.cancel(job(1).lease)))
        #expect(!late.contains(.renew([job(1).lease])))
        #expect(
            state.handle(
                .ended(job(1).lease, .failed("cancelled", after: nil), random: 1), at: .seconds(66))
                == [
                    .settle(
                        job(1).lease,
                        .failed(
                            message: "The job exceeded its timeout and was cancelled.",
                            retryAfter: .seconds(2))
                    )
                ])
    }

    @Test mutating func retriesToSettleUntilTheLeaseExpires() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1)]), at: .zero)
        _ = state.handle(.ended(job(1).lease, .finished, random: 0), at: .zero)
        #expect(state.handle(.settlingFailed(job(1).lease), at: .zero) == [])
        #expect(
            state.handle(.tick, at: .milliseconds(900)) == [.settle(job(1).lease, .finished)])
        // After the lease has expired, another worker may hold the job.
        #expect(
            !state.handle(.tick, at: .seconds(15)).contains(.settle(job(1).lease, .finished)))
    }

    @Test mutating func stopsImmediatelyWithoutJobs() {
        #expect(state.handle(.stop, at: .zero) == [.exit])
        #expect(state.handle(.tick, at: .seconds(1)) == [])
    }

    @Test mutating func runningJobsFinishWhenTheWorkerStops() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1)]), at: .zero)
        #expect(state.handle(.stop, at: .seconds(1)) == [])
        #expect(state.handle(.tick, at: .seconds(2)) == [])
        #expect(
            state.handle(.ended(job(1).lease, .finished, random: 0), at: .seconds(3))
                == [.settle(job(1).lease, .finished)])
        #expect(state.handle(.settled(job(1).lease), at: .seconds(3)) == [.exit])
    }

    @Test mutating func releasesJobsThatDoNotFinishWhenTheWorkerStops() {
        _ = state.handle(.tick, at: .zero)
        _ = state.handle(.claimed([job(1), job(2)]), at: .zero)
        _ = state.handle(.stop, at: .zero)
        let cancels = state.handle(.tick, at: .seconds(4))
        #expect(cancels.contains(.cancel(job(1).lease)) && cancels.contains(.cancel(job(2).lease)))
        #expect(
            state.handle(
                .ended(job(1).lease, .failed("cancelled", after: nil), random: 0), at: .seconds(4))
                == [.settle(job(1).lease, .released)])
        #expect(state.handle(.settled(job(1).lease), at: .seconds(4)) == [])
        // The other handler ignores the cancellation, so its job is released while it runs.
        #expect(state.handle(.tick, at: .seconds(8)).contains(.settle(job(2).lease, .released)))
        #expect(state.handle(.settled(job(2).lease), at: .seconds(8)) == [.exit])
    }

    @Test mutating func releasesJobsThatWereClaimedWhileStopping() {
        _ = state.handle(.tick, at: .zero)
        #expect(state.handle(.stop, at: .zero) == [])
        #expect(
            state.handle(.claimed([job(1)]), at: .zero) == [.settle(job(1).lease, .released)])
        #expect(state.handle(.settled(job(1).lease), at: .zero) == [.exit])
    }
}

/// As many background jobs as jobs.
extension JobCapacity: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self.init(total: value, background: value) }
}
