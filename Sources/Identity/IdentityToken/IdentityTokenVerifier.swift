/// Verifies identity tokens (Sign in with Apple, or any OpenID issuer) for one set of issuers and audiences.
///
/// Issuers, audiences and where the keys come from are configuration; the token selects none of them.
///
/// Spec: https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
package struct IdentityTokenVerifier: Sendable {
    /// All names of the issuer. Apple has signed under two: appleid.apple.com and account.apple.com.
    package var issuers: [String]
    /// The client ids of the apps that may sign in here. With none, no token is good.
    package var audiences: [String]
    package var keys: KeySetCache
    package var algorithms: Set<TokenAlgorithm>
    /// Whether the client's nonce may stand in the token as it is, instead of its SHA-256 in lower-case hexadecimal.
    ///
    /// Off, a stolen token is useless without the nonce, which it does not show; on, it shows it.
    package var acceptsPlainNonce: Bool
    /// The oldest `iat` accepted; nil leaves it to `exp`.
    package var ageSecondsMax: Int64?

    package init(
        issuers: [String], audiences: [String], keys: KeySetCache,
        algorithms: Set<TokenAlgorithm> = [.rs256], acceptsPlainNonce: Bool = false,
        ageSecondsMax: Int64? = nil
    ) {
        self.issuers = issuers
        self.audiences = audiences
        self.keys = keys
        // A shared secret cannot say who signed.
        self.algorithms = algorithms.subtracting([.hs256])
        self.acceptsPlainNonce = acceptsPlainNonce
        self.ageSecondsMax = ageSecondsMax
    }

    /// Apple's names in `iss`; the first is also the audience of client secrets.
    package static let appleIssuers = ["https://appleid.apple.com", "https://account.apple.com"]

    /// - Parameter nonce: the raw nonce that the client made before it asked for the token; nil when it made none. The
    ///   token's claim must be there or be absent likewise.
    package func verify(
        _ token: String, nonce: String?, now: UnixSeconds
    ) async throws(TokenError) -> IdentityClaims {
        let compact = try CompactToken(token, algorithms: algorithms)
        let key = try await keys.key(id: compact.keyID, algorithm: compact.algorithm, now: now)
        let claims = try compact.claims(verifiedBy: key)

        let issuer = try claims.issuer(among: issuers)
        let audience = try claims.audience(among: audiences)
        let times = try claims.times(now: now, ageSecondsMax: ageSecondsMax)
        // The same keys sign the issuer's notifications.
        guard claims["events"] == nil else { throw .wrongKind }
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

    private func checkNonce(_ claims: Claims, given: String?) throws(TokenError) -> String? {
        guard let claim = claims["nonce"] else {
            // An old device that cannot carry a nonce says so; everyone else must.
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

    /// The issuer and audiences that a token *claims*, unverified, to choose among configured verifiers where a server has
    /// several. Empty when it is not shaped like a token.
    package static func claimed(by token: String) -> (issuer: String?, audiences: [String]) {
        guard let compact = try? CompactToken(token, algorithms: [.rs256, .es256]) else {
            return (nil, [])
        }
        let claimed = compact.claimed
        return (
            claimed.issuer.map { String(decoding: $0, as: UTF8.self) },
            claimed.audiences.prefix(16).map { String(decoding: $0, as: UTF8.self) }
        )
    }
}
