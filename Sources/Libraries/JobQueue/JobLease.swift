import Postgres

/// The right of a worker to run a job until a time. The fence, which increases with each claim, distinguishes it from
/// leases of other workers.
struct JobLease: Hashable, Sendable {
    let id: UUID
    let fence: Int32
}

extension SQLState {
    /// Another worker has claimed the job; `begin_job` raises this error.
    static let leaseLost = SQLState(rawValue: "BP410")
}

/// A job that a worker has claimed.
struct ClaimedJob: Sendable, Equatable {
    let lease: JobLease
    let kind: String
    /// The user that the job belongs to.
    let userID: UUID?
    /// JSON in UTF-8.
    let payload: [UInt8]
    /// The number of the attempt, from 1.
    let attempt: Int
    var priority = JobPriority.foreground
    /// The time since the job was first postponed; nil if it was not postponed.
    var postponedFor: Duration?
}

/// The end of a lease.
enum JobSettlement: Equatable, Sendable {
    case finished
    /// The job runs again after the delay; nil makes it a dead letter.
    case failed(message: String, retryAfter: Duration?)
    /// The job runs again after the delay. This does not count as an attempt.
    case postponed(message: String, delay: Duration)
    /// The job is available again, as if it had not been claimed.
    case released
}
