import struct FoundationEssentials.Data
import Identity
import JobQueue

/// Revokes a grant whose account is gone. Of the account nothing is left here but Apple's token, sealed.
struct RevokeAppleGrant: JobHandler {
    struct Payload: Codable, Sendable {
        let clientID: String
        /// Base64 in JSON.
        let sealedToken: Data
    }

    static let kind = "apple.revoke"
    /// Some days: Apple may be away for long, or a key of ours be wrong.
    static let settings = JobSettings(
        attemptsMax: 100, timeout: .seconds(30), retryDelay: .seconds(10))

    let services: Services

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        try await run(payload)
    }

    func run(_ payload: Payload) async throws(JobError) {
        guard let apple = services.apple else {
            throw .retry("No key for Apple's token endpoints is configured.")
        }
        let token = try AppleGrant.open(
            Array(payload.sealedToken), clientID: payload.clientID, services.sessionKeys)
        do throws(AppleError) {
            try await apple.revoke(refreshToken: token, clientID: payload.clientID)
        } catch {
            switch error {
            // Apple calls an unknown token a success, so a refusal is about our own key or client id.
            case .unusableKey, .refused, .unreachable, .unavailable: throw .retry("\(error)")
            case .malformedResponse: throw .giveUp("\(error)")
            }
        }
    }
}
