import Identity

/// A random secret of OAuth. The server stores only its hash.
package struct OAuthSecret: Equatable, Unprintable {
    /// The raw value is the prefix of the text. Refresh tokens have a format of their own, see `RefreshTicket`.
    package enum Kind: String, CaseIterable {
        case accessToken = "bpa_"
        case authorizationCode = "bpc_"
        case deviceCode = "bpd_"
        case clientSecret = "bps_"
    }

    package let text: String

    /// Creates a random secret.
    package init(_ kind: Kind) {
        var secret: [UInt8] = []
        while secret.count < TokenFormat.secretCount {
            secret += TokenFormat.characters(randomBytes(TokenFormat.secretCount))
        }
        text = TokenFormat.text(
            prefix: kind.rawValue, secret: Array(secret.prefix(TokenFormat.secretCount)))
    }

    /// Returns nil for a text that cannot be a secret of this kind.
    package init?(_ text: some StringProtocol, _ kind: Kind) {
        guard TokenFormat.isValid(text, prefix: kind.rawValue) else { return nil }
        self.text = String(text)
    }

    package var hash: [UInt8] { sha256(text.utf8) }

    package var lastCharacters: Substring { text.suffix(PersonalToken.lastCharactersCount) }
}
