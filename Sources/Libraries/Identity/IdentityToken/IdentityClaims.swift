/// The claims of a verified identity token.
package struct IdentityClaims: Sendable, Equatable {
    /// The matching configured issuer, byte for byte.
    package var issuer: String
    /// The user's identifier at that issuer, shared by all apps of one developer team. Compare its UTF-8
    /// bytes: `String` equality also accepts canonically equivalent texts.
    package var subject: String
    /// The matching configured audience.
    package var audience: String
    /// The e-mail address, if the user shared one. Never use it to identify an account.
    package var email: String?
    package var emailVerified: Bool
    /// Whether the address is a relay of the issuer, which stops working when the user revokes the app.
    package var isPrivateEmail: Bool
    package var issuedAt: UnixSeconds
    package var expiresAt: UnixSeconds
    /// The nonce claim, already compared with the client's nonce.
    package var nonce: String?
    /// The SHA-256 of the signed part of the token. Remember it until `expiresAt` to reject a second use.
    ///
    /// The signature is not included, because every ES256 signature has a second valid form.
    package var tokenHash: [UInt8]
}
