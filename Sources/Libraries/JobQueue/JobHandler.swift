import Postgres

/// A kind of background work.
///
/// A job runs at least once. After a crash it runs again from the beginning, so handlers must be idempotent.
package protocol JobHandler: Sendable {
    /// The parameters of a job. Use ids instead of contents, which may change before the job runs.
    associatedtype Payload: Codable & Sendable

    /// The name that is stored in the table `jobs`, so it must not change: lower case with a dot, as in `cover.fetch`.
    static var kind: String { get }
    static var settings: JobSettings { get }
    /// A statement without parameters that adds the due jobs of this kind; nil by default. A worker runs it before each claim, so that
    /// a request can leave a mark in a table of its own, which takes less time than a job.
    static var enqueueDue: Statement? { get }

    /// Runs the job. If its task is cancelled, it should return or throw soon: the server stops, the timeout has passed, or
    /// another worker holds the job.
    func run(_ payload: Payload, in job: JobContext) async throws(JobError)
}

extension JobHandler {
    package static var enqueueDue: Statement? { nil }
}

/// The settings of a kind of job.
package struct JobSettings: Sendable, Equatable {
    /// The maximum number of jobs that run at the same time in one server.
    package var concurrency = 2
    /// The part of `concurrency` that jobs with the background priority do not use, so that a user's job starts beside them.
    package var foregroundReserve = 0
    /// The maximum number of jobs of one reader that run at the same time, on all servers together; nil for no limit. Set it for long
    /// jobs, so that those of one reader do not use all of `concurrency` when another reader's job arrives.
    package var readerConcurrency: Int?
    /// The maximum number of attempts. After that the job is a dead letter.
    package var attemptsMax = 8
    /// The maximum duration of an attempt. After that it is cancelled, which counts as a failed attempt.
    package var timeout: Duration = .seconds(300)
    /// The delay before the second attempt; it doubles with each.
    package var retryDelay: Duration = .seconds(2)
    /// The interval of a repeated job with an empty payload, which runs once for all servers; nil for other jobs.
    package var every: Duration?

    package static let retryDelayMax: Duration = .seconds(3600)
    /// The maximum total time for which a job can be postponed. After that its failures count as attempts.
    package static let postponedMax: Duration = .seconds(3 * 86_400)
    /// The longest delay of a postponed job, unless the pause itself is longer.
    static let postponementDelayMax: Duration = .seconds(6 * 3600)
    /// Jobs that wait for the same source run within this time after the end of its pause.
    private static let postponementJitterMax: Duration = .seconds(600)

    package init(
        concurrency: Int = 2, foregroundReserve: Int = 0, readerConcurrency: Int? = nil,
        attemptsMax: Int = 8, timeout: Duration = .seconds(300),
        retryDelay: Duration = .seconds(2), every: Duration? = nil
    ) {
        self.concurrency = concurrency
        self.foregroundReserve = foregroundReserve
        self.readerConcurrency = readerConcurrency
        self.attemptsMax = attemptsMax
        self.timeout = timeout
        self.retryDelay = retryDelay
        self.every = every
    }

    /// Returns the delay after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the failed attempt, from 1.
    ///   - random: A number from 0 to 1 that spreads jobs that failed together.
    func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        let doublings = max(0, min(attempt - 1, 20))
        return min(retryDelay * (1 << doublings), Self.retryDelayMax) * (0.5 + random / 2)
    }

    /// Returns the delay of a postponed job: until the end of the pause, and at least as long as the job has been postponed
    /// so far. A job therefore runs less often the longer an outage lasts. This saves requests, because each run also sends
    /// requests to the sources that are not paused.
    ///
    /// - Parameters:
    ///   - postponedFor: The time since the job was first postponed; nil for the first time.
    ///   - random: A number from 0 to 1 that spreads jobs that wait for the same source.
    static func delay(
        ofPause pause: Duration, postponedFor: Duration?, random: Double
    ) -> Duration {
        let growth = min(postponedFor ?? .zero, postponementDelayMax)
        let delay = max(pause, growth, .seconds(1))
        return delay + min(delay / 8, postponementJitterMax) * random
    }
}

/// The reason why an attempt failed. The messages are for operators and must not contain user data.
package enum JobError: Error, Sendable {
    /// The job is tried again, after the given delay or the delay of its settings.
    case retry(String, after: Duration? = nil)
    /// The job cannot run before the given time for an external reason. This does not count as an attempt.
    case postpone(String, until: ContinuousClock.Instant)
    /// Another attempt would fail, too. The job becomes a dead letter immediately.
    case giveUp(String)
    /// The database failed; the job is tried again.
    case database(PostgresError)

    /// The message for operators.
    package var message: String {
        switch self {
        case .retry(let message, _), .postpone(let message, _), .giveUp(let message): message
        // The detail is left out because it may quote values of a row.
        case .database(.server(let error)): "\(error.message) (\(error.sqlState))"
        case .database(let error): "\(error)"
        }
    }
}

/// The payload of a job without parameters.
package struct NoPayload: Codable, Sendable {
    package init() {}
}
