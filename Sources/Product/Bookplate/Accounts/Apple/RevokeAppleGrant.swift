import Identity
import JobQueue

import struct FoundationEssentials.Data

/// Revokes Apple's token of a deleted account. The encrypted token in the payload is all that is left of the account.
struct RevokeAppleGrant: JobHandler {
    struct Payload: Codable, Sendable {
        let clientID: String
        /// Encoded as base64 in JSON.
        let sealedToken: Data
    }

    static let kind = "apple.revoke"
    /// The attempts take several days, in case Apple is unavailable or the server's own key is wrong.
    static let settings = JobSettings(
        attemptsMax: 100, timeout: .seconds(30), retryDelay: .seconds(10))

    let services: Services

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        try await run(payload)
    }

    func run(_ payload: Payload) async throws(JobError) {
        guard let apple = services.accounts.apple else {
            throw .retry("No key for Apple's token endpoints is configured.")
        }
        let token = try AppleGrant.open(
            Array(payload.sealedToken), clientID: payload.clientID, services.accounts.sessionKeys)
        do throws(AppleError) {
            try await apple.revoke(refreshToken: token, clientID: payload.clientID)
        } catch {
            switch error {
            // Apple reports success for unknown tokens, so a refusal means that the server's key or client ID is wrong.
            case .unusableKey, .refused, .unreachable, .unavailable: throw .retry("\(error)")
            case .malformedResponse: throw .giveUp("\(error)")
            }
        }
    }
}
