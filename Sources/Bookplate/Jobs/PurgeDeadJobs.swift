import Postgres

/// Throws dead letters away that nobody has looked at for a month.
struct PurgeDeadJobs: JobHandler {
    static let kind = "job.purge"
    static let settings = JobSettings(concurrency: 1, every: .seconds(24 * 3600))
    static let keptDays: Int32 = 30

    private static let purge = Statement("SELECT purge_dead_jobs($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        let rows = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(int32: Self.keptDays)
            segment.append(Self.purge, parameters)
        }
        if let count = rows[0].int64(0, 0), count > 0 {
            job.logger.notice("dead jobs were purged", metadata: ["count": "\(count)"])
        }
    }
}
