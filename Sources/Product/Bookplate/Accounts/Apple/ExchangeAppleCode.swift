import Basics
import Identity
import JobQueue
import Postgres

/// Exchanges an authorization code that could not be exchanged during the sign-in.
struct ExchangeAppleCode: JobHandler {
    struct Payload: Codable, Sendable {
        let clientID: String
        let subjectHash: [UInt8]
        let sealedCode: [UInt8]
        /// In seconds of Unix time.
        let expiresAt: Int64
    }

    static let kind = "apple.exchange"
    /// The attempts span the lifetime of a code.
    static let settings = JobSettings(
        attemptsMax: 9, timeout: .seconds(30), retryDelay: .seconds(2))

    let services: Services

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        guard let apple = services.accounts.apple else {
            throw .giveUp("No key for Apple's token endpoints is configured.")
        }
        guard unixSecondsNow() < payload.expiresAt else {
            throw .giveUp("The authorization code has expired.")
        }
        let code = try AppleGrant.open(
            payload.sealedCode, clientID: payload.clientID, services.accounts.sessionKeys)
        let tokens = try await mappingError(
            { $0.mayRetry ? JobError.retry("\($0)") : .giveUp("\($0)") }
        ) { () async throws(AppleError) in
            try await apple.exchange(code: code, clientID: payload.clientID)
        }
        guard tokens.subject.map({ sha256($0.utf8) == payload.subjectHash }) ?? true else {
            throw .giveUp("The authorization code belongs to another Apple user.")
        }
        let userID = try job.user()
        try await job.write { pipeline in
            AppleGrant.store(
                tokens, clientID: payload.clientID, of: userID, services, in: &pipeline)
        }
    }
}
