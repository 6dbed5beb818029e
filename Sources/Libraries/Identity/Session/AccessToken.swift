import Basics

/// The identity of a request, from a verified access token. Whether the session still exists is not checked.
package struct AccessClaims: Sendable, Equatable {
    package var userID: UUID
    package var tenantID: UUID
    package var sessionID: UUID
    package var issuedAt: UnixSeconds
    package var expiresAt: UnixSeconds

    package init(
        userID: UUID, tenantID: UUID, sessionID: UUID, issuedAt: UnixSeconds,
        expiresAt: UnixSeconds
    ) {
        self.userID = userID
        self.tenantID = tenantID
        self.sessionID = sessionID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

/// The short-lived bearer token of a session: a compact JWS signed with `SessionKeys`.
///
/// Access tokens and identity tokens cannot be confused: the issuer here is not a URL, the claim `use` is
/// `access`, and algorithms and keys are disjoint. The kind is a claim rather than the header `typ`, because
/// libjwt always writes and expects `typ: JWT`.
package enum AccessToken {
    /// The maximum size. Tokens issued here have about 350 bytes.
    static let bytesMax = 1024
    private static let issuer = "bookplate"

    package static func issue(_ claims: AccessClaims, keys: SessionKeys) -> String {
        let signer = keys.signer
        let token = libjwtSigned(
            [
                ("iss", .text(issuer)), ("use", .text("access")),
                ("sub", .text(claims.userID.description)),
                ("tid", .text(claims.tenantID.description)),
                ("sid", .text(claims.sessionID.description)),
                ("iat", .integer(claims.issuedAt)), ("exp", .integer(claims.expiresAt)),
            ], keyID: signer.id, algorithm: .hs256, material: signer.secret)
        guard let token else {
            // With a 32-byte key and no NUL characters, HMAC signing fails only when out of memory.
            preconditionFailure("libjwt cannot sign with HS256")
        }
        return token
    }

    /// Verifies the signature, kind, and times of a token.
    ///
    /// No clock skew is allowed for the expiry, because this installation's own clock set it.
    package static func verify(
        _ token: String, keys: SessionKeys, now: UnixSeconds
    ) throws(TokenError) -> AccessClaims {
        let compact = try CompactToken(token, algorithms: [.hs256], bytesMax: bytesMax)
        guard let key = keys.verificationKey(id: compact.keyID) else {
            throw .unknownKey(id: loggable(compact.keyID))
        }
        let claims = try compact.claims(verifiedBy: key)
        _ = try claims.issuer(among: [issuer])
        guard claims["use"]?.text == "access" else { throw .wrongKind }
        let times = try claims.times(now: now)
        guard now < times.expiresAt else { throw .expired(secondsAgo: now - times.expiresAt) }
        return AccessClaims(
            userID: try id("sub", in: claims), tenantID: try id("tid", in: claims),
            sessionID: try id("sid", in: claims),
            issuedAt: times.issuedAt, expiresAt: times.expiresAt)
    }

    private static func id(_ name: StaticString, in claims: Claims) throws(TokenError) -> UUID {
        guard let id = UUID(try claims.text(name, bytesMax: 36)) else {
            throw .claim("\(name)")
        }
        return id
    }
}
