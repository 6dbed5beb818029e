/// The long-lived token of a session: 32 random bytes. The server stores its hash only, so a stolen database signs nobody in.
///
/// The text starts with `bpr_`, which lets secret scanners and people recognise it.
package struct RefreshToken: Sendable, Equatable {
    private static let prefix = Array("bpr_".utf8)

    private let secret: [UInt8]

    /// A new one.
    package init() {
        secret = randomBytes(32)
    }

    /// Reads what a client sent; nil for anything but the one canonical text of 32 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(48))
        guard bytes.count == 47, bytes.starts(with: Self.prefix),
            let secret = Base64URL.decode(bytes.dropFirst(Self.prefix.count)), secret.count == 32
        else { return nil }
        self.secret = secret
    }

    /// 47 characters for the client.
    package var text: String {
        String(decoding: Self.prefix, as: UTF8.self) + Base64URL.encode(secret)
    }

    /// SHA-256 for the database: 32 bytes. No salt and no slow hash, for the secret has 256 random bits.
    package var hash: [UInt8] { sha256(secret) }

    package static func == (a: RefreshToken, b: RefreshToken) -> Bool {
        constantTimeEqual(a.secret, b.secret)
    }
}
