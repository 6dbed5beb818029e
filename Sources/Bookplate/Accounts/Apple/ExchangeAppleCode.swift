import Identity
import JobQueue

/// Exchanges an authorization code that Apple did not take while its person signed in.
struct ExchangeAppleCode: JobHandler {
    struct Payload: Codable, Sendable {
        let clientID: String
        let subjectHash: [UInt8]
        let sealedCode: [UInt8]
        /// In seconds of Unix time.
        let expiresAt: Int64
    }

    static let kind = "apple.exchange"
    /// As long as a code lives.
    static let settings = JobSettings(
        attemptsMax: 9, timeout: .seconds(30), retryDelay: .seconds(2))

    let services: Services

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        guard let apple = services.apple else {
            throw .giveUp("No key for Apple's token endpoints is configured.")
        }
        guard unixSecondsNow() < payload.expiresAt else {
            throw .giveUp("The authorization code has run out.")
        }
        let code = try AppleGrant.open(
            payload.sealedCode, clientID: payload.clientID, services.sessionKeys)
        let tokens: AppleTokens
        do throws(AppleError) {
            tokens = try await apple.exchange(code: code, clientID: payload.clientID)
        } catch {
            throw error.mayRetry ? .retry("\(error)") : .giveUp("\(error)")
        }
        guard tokens.subject.map({ sha256($0.utf8) == payload.subjectHash }) ?? true else {
            throw .giveUp("The authorization code is of somebody else.")
        }
        let userID = try job.user()
        _ = try await job.write { segment in
            AppleGrant.store(
                tokens, clientID: payload.clientID, of: userID, services, in: &segment)
        }
    }
}
