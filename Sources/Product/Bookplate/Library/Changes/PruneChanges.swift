import JobQueue
import Postgres

/// Deletes data that is no longer needed: old changes, events, undone swipes, counts of the schema's usage, audit events,
/// deleted books that can no longer be restored, and the sessions that could retry the deletion of their accounts.
struct PruneChanges: JobHandler {
    static let kind = "change.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(3600))

    /// A client that was offline for longer has to fetch its library again.
    static let changesKeptDays: Int32 = 90
    static let eventsKeptDays: Int32 = 7
    /// Within this time, a device that was offline can send an undone swipe again without effect.
    static let undoneSwipesKeptDays: Int32 = 30
    /// Longer than a year, so that yearly uses are seen.
    static let usageKeptDays: Int32 = 400
    static let auditKeptDays: Int32 = 400
    /// The maximum number of rows deleted in one transaction. It is small because writers of these libraries wait for
    /// the transaction.
    private static let rowsMax: Int32 = 5_000
    /// The maximum number of deleted books purged in one transaction, which locks the storage use of their tenants.
    private static let deletedBooksMax: Int32 = 500
    /// The maximum number of users whose changes are pruned in one transaction. Their writes wait for it.
    private static let usersMax: Int32 = 50

    private static let pruneChanges = TypedStatement<Int32>("SELECT prune_changes($1, $2)")
    private static let pruneEvents = TypedStatement<Int64>("SELECT prune_events($1, $2)")
    private static let pruneSwipes = TypedStatement<Int64>("SELECT prune_undone_swipes($1, $2)")
    private static let purgeBooks = TypedStatement<Int64>("SELECT purge_deleted_books($1)")
    private static let pruneUsage = TypedStatement<Int64>("SELECT prune_schema_usage($1, $2)")
    private static let pruneAudit = TypedStatement<Int64>("SELECT prune_audit_events($1, $2)")
    /// Forgets the sessions that can no longer repeat the deletion of their accounts.
    static let forgetSessions = Statement(
        """
        UPDATE account_tombstones
        SET session_hash = NULL
        WHERE session_hash IS NOT NULL AND deleted_at < now() - interval '1 hour'
        """)

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await pruneChanges(job)
        try await prune(Self.pruneEvents, olderThanDays: Self.eventsKeptDays, job)
        try await prune(Self.pruneSwipes, olderThanDays: Self.undoneSwipesKeptDays, job)
        try await purgeDeletedBooks(job)
        try await prune(Self.pruneUsage, olderThanDays: Self.usageKeptDays, job)
        try await prune(Self.pruneAudit, olderThanDays: Self.auditKeptDays, job)
        try await job.write { $0.append(Self.forgetSessions) }
    }

    /// Deletes the books that can no longer be restored. `SweepStorage` removes the files of their covers.
    private func purgeDeletedBooks(_ job: JobContext) async throws(JobError) {
        while !Task.isCancelled {
            let counts = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.deletedBooksMax)
                return pipeline.append(Self.purgeBooks, parameters)
            }
            if counts.first ?? 0 == 0 { return }
        }
    }

    /// Deletes old changes, of the users who have some.
    private func pruneChanges(_ job: JobContext) async throws(JobError) {
        while !Task.isCancelled {
            let counts = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.changesKeptDays)
                parameters.append(int32: Self.usersMax)
                return pipeline.append(Self.pruneChanges, parameters)
            }
            if counts.first ?? 0 == 0 { return }
        }
    }

    /// Runs a statement that deletes at most `rowsMax` rows until it returns that it has deleted none.
    private func prune(
        _ statement: TypedStatement<Int64>, olderThanDays: Int32, _ job: JobContext
    ) async throws(JobError) {
        while !Task.isCancelled {
            let deletedCounts = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: olderThanDays)
                parameters.append(int32: Self.rowsMax)
                return pipeline.append(statement, parameters)
            }
            if deletedCounts.first ?? 0 == 0 { return }
        }
    }
}
