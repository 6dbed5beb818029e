/// What a verified identity token says about a person.
package struct IdentityClaims: Sendable, Equatable {
    /// As configured, byte for byte.
    package var issuer: String
    /// The person at that issuer, for all apps of one developer team. Compare its UTF-8 bytes, not the `String`.
    package var subject: String
    /// Which of the configured audiences the token was made for.
    package var audience: String
    /// Only when the person shared one; never a key to an account.
    package var email: String?
    package var emailVerified: Bool
    /// A relay address of the issuer, which stops working when the person revokes the app.
    package var isPrivateEmail: Bool
    package var issuedAt: UnixSeconds
    package var expiresAt: UnixSeconds
    /// The nonce claim, which has been compared with the client's nonce.
    package var nonce: String?
    /// SHA-256 of what was signed: kept until `expiresAt`, it stops a second use. The signature is left out, for an ES256
    /// signature has a second valid form.
    package var tokenHash: [UInt8]
}
