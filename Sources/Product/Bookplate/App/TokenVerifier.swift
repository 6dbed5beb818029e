import Identity

/// Verifies the access tokens of the requests of one event loop.
struct TokenVerifier {
    private let services: Services
    private var tokens = VerifiedTokens()
    /// The version of the keys that verified `tokens`.
    private var keysVersion = 0

    init(_ services: Services) { self.services = services }

    /// Verifies an access token, or finds it in the cache. The reason for a refusal is logged.
    ///
    /// Requests with an invalid token are executed as anonymous requests.
    mutating func verify(
        _ token: String, _ requestID: String
    ) -> Result<AccessClaims, TokenError> {
        if keysVersion != services.accounts.keyring.version {
            keysVersion = services.accounts.keyring.version
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
            services.logger.info(
                "refused an access token",
                metadata: ["request_id": "\(requestID)", "reason": "\(error.reason)"])
            return .failure(error)
        }
    }

    private func verified(_ token: String, now: UnixSeconds) throws(TokenError) -> AccessClaims {
        do throws(TokenError) {
            return try AccessToken.verify(token, keys: services.accounts.sessionKeys, now: now)
        } catch .unknownKey(let id) {
            // Another server may have loaded a new key before this one.
            guard services.accounts.keyring.refreshForUnknownKey() else {
                throw .unknownKey(id: id)
            }
            return try AccessToken.verify(token, keys: services.accounts.sessionKeys, now: now)
        }
    }
}
