import Identity

/// The format of the tokens that scanners recognize in published code: a prefix, 32 characters with 190 random bits, and
/// a checksum of 6 characters.
enum TokenFormat {
    static let secretCount = 32
    private static let checksumCount = 6
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// Bytes from here on are discarded, because they would make some characters more frequent than others.
    private static let byteMax = UInt8(256 / 62 * 62)

    /// Converts random bytes to secret characters. Bytes from `byteMax` on are discarded.
    static func characters(_ bytes: [UInt8]) -> [UInt8] {
        bytes.filter { $0 < byteMax }.map { alphabet[Int($0) % alphabet.count] }
    }

    /// - Parameter secret: `secretCount` characters.
    static func text(prefix: String, secret: [UInt8]) -> String {
        prefix + String(decoding: secret + checksum(secret), as: UTF8.self)
    }

    /// Whether a text has the prefix, the length, and the checksum of a token.
    static func isValid(_ text: some StringProtocol, prefix: String) -> Bool {
        let bytes = Array(text.utf8)
        let secretStart = prefix.utf8.count
        let secretEnd = secretStart + secretCount
        return bytes.count == secretEnd + checksumCount && text.hasPrefix(prefix)
            && bytes[secretStart...].allSatisfy(alphabet.contains)
            && checksum(Array(bytes[secretStart..<secretEnd])) == Array(bytes[secretEnd...])
    }

    private static func checksum(_ secret: [UInt8]) -> [UInt8] {
        var rest = sha256(secret).prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (0..<checksumCount).map { _ in
            defer { rest /= UInt64(alphabet.count) }
            return alphabet[Int(rest % UInt64(alphabet.count))]
        }
    }
}
