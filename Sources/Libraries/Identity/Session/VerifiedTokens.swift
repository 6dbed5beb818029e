import Glibc

/// A cache of verified access tokens, so that repeated use of a token costs a lookup instead of a
/// signature check.
///
/// The cache holds two generations of at most half of `tokensMax` each. New tokens go into the young
/// generation. When it is full, the old generation is discarded and the young one takes its place. A
/// token found in the old generation moves to the young one, so tokens in use stay cached.
///
/// The type is not thread-safe: give each event loop its own cache. Create a new one when the session
/// keys are reloaded. Otherwise tokens of a removed key are accepted until they expire.
package struct VerifiedTokens {
    /// Token bytes, hashed by the last 24 bytes: they belong to the signature and are therefore random.
    private struct Bytes: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: .init(rebasing: $0.suffix(24))) }
        }

        /// Faster than `==` of arrays, which compares byte by byte.
        static func == (left: Self, right: Self) -> Bool {
            left.bytes.withUnsafeBytes { left in
                right.bytes.withUnsafeBytes { right in
                    guard left.count == right.count else { return false }
                    guard let first = left.baseAddress, let second = right.baseAddress else {
                        return true
                    }
                    return memcmp(first, second, left.count) == 0
                }
            }
        }
    }

    private let generationMax: Int
    // Bytes rather than String, whose equality would match canonically equivalent texts.
    private var young: [Bytes: AccessClaims] = [:]
    private var old: [Bytes: AccessClaims] = [:]

    package init(tokensMax: Int = 8192) {
        generationMax = max(1, tokensMax / 2)
    }

    /// Returns the claims of a token that was verified before and has not expired.
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

    /// Adds a token that `AccessToken.verify` accepted.
    package mutating func insert(_ claims: AccessClaims, for token: [UInt8]) {
        if young.count >= generationMax {
            old = young
            young = [:]
        }
        young[Bytes(bytes: token)] = claims
    }

    /// The number of cached tokens, including expired ones.
    package var count: Int { young.count + old.count }
}
