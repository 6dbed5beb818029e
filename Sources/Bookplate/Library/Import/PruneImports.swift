import JobQueue
import Postgres

/// Ends imports that nobody has gone on with for a week, and throws their files away.
///
/// The file of an import that was read is gone already. What remains of each import, its counts and failures, is
/// the reader's.
struct PruneImports: JobHandler {
    static let kind = "import.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(24 * 3600))
    static let keptDays: Int32 = 7

    private static let prune = Statement("SELECT prune_imports($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let rows = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(int32: Self.keptDays)
            segment.append(Self.prune, parameters)
        }
        let owners = (0..<rows[0].count).compactMap { rows[0].uuid($0, 0) }
        guard !owners.isEmpty else { return }
        await job.notifyChanges(of: owners)
        job.logger.notice("imports were given up", metadata: ["count": "\(owners.count)"])
    }
}
