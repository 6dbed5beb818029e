import Postgres

/// Deletes dead letters that have not changed for 30 days.
package struct PurgeDeadJobs: JobHandler {
    package static let kind = "job.purge"
    package static let settings = JobSettings(concurrency: 1, every: .seconds(24 * 3600))
    static let retentionDays: Int32 = 30

    package init() {}

    private static let purge = TypedStatement<Int64>("SELECT purge_dead_jobs($1)")

    package func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let counts = try await job.write { pipeline in
            var parameters = Parameters()
            parameters.append(int32: Self.retentionDays)
            return pipeline.append(Self.purge, parameters)
        }
        if let count = counts.first, count > 0 {
            job.logger.notice(
                "dead jobs were purged", metadata: ["count": .stringConvertible(count)])
        }
    }
}
