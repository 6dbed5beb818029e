import JobQueue
import Postgres

/// Deletes guests that were not active for 90 days. Their refresh tokens have expired, so their libraries cannot be opened any more.
struct DeleteInactiveGuests: JobHandler {
    static let kind = "guest.delete_inactive"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(3600), every: .seconds(24 * 3600))
    static let inactiveDays = Int32(Sessions.refreshTokenDays)
    private static let batchSize: Int32 = 100

    let services: Services

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        var count = 0
        while true {
            let guests = try await job.read { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.inactiveDays)
                parameters.append(int32: Self.batchSize)
                return pipeline.append(Self.inactiveGuests, parameters)
            }
            for guest in guests {
                if try await delete(guest, job) { count += 1 }
            }
            if guests.count < Int(Self.batchSize) { break }
        }
        guard count > 0 else { return }
        job.logger.notice(
            "inactive guests were deleted", metadata: ["count": .stringConvertible(count)])
    }

    /// Deletes a guest as its owner could do, unless it is active again.
    private func delete(_ guest: UUID, _ job: JobContext) async throws(JobError) -> Bool {
        let (results, keys) = try await job.write { pipeline in
            var parameters = Parameters.of(guest)
            parameters.append(int32: Self.inactiveDays)
            pipeline.append(Self.beginDeletion, parameters)
            return AccountDeletion.append(to: &pipeline)
        }
        guard AccountDeletion(results, keys) != nil else { return false }
        services.accounts.guestMetrics.countInactive()
        return true
    }

    private static let inactiveGuests = TypedStatement<UUID>("SELECT inactive_guests($1, $2)")
    private static let beginDeletion = Statement("SELECT begin_guest_deletion($1, $2)")
}
