/// An issuer of identity tokens for development and tests: its own RSA key, tokens shaped like Apple's.
///
/// It refuses nobody, so it exists only where its issuer is configured; its name is never that of a real issuer, and no verifier
/// has a special path for it: its tokens are checked like all others, against its key set.
package struct DevelopmentIssuer: Sendable {
    package static let defaultIssuer = "https://development.bookplate.invalid"

    package let issuer: String
    package let keyID: String
    private let pair: RSAKeyPair

    /// Makes a key.
    ///
    /// - Parameter issuer: the `iss` of its tokens.
    package init(issuer: String = defaultIssuer) {
        guard let pair = RSAKeyPair.generate() else {
            preconditionFailure("libcrypto cannot make an RSA key")
        }
        self.issuer = issuer
        self.pair = pair
        keyID = Base64URL.encode(Array(sha256(pair.modulus).prefix(6)))
    }

    /// The key set as an issuer serves it.
    package var jwks: [UInt8] {
        let modulus = Base64URL.encode(pair.modulus)
        let exponent = Base64URL.encode(pair.exponent)
        return Array(
            """
            {"keys":[{"kty":"RSA","kid":"\(keyID)","use":"sig","alg":"RS256","n":"\(modulus)","e":"\(exponent)"}]}
            """.utf8)
    }

    /// The key set for a verifier in the same process.
    package var keySet: KeySet {
        get throws(KeySetError) { try KeySet(jwks: jwks) }
    }

    /// An identity token for `subject`, valid for ten minutes, with claims as Apple writes them.
    ///
    /// - Parameter nonce: the raw nonce; the token carries its SHA-256.
    /// - Returns: nil when a text holds a NUL.
    package func identityToken(
        subject: String, audience: String, email: String? = nil, nonce: String? = nil,
        now: UnixSeconds = unixSecondsNow()
    ) -> String? {
        var claims: [(name: String, value: ClaimValue)] = [
            ("iss", .text(issuer)), ("aud", .text(audience)), ("sub", .text(subject)),
            ("iat", .integer(now)), ("exp", .integer(now + 600)), ("auth_time", .integer(now)),
            ("nonce_supported", .bool(true)), ("real_user_status", .integer(2)),
            // Each is another token, as each of Apple's is: it is good once.
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

    /// A server-to-server notification (`AppleNotification`) about `subject`.
    ///
    /// - Parameter type: `consent-revoked`, `account-delete`, ...; no quotation marks or backslashes.
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
