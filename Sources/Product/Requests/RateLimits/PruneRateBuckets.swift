import JobQueue
import Postgres

/// Removes the shared rate buckets that are full again. Their keys are the ids of users, also of deleted ones, and addresses.
package struct PruneRateBuckets: JobHandler {
    package static let kind = "rate.prune"
    package static let settings = JobSettings(concurrency: 1, every: .seconds(300))

    package init() {}

    private static let prune = Statement("SELECT prune_rate_buckets()")

    package func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        try await job.write { $0.append(Self.prune) }
    }
}
