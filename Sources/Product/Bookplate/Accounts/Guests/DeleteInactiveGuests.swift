import JobQueue
import Postgres

/// Deletes guests that were not active for 90 days. Their refresh tokens have expired, so their libraries cannot be opened any more.
struct DeleteInactiveGuests: JobHandler {
    static let kind = "guest.delete_inactive"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(3600), every: .seconds(24 * 3600))
    static let inactiveDays = Int32(Sessions.refreshTokenDays)
    /// The maximum number of guests whose activity is examined by one statement.
    private static let usersMax: Int32 = 1_000

    let services: Services

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        var count = 0
        while !Task.isCancelled {
            let batches = try await job.write { pipeline in
                var parameters = Parameters()
                parameters.append(int32: Self.inactiveDays)
                parameters.append(int32: Self.usersMax)
                return pipeline.append(Self.inactiveGuests, parameters)
            }
            guard let batch = batches.first, batch.examinedCount > 0 else { break }
            var deletedCount = 0
            for guest in batch.guests {
                if try await delete(guest, job) { deletedCount += 1 }
            }
            count += deletedCount
            // Guests that could not be deleted would be examined again.
            if deletedCount == 0, batch.guests.count == batch.examinedCount { break }
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

    /// The inactive guests among those that one statement has examined.
    private struct Batch: RowDecodable {
        let examinedCount: Int32
        let guests: [UUID]

        init?(_ row: inout RowReader) {
            guard let examinedCount = row.int32(), let guests = row.uuids() else { return nil }
            self.examinedCount = examinedCount
            self.guests = guests
        }
    }

    private static let inactiveGuests = TypedStatement<Batch>(
        "SELECT examined, guests FROM inactive_guests($1, $2)")
    private static let beginDeletion = Statement("SELECT begin_guest_deletion($1, $2)")
}
