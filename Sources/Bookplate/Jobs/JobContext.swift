import Logging
import Postgres

/// One attempt at a job: whom it is done for, and the way to their rows.
///
/// A job has no session. Its transactions open with `begin_job`, which sets the caller of row-level
/// security to whom the queue says the job is for, and refuses a worker that has lost it.
package struct JobContext: Sendable {
    package let id: UUID
    /// nil for a job that is nobody's; it sees what is shared, and no user's rows.
    package let userID: UUID?
    /// Counted from 1.
    package let attempt: Int
    package let attemptsMax: Int
    var priority = JobPriority.foreground
    /// Since when it has been postponed; nil where it was not.
    var postponedFor: Duration?
    package let logger: Logger
    let lease: JobLease
    let database: ConnectionPool

    /// Whether no other attempt follows this one when it fails.
    package var isLastAttempt: Bool { attempt >= attemptsMax }

    /// Whether `JobError.postpone` still postpones the job. Afterwards it is a failed attempt.
    package var canBePostponed: Bool {
        postponedFor.map { $0 < JobSettings.postponedMax } ?? true
    }

    /// Whether a reader waits for this run: the first one of a job that a request has asked for.
    var isAwaited: Bool { priority == .foreground && attempt == 1 && postponedFor == nil }

    /// Whom the job is done for.
    ///
    /// - Throws: `.giveUp` where it is nobody's.
    package func user() throws(JobError) -> UUID {
        guard let userID else { throw .giveUp("This kind of job needs a user.") }
        return userID
    }

    /// Runs statements that cannot write, in one transaction and one round trip.
    package func read(
        _ fill: (inout Pipeline) throws(JobError) -> Void
    ) async throws(JobError) -> [Rows] {
        try await run(isReadOnly: true, fill)
    }

    /// Runs statements in one transaction and one round trip.
    package func write(
        _ fill: (inout Pipeline) throws(JobError) -> Void
    ) async throws(JobError) -> [Rows] {
        try await run(isReadOnly: false, fill)
    }

    /// Runs statements that cannot write, in one transaction and one round trip.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form.
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
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form.
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

    /// Tells of users that a job of nobody's has changed something of; a user's own job does so by itself.
    func tell(_ users: [UUID]) async {
        await database.notify(Hub.changeChannel, users.map(\.description))
    }

    private static let begin = Statement("SELECT begin_job($1, $2, $3)")

    private func run(
        isReadOnly: Bool, _ fill: (inout Pipeline) throws(JobError) -> Void
    ) async throws(JobError) -> [Rows] {
        Array(try await runAll(isReadOnly: isReadOnly, fill).rows.dropFirst())
    }

    private func results<Keys>(
        isReadOnly: Bool, _ fill: (inout Pipeline) throws(JobError) -> Keys
    ) async throws(JobError) -> (results: PipelineResults, keys: Keys) {
        let (rows, keys) = try await runAll(isReadOnly: isReadOnly, fill)
        return (PipelineResults(rows), keys)
    }

    /// Returns the rows of all statements, `begin_job` being the first.
    private func runAll<Keys>(
        isReadOnly: Bool, _ fill: (inout Pipeline) throws(JobError) -> Keys
    ) async throws(JobError) -> (rows: [Rows], keys: Keys) {
        var segment = Pipeline(isReadOnly: isReadOnly)
        var parameters = Parameters.of(lease.id)
        parameters.append(int32: lease.fence)
        parameters.append(bool: isReadOnly)
        segment.append(Self.begin, parameters)
        if !isReadOnly, let userID { segment.notify(Hub.changeChannel, userID.description) }
        let keys = try fill(&segment)
        let rows = try await mappingError(JobError.database) { () async throws(PostgresError) in
            try await database.run(segment)
        }
        return (rows, keys)
    }
}
