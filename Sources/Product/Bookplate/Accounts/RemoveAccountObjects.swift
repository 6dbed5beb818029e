import Basics
import JobQueue
import ObjectStorage
import Postgres

/// Removes the files of a deleted account: its covers and the title cards of books without a cover.
struct RemoveAccountObjects: JobHandler {
    struct Payload: Codable, Sendable {
        let userID: String

        init(_ userID: UUID) { self.userID = userID.description }
    }

    static let kind = "account.remove_objects"
    /// The attempts take several days, so that a full disk or a missing folder can be fixed.
    static let settings = JobSettings(attemptsMax: 100, retryDelay: .seconds(10))

    let covers: Covers

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        try await run(payload)
    }

    func run(_ payload: Payload) async throws(JobError) {
        guard let userID = UUID(payload.userID) else {
            throw .giveUp("The payload's user ID is not a UUID.")
        }
        try await mappingError({ JobError.retry($0.description) }) {
            () async throws(ObjectError) in
            try await covers.removeAll(of: userID)
        }
    }
}
