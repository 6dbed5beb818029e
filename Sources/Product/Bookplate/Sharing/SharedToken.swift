import Basics
import Identity
import Postgres
import Requests

/// The secret in the address of a shared link: 144 bits in 24 characters. The database contains only its hash.
struct SharedToken: Equatable, Unprintable {
    private static let byteCount = 18
    private static let ivBytes = 16

    let text: String

    /// Calculates the token of a link. Only this installation can do that, because it needs the sealing key.
    init(of id: UUID, seed: UUID, keys: SessionKeys) {
        let secret = keys.derive(id.bytes + seed.bytes, for: "shared link")
        text = Base64URL.encode(Array(secret.prefix(Self.byteCount)))
    }

    /// Returns nil for a text that cannot be a token.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.byteCount / 3 * 4, Base64URL.decode(text.utf8) != nil else {
            return nil
        }
        self.text = String(text)
    }

    var hash: [UInt8] { sha256(text.utf8) }

    /// The only parameter of `open_shared_link`.
    var parameters: Parameters {
        var parameters = Parameters()
        parameters.append(bytea: hash)
        return parameters
    }

    // MARK: - References

    /// Encrypts a value that the addresses of this link contain, such as the id of a book, so that it reveals nothing and cannot be chosen
    /// by others. The same value always gives the same text, so browsers can cache a cover by its address.
    ///
    /// The text consists of the initialization vector and the encrypted bytes. The vector is a keyed hash of the value and of the link,
    /// as in RFC 5297: it is different for each value, and it proves that this server has encrypted the value for this link.
    func seal(_ value: [UInt8], for purpose: String, keys: SessionKeys) -> String {
        let iv = iv(of: value, purpose, keys)
        return Base64URL.encode(iv + Self.masked(value, iv, keys))
    }

    /// Returns nil for a text that `seal` has not returned for this link and purpose.
    func open(_ text: some StringProtocol, for purpose: String, keys: SessionKeys) -> [UInt8]? {
        guard text.utf8.count <= 200, let bytes = Base64URL.decode(text.utf8),
            bytes.count > Self.ivBytes
        else { return nil }
        let given = Array(bytes.prefix(Self.ivBytes))
        let value = Self.masked(Array(bytes.dropFirst(Self.ivBytes)), given, keys)
        return constantTimeEqual(given, iv(of: value, purpose, keys)) ? value : nil
    }

    private func iv(of value: [UInt8], _ purpose: String, _ keys: SessionKeys) -> [UInt8] {
        Array(keys.derive(hash + value, for: "shared \(purpose)").prefix(Self.ivBytes))
    }

    /// Encrypts or decrypts bytes with a key stream that the initialization vector determines.
    private static func masked(_ bytes: [UInt8], _ iv: [UInt8], _ keys: SessionKeys) -> [UInt8] {
        var stream: [UInt8] = []
        var block: UInt8 = 0
        while stream.count < bytes.count {
            stream += keys.derive(iv + [block], for: "shared stream")
            block += 1
        }
        return zip(bytes, stream).map { $0 ^ $1 }
    }
}
