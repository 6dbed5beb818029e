import Basics
import Identity
import Postgres

/// The text of a personal access token, which starts with `bp_`.
package struct PersonalToken: Equatable, Unprintable {
    static let prefix = "bp_"
    static let lastCharactersCount = 4

    package let text: String

    private init(secret: [UInt8]) {
        text = TokenFormat.text(prefix: Self.prefix, secret: secret)
    }

    /// Returns nil for a text that cannot be a token.
    init?(_ text: some StringProtocol) {
        guard TokenFormat.isValid(text, prefix: Self.prefix) else { return nil }
        self.text = String(text)
    }

    /// Calculates the token with an ID. Only this installation can do that, because it needs the sealing key.
    package static func derive(_ id: UUID, of user: UUID, seed: [UInt8], keys: SessionKeys) -> Self
    {
        var secret: [UInt8] = []
        var block: UInt8 = 0
        while secret.count < TokenFormat.secretCount {
            secret += TokenFormat.characters(
                keys.derive(user.bytes + id.bytes + seed + [block], for: "personal access token"))
            block &+= 1
        }
        return Self(secret: Array(secret.prefix(TokenFormat.secretCount)))
    }

    /// The value of `access_tokens.token_hash`.
    package var hash: [UInt8] { sha256(text.utf8) }

    /// The value of `access_tokens.kosync_hash`; nil if libcrypto does not provide MD5.
    package var kosyncHash: [UInt8]? {
        md5(text.utf8).flatMap { Self.kosyncHash(ofKey: lowercaseHex($0)) }
    }

    /// Returns the hash of the key that KOReader sends: the MD5 of the password in hexadecimal.
    /// Returns nil for any other text.
    static func kosyncHash(ofKey key: String) -> [UInt8]? {
        guard key.utf8.count == 32, key.utf8.allSatisfy({ Character(.init($0)).isHexDigit })
        else { return nil }
        // The prefix makes these hashes different from those of tokens.
        return sha256(("kosync:" + key.lowercased()).utf8)
    }

    package var lastCharacters: Substring { text.suffix(Self.lastCharactersCount) }
}
