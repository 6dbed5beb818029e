import JobQueue
import Postgres

/// Adds new audit events to the hash chain.
///
/// Requests only insert their events. If they also extended the chain, they would wait for one another. An event that is
/// deleted before it is in the chain is not noticed, so the job runs often.
struct ChainAuditEvents: JobHandler {
    static let kind = "audit.chain"
    static let settings = JobSettings(concurrency: 1, every: .seconds(15))
    private static let eventsMax: Int32 = 2_000

    private struct Chained: RowDecodable {
        let count: Int32
        let position: Int64
        let hash: String

        init?(_ row: inout RowReader) {
            guard let count = row.int32(), let position = row.int64(), let hash = row.text() else {
                return nil
            }
            self.count = count
            self.position = position
            self.hash = hash
        }
    }

    private static let chain = TypedStatement<Chained>(
        "SELECT added, last_position, encode(last_hash, 'hex') FROM chain_audit_events($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        while !Task.isCancelled {
            let rows = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.eventsMax)
                return pipeline.append(Self.chain, parameters)
            }
            guard let chained = rows.first, chained.count > 0 else { return }
            // An attacker who can change the database usually cannot change the log, so the log shows whether the chain was replaced.
            job.logger.info(
                "added events to the audit log",
                metadata: ["anchor": "\(chained.position):\(chained.hash)"])
            if chained.count < Self.eventsMax { return }
        }
    }
}
