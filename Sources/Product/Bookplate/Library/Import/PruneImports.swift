import JobQueue
import Postgres

/// Ends imports that have made no progress for a week, and deletes their files.
///
/// The files of completed imports are already deleted. The counts and failures of each import are kept.
struct PruneImports: JobHandler {
    static let kind = "import.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(24 * 3600))
    static let keptDays: Int32 = 7

    /// Returns the owner of each import that was ended.
    private static let prune = TypedStatement<UUID>("SELECT prune_imports($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let owners = try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(int32: Self.keptDays)
            return pipeline.append(Self.prune, parameters)
        }
        guard !owners.isEmpty else { return }
        await job.notifyChanges(of: owners)
        job.logger.notice(
            "abandoned imports were ended", metadata: ["count": .stringConvertible(owners.count)])
    }
}
