import Basics

/// An issuer of identity tokens for development and tests. It signs tokens like Apple's with its own RSA key.
///
/// It issues a token for any subject, so a server trusts it only if its issuer is configured. Its name
/// must never be that of a real issuer. Verifiers treat it like any other issuer: they check its tokens
/// against its key set.
package struct DevelopmentIssuer: Sendable {
    package static let defaultIssuer = "https://development.bookplate.invalid"

    package let issuer: String
    package let keyID: String
    private let pair: RSAKeyPair

    /// Generates a key.
    ///
    /// - Parameter issuer: The `iss` claim of its tokens.
    package init(issuer: String = defaultIssuer) {
        guard let pair = RSAKeyPair.generate() else {
            preconditionFailure("libcrypto cannot generate an RSA key")
        }
        self.issuer = issuer
        self.pair = pair
        keyID = Base64URL.encode(Array(sha256(pair.modulus).prefix(6)))
    }

    /// The key set as the JSON document that an issuer serves.
    package var jwks: [UInt8] {
        let modulus = Base64URL.encode(pair.modulus)
        let exponent = Base64URL.encode(pair.exponent)
        return Array(
            """
            {"keys":[{"kty":"RSA","kid":"\(keyID)","use":"sig","alg":"RS256","n":"\(modulus)","e":"\(exponent)"}]}
            """.utf8)
    }

    /// The key set, for a verifier in the same process.
    package var keySet: KeySet {
        get throws(KeySetError) { try KeySet(jwks: jwks) }
    }

    /// Returns an identity token for the subject, valid for ten minutes, with the same claims as Apple's.
    ///
    /// - Parameter nonce: The raw nonce; the token contains its SHA-256.
    /// - Returns: Nil if a text contains a NUL character.
    package func identityToken(
        subject: String, audience: String, email: String? = nil, nonce: String? = nil,
        now: UnixSeconds = unixSecondsNow()
    ) -> String? {
        var claims: [(name: String, value: ClaimValue)] = [
            ("iss", .text(issuer)), ("aud", .text(audience)), ("sub", .text(subject)),
            ("iat", .integer(now)), ("exp", .integer(now + 600)), ("auth_time", .integer(now)),
            ("nonce_supported", .bool(true)), ("real_user_status", .integer(2)),
            // Makes each token unique, like Apple's, because a token is accepted only once.
            ("jti", .text(Base64URL.encode(randomBytes(9)))),
        ]
        if let email {
            claims.append(("email", .text(email)))
            claims.append(("email_verified", .text("true")))
            claims.append(("is_private_email", .text("false")))
        }
        if let nonce { claims.append(("nonce", .text(lowercaseHex(sha256(nonce.utf8))))) }
        return sign(claims)
    }

    /// Returns the signed payload of a server-to-server notification (`AppleNotification`) about the subject.
    ///
    /// - Parameter type: For example `consent-revoked` or `account-delete`, without quotation marks and
    ///   backslashes.
    package func notification(
        type: String, subject: String, audience: String, id: String,
        now: UnixSeconds = unixSecondsNow()
    ) -> String? {
        let event = #"{"type":"\#(type)","sub":"\#(subject)","event_time":\#(now * 1000)}"#
        return sign([
            ("iss", .text(issuer)), ("aud", .text(audience)), ("jti", .text(id)),
            ("iat", .integer(now)), ("exp", .integer(now + 86_400)), ("events", .text(event)),
        ])
    }

    func sign(_ claims: [(name: String, value: ClaimValue)]) -> String? {
        libjwtSigned(claims, keyID: keyID, algorithm: .rs256, material: pair.privatePEM)
    }
}
