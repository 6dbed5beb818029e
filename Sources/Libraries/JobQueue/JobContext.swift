import Basics
import Logging
import Postgres

/// One attempt at a job, with access to the rows of the job's user.
///
/// A job has no session. Each of its transactions starts with `begin_job`, which sets the user for row-level security
/// from the job's row, and fails with SQLSTATE BP410 if another worker holds the job by now.
package struct JobContext: Sendable {
    package let id: UUID
    /// The user that the job belongs to; nil for a job that can read only rows without an owner.
    package let userID: UUID?
    /// The number of this attempt, from 1.
    package let attempt: Int
    package let attemptsMax: Int
    package var priority = JobPriority.foreground
    /// The time since the job was first postponed; nil if it was not postponed.
    package var postponedFor: Duration?
    package let logger: Logger
    let lease: JobLease
    let database: ConnectionPool
    let userChangeChannel: String

    /// Whether the job becomes a dead letter if this attempt fails.
    package var isLastAttempt: Bool { attempt >= attemptsMax }

    /// Whether `JobError.postpone` postpones the job. After `JobSettings.postponedMax` it counts as a failed attempt instead.
    package var canBePostponed: Bool {
        postponedFor.map { $0 < JobSettings.postponedMax } ?? true
    }

    /// Whether a user waits for this run: it is the first run of a job that a request has added.
    package var isAwaited: Bool { priority == .foreground && attempt == 1 && postponedFor == nil }

    /// Returns the user that the job belongs to.
    ///
    /// - Throws: `.giveUp` if the job has no user.
    package func user() throws(JobError) -> UUID {
        guard let userID else { throw .giveUp("This kind of job needs a user.") }
        return userID
    }

    /// Runs statements that cannot write, in one transaction and one round trip.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form, or nothing.
    @discardableResult
    package func read<Keys>(
        _ fill: (inout Pipeline) throws(JobError) -> Keys
    ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: true, fill)
    }

    /// Runs statements that cannot write, in one transaction and one round trip.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    package func read<Row>(
        _ fill: (inout Pipeline) throws(JobError) -> ResultKey<Row>
    ) async throws(JobError) -> [Row] {
        let (results, key) = try await results(isReadOnly: true, fill)
        return results[key]
    }

    /// Runs statements in one transaction and one round trip.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form, or nothing.
    @discardableResult
    package func write<Keys>(
        _ fill: (inout Pipeline) throws(JobError) -> Keys
    ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: false, fill)
    }

    /// Runs statements in one transaction and one round trip.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    package func write<Row>(
        _ fill: (inout Pipeline) throws(JobError) -> ResultKey<Row>
    ) async throws(JobError) -> [Row] {
        let (results, key) = try await results(isReadOnly: false, fill)
        return results[key]
    }

    /// Notifies subscriptions that rows of these users have changed.
    ///
    /// Only jobs without a user need this. `write` notifies for the job's own user.
    package func notifyChanges(of users: [UUID]) async {
        await database.notify(userChangeChannel, users.map(\.description))
    }

    private static let begin = Statement("SELECT begin_job($1, $2, $3)")

    private func results<Keys>(
        isReadOnly: Bool, _ fill: (inout Pipeline) throws(JobError) -> Keys
    ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
        var pipeline = Pipeline(isReadOnly: isReadOnly, owner: userID.map { .user($0) } ?? .job(id))
        var parameters = Parameters.of(lease.id)
        parameters.append(int32: lease.fence)
        parameters.append(bool: isReadOnly)
        pipeline.append(Self.begin, parameters)
        if !isReadOnly, let userID { pipeline.notify(userChangeChannel, userID.description) }
        let keys = try fill(&pipeline)
        let rows = try await mappingError(JobError.database) { () async throws(PostgresError) in
            try await database.run(pipeline)
        }
        return (PipelineResults(rows), keys)
    }
}
