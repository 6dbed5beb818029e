import JobQueue
import Postgres

/// Turns events that were not delivered within three days into dead letters. Deletes delivered events after three days,
/// and dead letters after 30 days.
struct PruneWebhookDeliveries: JobHandler {
    static let kind = "webhook.prune"
    static let settings = JobSettings(concurrency: 1, every: .seconds(3600))
    /// The maximum number of rows that one transaction changes.
    private static let rowsMax: Int32 = 1000

    private static let prune = TypedStatement<Int64>("SELECT prune_webhook_deliveries($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        while !Task.isCancelled {
            let counts = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.rowsMax)
                return pipeline.append(Self.prune, parameters)
            }
            if counts.first ?? 0 == 0 { return }
        }
    }
}
