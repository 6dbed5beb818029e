import JobQueue
import Postgres

/// Forgets changes, events and replaced swipes that no client is expected to ask for any more, and sessions that cannot ask
/// again what went with their accounts.
struct PruneChanges: JobHandler {
    static let kind = "change.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(3600))

    /// A client that was away for longer fetches its library anew.
    static let changesKeptDays: Int32 = 90
    static let eventsKeptDays: Int32 = 7
    /// Until then a swipe can be taken back, or sent again by a device that was away, and all is as it was.
    static let earlierSwipesKeptDays: Int32 = 30
    /// Rows that go in one transaction: writers of those libraries wait for it.
    private static let rowsMax: Int32 = 5_000

    private static let pruneChanges = Statement("SELECT prune_changes($1, $2)")
    private static let pruneEvents = Statement("SELECT prune_events($1, $2)")
    private static let pruneSwipes = Statement("SELECT prune_earlier_swipes($1, $2)")
    private static let forgetSessions = Statement("SELECT forget_deleting_sessions()")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await prune(Self.pruneChanges, olderThanDays: Self.changesKeptDays, job)
        try await prune(Self.pruneEvents, olderThanDays: Self.eventsKeptDays, job)
        try await prune(Self.pruneSwipes, olderThanDays: Self.earlierSwipesKeptDays, job)
        _ = try await job.write { $0.append(Self.forgetSessions) }
    }

    private func prune(
        _ statement: Statement, olderThanDays: Int32, _ job: JobContext
    ) async throws(JobError) {
        while !Task.isCancelled {
            let rows = try await job.write { segment in
                var parameters = Parameters()
                parameters.append(int32: olderThanDays)
                parameters.append(int32: Self.rowsMax)
                segment.append(statement, parameters)
            }
            if rows[0].int64(0, 0) ?? 0 == 0 { return }
        }
    }
}
