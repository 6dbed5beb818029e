import JobQueue
import ObjectStorage
import Postgres

/// Removes what the object store has of an account that is gone: covers, and the title cards in their place.
struct RemoveAccountObjects: JobHandler {
    struct Payload: Codable, Sendable {
        let userID: String

        init(_ userID: UUID) { self.userID = userID.description }
    }

    static let kind = "account.remove_objects"
    /// Some days: until there is room, or the folder is there again.
    static let settings = JobSettings(attemptsMax: 100, retryDelay: .seconds(10))

    let covers: Covers

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        try await run(payload)
    }

    func run(_ payload: Payload) async throws(JobError) {
        guard let userID = UUID(payload.userID) else { throw .giveUp("That is no user's id.") }
        do throws(ObjectError) {
            try await covers.removeAll(of: userID)
        } catch {
            throw .retry(error.description)
        }
    }
}
