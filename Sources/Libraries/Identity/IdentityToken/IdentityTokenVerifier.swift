/// Verifies identity tokens of Sign in with Apple or another OpenID issuer.
///
/// The accepted issuers and audiences and the location of the keys come from the configuration; a token
/// cannot select any of them.
///
/// Spec: https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
package struct IdentityTokenVerifier: Sendable {
    /// The accepted values of `iss`. Apple uses two: appleid.apple.com and account.apple.com.
    package var issuers: [String]
    /// The client IDs of the apps that may sign in. If empty, every token is rejected.
    package var audiences: [String]
    package var keys: KeySetCache
    package var algorithms: Set<TokenAlgorithm>
    /// Whether a token may contain the client's nonce itself instead of its SHA-256 in lower-case hexadecimal.
    ///
    /// If false, a stolen token is useless without the nonce, which the token does not reveal. If true,
    /// the token reveals the nonce.
    package var acceptsPlainNonce: Bool
    /// The maximum age of a token since `iat`, in seconds; nil checks only `exp`.
    package var ageSecondsMax: Int64?

    package init(
        issuers: [String], audiences: [String], keys: KeySetCache,
        algorithms: Set<TokenAlgorithm> = [.rs256], acceptsPlainNonce: Bool = false,
        ageSecondsMax: Int64? = nil
    ) {
        self.issuers = issuers
        self.audiences = audiences
        self.keys = keys
        self.algorithms = algorithms.intersection(TokenAlgorithm.publicKey)
        self.acceptsPlainNonce = acceptsPlainNonce
        self.ageSecondsMax = ageSecondsMax
    }

    /// The values that Apple uses for `iss`. The first one is also the audience of client secrets.
    package static let appleIssuers = ["https://appleid.apple.com", "https://account.apple.com"]

    /// Verifies the signature, issuer, audience, times, and nonce of a token.
    ///
    /// - Parameter nonce: The raw nonce that the client generated before it requested the token; nil if
    ///   the client used none. The token must then have no nonce either.
    package func verify(
        _ token: String, nonce: String?, now: UnixSeconds
    ) async throws(TokenError) -> IdentityClaims {
        let compact = try CompactToken(token, algorithms: algorithms)
        let key = try await keys.key(id: compact.keyID, algorithm: compact.algorithm, now: now)
        let claims = try compact.claims(verifiedBy: key)

        let issuer = try claims.issuer(among: issuers)
        let audience = try claims.audience(among: audiences)
        let times = try claims.times(now: now, ageSecondsMax: ageSecondsMax)
        // The issuer signs its notifications with the same keys, and only notifications have `events`.
        guard claims["events"] == nil else { throw .wrongKind }
        try Self.checkIsNotAccessToken(claims, audience: audience)
        // Amazon Cognito distinguishes its tokens by this claim.
        if let use = claims["token_use"] {
            guard use.bytes?.elementsEqual("id".utf8) == true else { throw .wrongKind }
        }
        // Keycloak distinguishes its access and refresh tokens by this claim.
        if let type = claims["typ"] {
            guard type.bytes?.elementsEqual("ID".utf8) == true else { throw .wrongKind }
        }
        let subject = try claims.text("sub")
        let claimedNonce = try checkNonce(claims, given: nonce)
        let email = try? claims.text("email", bytesMax: 320)
        return IdentityClaims(
            issuer: issuer, subject: subject, audience: audience, email: email,
            emailVerified: email != nil && claims.flag("email_verified") == true,
            isPrivateEmail: claims.flag("is_private_email") == true,
            issuedAt: times.issuedAt, expiresAt: times.expiresAt, nonce: claimedNonce,
            tokenHash: sha256(compact.signingInput))
    }

    /// Many providers sign access tokens with the same keys, and also call them JWT.
    ///
    /// Access tokens have scopes and name the client that requested them (RFC 9068, section 2.2). Some providers repeat one of both
    /// in identity tokens: Zitadel the client, which is then also in `azp`, and authentik the scopes of the sign-in, which
    /// include `openid`.
    private static func checkIsNotAccessToken(
        _ claims: Claims, audience: String
    ) throws(TokenError) {
        guard claims["scp"] == nil else { throw .wrongKind }
        if let client = claims["client_id"] {
            guard claims["scope"] == nil, client == claims["azp"],
                client.bytes?.elementsEqual(audience.utf8) == true
            else { throw .wrongKind }
        }
        if let scope = claims["scope"] {
            let scopes = scope.bytes?.split(separator: UInt8(ascii: " "))
            guard claims["azp"] == nil,
                scopes?.contains(where: { $0.elementsEqual("openid".utf8) }) == true
            else { throw .wrongKind }
        }
        // authentik's access tokens are its identity tokens with these claims.
        guard claims["azp"] == nil || claims["uid"] == nil else { throw .wrongKind }
    }

    private func checkNonce(_ claims: Claims, given: String?) throws(TokenError) -> String? {
        guard let claim = claims["nonce"] else {
            // Devices that do not support nonces set `nonce_supported` to false. All others must send one.
            guard given == nil || claims["nonce_supported"] == .bool(false) else {
                throw .nonceMissing
            }
            return nil
        }
        guard let bytes = claim.bytes, (1...255).contains(bytes.count) else {
            throw .claim("nonce")
        }
        guard let given else { throw .nonceUnexpected }
        guard (1...255).contains(given.utf8.count) else { throw .nonceMismatch }
        let hashed = lowercaseHex(sha256(given.utf8))
        guard
            constantTimeEqual(bytes, Array(hashed.utf8))
                || acceptsPlainNonce && constantTimeEqual(bytes, Array(given.utf8))
        else { throw .nonceMismatch }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the issuer and the audiences that a token claims, unverified, to select one of several
    /// configured verifiers. Returns no values for a malformed token.
    package static func claimed(by token: String) -> (issuer: String?, audiences: [String]) {
        guard let compact = try? CompactToken(token, algorithms: TokenAlgorithm.publicKey) else {
            return (nil, [])
        }
        let claimed = compact.claimed
        return (
            claimed.issuer.map { String(decoding: $0, as: UTF8.self) },
            claimed.audiences.prefix(16).map { String(decoding: $0, as: UTF8.self) }
        )
    }
}
