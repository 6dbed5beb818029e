import Postgres

/// A kind of work that is done in the background.
///
/// A job runs at least once: after a crash it runs again from its beginning, so what it does must be safe
/// to do twice. Each kind has a line in `JobHandlers.all`.
package protocol JobHandler: Sendable {
    /// What the job is about: ids rather than contents, which may change until it runs.
    associatedtype Payload: Codable & Sendable

    /// Stable, since jobs in the table bear it: lower case, with a dot, as in `cover.fetch`.
    static var kind: String { get }
    static var settings: JobSettings { get }

    /// Does the job. When its task is cancelled it should return or throw soon: the server stops, the job
    /// took too long, or another worker has it.
    func run(_ payload: Payload, in job: JobContext) async throws(JobError)
}

/// How a kind of job is run.
package struct JobSettings: Sendable, Equatable {
    /// At once in one server.
    package var concurrency = 2
    /// How often it is tried before it is a dead letter.
    package var attemptsMax = 8
    /// After this it is cancelled, which is a failed attempt.
    package var timeout: Duration = .seconds(300)
    /// The delay before the second attempt; it doubles with each.
    package var retryDelay: Duration = .seconds(2)
    /// Done again and again with this pause, once for all servers, with an empty payload.
    package var every: Duration?

    package static let retryDelayMax: Duration = .seconds(3600)
    /// How long a job may be postponed altogether. After that its failures count as attempts.
    static let postponedMax: Duration = .seconds(3 * 86_400)
    /// The longest delay of a postponed job, unless the pause itself is longer.
    static let postponementDelayMax: Duration = .seconds(6 * 3600)
    /// Jobs that wait for the same source run within this time after the end of its pause.
    private static let postponementJitterMax: Duration = .seconds(600)

    package init(
        concurrency: Int = 2, attemptsMax: Int = 8, timeout: Duration = .seconds(300),
        retryDelay: Duration = .seconds(2), every: Duration? = nil
    ) {
        self.concurrency = concurrency
        self.attemptsMax = attemptsMax
        self.timeout = timeout
        self.retryDelay = retryDelay
        self.every = every
    }

    /// The pause after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: counted from 1.
    ///   - random: from 0 to 1; spreads jobs that failed together.
    func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        let doublings = max(0, min(attempt - 1, 20))
        return min(retryDelay * (1 << doublings), Self.retryDelayMax) * (0.5 + random / 2)
    }

    /// The delay of a postponed job: until the end of the pause, and at least as long as the job has been postponed so far.
    /// The runs of one job become rarer while an outage lasts, because each run also asks the sources that are not paused.
    ///
    /// - Parameters:
    ///   - postponedFor: since the job was first postponed; nil for the first time.
    ///   - random: from 0 to 1; spreads jobs that wait for the same source.
    static func delay(
        ofPause pause: Duration, postponedFor: Duration?, random: Double
    ) -> Duration {
        let growth = min(postponedFor ?? .zero, postponementDelayMax)
        let delay = max(pause, growth, .seconds(1))
        return delay + min(delay / 8, postponementJitterMax) * random
    }
}

/// Why an attempt failed. The sentences are for operators: no titles, no words of a reader.
package enum JobError: Error, Sendable {
    /// Try again, after the usual delay or the one that is given.
    case retry(String, after: Duration? = nil)
    /// The job cannot be done before then for a reason outside of it. This does not count as an attempt.
    case postpone(String, until: ContinuousClock.Instant)
    /// Trying again would not help: the job is a dead letter at once.
    case giveUp(String)
    /// The database failed; the job is tried again.
    case database(PostgresError)

    /// What an operator reads.
    var message: String {
        switch self {
        case .retry(let message, _), .postpone(let message, _), .giveUp(let message): message
        // Not the detail, which may quote a row.
        case .database(.server(let error)): "\(error.message) (\(error.sqlState))"
        case .database(let error): "\(error)"
        }
    }
}

/// The payload of a job that is about nothing in particular.
package struct NoPayload: Codable, Sendable {
    package init() {}
}
