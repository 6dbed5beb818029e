import Identity

/// Verifies the access tokens of the requests of one event loop.
struct TokenVerifier {
    private let environment: RequestEnvironment
    private var tokens = VerifiedTokens()
    /// The version of the keys that verified `tokens`.
    private var keysVersion = 0

    init(_ environment: RequestEnvironment) { self.environment = environment }

    /// Verifies an access token, or finds it in the cache. The reason for a refusal is logged.
    ///
    /// Requests with an invalid token are executed as anonymous requests.
    mutating func verify(
        _ token: String, _ requestID: String
    ) -> Result<AccessClaims, TokenError> {
        if keysVersion != environment.keyring.version {
            keysVersion = environment.keyring.version
            // Tokens signed by a removed key are no longer valid.
            tokens = VerifiedTokens()
        }
        let now = unixSecondsNow()
        let bytes = Array(token.utf8)
        if let claims = tokens.claims(of: bytes, now: now) { return .success(claims) }
        do throws(TokenError) {
            let claims = try verified(token, now: now)
            tokens.insert(claims, for: bytes)
            return .success(claims)
        } catch {
            environment.logger.info(
                "refused an access token",
                metadata: ["request_id": "\(requestID)", "reason": "\(error.reason)"])
            return .failure(error)
        }
    }

    private func verified(_ token: String, now: UnixSeconds) throws(TokenError) -> AccessClaims {
        do throws(TokenError) {
            return try AccessToken.verify(token, keys: environment.keyring.keys, now: now)
        } catch .unknownKey(let id) {
            // Another server may have loaded a new key before this one.
            guard environment.keyring.refreshForUnknownKey() else {
                throw .unknownKey(id: id)
            }
            return try AccessToken.verify(token, keys: environment.keyring.keys, now: now)
        }
    }
}
