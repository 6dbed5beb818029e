import Basics
import Identity
import Postgres

/// The text of a personal access token: `bp_`, 32 characters with 190 random bits, and 6 characters that follow from them.
///
/// Scanners recognize leaked tokens by the prefix and the last characters, without asking the server.
struct PersonalToken: Equatable, Unprintable {
    static let prefix = "bp_"
    static let lastCharactersCount = 4
    private static let secretCount = 32
    private static let checksumCount = 6
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// Greater or equal bytes are discarded, because they would make some characters more frequent than others.
    private static let byteMax = UInt8(256 / 62 * 62)

    let text: String

    private init(secret: [UInt8]) {
        text = Self.prefix + String(decoding: secret + Self.checksum(secret), as: UTF8.self)
    }

    /// Returns nil for a text that cannot be a token.
    init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let secretStart = Self.prefix.utf8.count
        let secretEnd = secretStart + Self.secretCount
        guard bytes.count == secretEnd + Self.checksumCount, Self.isOne(text),
            bytes[secretStart...].allSatisfy(Self.alphabet.contains),
            Self.checksum(Array(bytes[secretStart..<secretEnd])) == Array(bytes[secretEnd...])
        else { return nil }
        self.text = String(text)
    }

    /// Calculates the token with an ID. Only this installation can do that, because it needs the sealing key.
    static func derive(_ id: UUID, of user: UUID, seed: [UInt8], keys: SessionKeys) -> Self {
        var secret: [UInt8] = []
        var block: UInt8 = 0
        while secret.count < secretCount {
            let bytes = keys.derive(
                user.bytes + id.bytes + seed + [block], for: "personal access token")
            secret += bytes.filter { $0 < byteMax }.map { alphabet[Int($0) % alphabet.count] }
            block &+= 1
        }
        return Self(secret: Array(secret.prefix(secretCount)))
    }

    /// Whether a text starts like a token. It need not be valid.
    static func isOne(_ text: some StringProtocol) -> Bool { text.hasPrefix(prefix) }

    private static func checksum(_ secret: [UInt8]) -> [UInt8] {
        var rest = sha256(secret).prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (0..<checksumCount).map { _ in
            defer { rest /= UInt64(alphabet.count) }
            return alphabet[Int(rest % UInt64(alphabet.count))]
        }
    }

    /// The value of `access_tokens.token_hash`.
    var hash: [UInt8] { sha256(text.utf8) }

    /// The value of `access_tokens.kosync_hash`; nil if libcrypto does not provide MD5.
    var kosyncHash: [UInt8]? {
        md5(text.utf8).flatMap { Self.kosyncHash(ofKey: lowercaseHex($0)) }
    }

    /// Returns the hash of the key that KOReader sends: the MD5 of the password in hexadecimal. nil if it is no such key.
    static func kosyncHash(ofKey key: String) -> [UInt8]? {
        guard key.utf8.count == 32, key.utf8.allSatisfy({ Character(.init($0)).isHexDigit })
        else { return nil }
        // The prefix makes these hashes different from those of tokens.
        return sha256(("kosync:" + key.lowercased()).utf8)
    }

    var lastCharacters: Substring { text.suffix(Self.lastCharactersCount) }
}
