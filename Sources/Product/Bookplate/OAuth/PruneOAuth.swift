import JobQueue
import Postgres

/// Deletes requests, grants, and access tokens of apps that have expired. Also deletes the apps that registered
/// themselves more than 30 days ago and to which no reader gives access now.
struct PruneOAuth: JobHandler {
    static let kind = "oauth.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(3600))
    private static let unusedDays: Int32 = 30
    /// The maximum number of rows of each table in one transaction.
    private static let rowsMax: Int32 = 1_000

    private static let prune = TypedStatement<Int64>("SELECT prune_oauth($1, $2)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        var total: Int64 = 0
        while !Task.isCancelled {
            let counts = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.unusedDays)
                parameters.append(int32: Self.rowsMax)
                return pipeline.append(Self.prune, parameters)
            }
            guard let count = counts.first, count > 0 else { break }
            total += count
        }
        guard total > 0 else { return }
        job.logger.info(
            "expired rows of OAuth were deleted", metadata: ["count": .stringConvertible(total)])
    }
}
