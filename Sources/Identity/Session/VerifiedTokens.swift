/// Access tokens that were verified before, so that the next request with one costs a look-up instead of a signature check.
///
/// Bounded: two generations of at most half of `tokensMax` each. When the young one is full, the old one goes and the young
/// becomes old; what is in use moves up again. Not for threads: give each event loop its own. Make a new one when
/// session keys are read again, or a withdrawn key's tokens live on until they run out.
package struct VerifiedTokens {
    /// Hashed by the end of its signature, which is random: only tokens that were verified are kept.
    private struct Bytes: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: .init(rebasing: $0.suffix(24))) }
        }
    }

    private let generationMax: Int
    // Keyed by bytes: String equality would take a look-alike in another Unicode form for the token.
    private var young: [Bytes: AccessClaims] = [:]
    private var old: [Bytes: AccessClaims] = [:]

    package init(tokensMax: Int = 8192) {
        generationMax = max(1, tokensMax / 2)
    }

    /// The claims of a token verified before and still valid at `now`.
    package mutating func claims(of token: [UInt8], now: UnixSeconds) -> AccessClaims? {
        let token = Bytes(bytes: token)
        if let claims = young[token] {
            if now < claims.expiresAt { return claims }
            young[token] = nil
            return nil
        }
        guard let claims = old.removeValue(forKey: token), now < claims.expiresAt else {
            return nil
        }
        insert(claims, for: token.bytes)
        return claims
    }

    /// Remembers a token that `AccessToken.verify` accepted.
    package mutating func insert(_ claims: AccessClaims, for token: [UInt8]) {
        if young.count >= generationMax {
            old = young
            young = [:]
        }
        young[Bytes(bytes: token)] = claims
    }

    /// Tokens remembered, expired ones included.
    package var count: Int { young.count + old.count }
}
