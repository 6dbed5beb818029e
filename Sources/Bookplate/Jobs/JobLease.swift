import Postgres

/// A worker's hold on a job: the fence tells it from every other worker's.
struct JobLease: Hashable, Sendable {
    let id: UUID
    let fence: Int32
}

/// A job that a worker has taken.
struct ClaimedJob: Sendable, Equatable {
    let lease: JobLease
    let kind: String
    /// Whom it is done for.
    let userID: UUID?
    /// JSON, as UTF-8.
    let payload: [UInt8]
    /// Counted from 1.
    let attempt: Int
    var priority = JobPriority.foreground
    /// Since when it has been postponed; nil where it was not.
    var postponedFor: Duration?
}

/// How a worker lets go of a job.
enum JobSettlement: Equatable, Sendable {
    case finished
    /// Tried again after the delay, or a dead letter where that is nil.
    case failed(message: String, retryAfter: Duration?)
    /// Run again after the delay; not an attempt.
    case postponed(message: String, delay: Duration)
    /// Given back as if it had not been taken.
    case released
}
