import Identity
import Postgres

import struct FoundationEssentials.Data

/// The secret with which the messages of a webhook are signed.
///
/// Spec: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme
package struct WebhookSecret: Sendable, Equatable, Unprintable {
    private static let prefix = "whsec_"
    /// The specification requires 24 to 64 bytes.
    private static let bytes = 32

    private let key: [UInt8]

    private init(key: [UInt8]) { self.key = key }

    package static func random() -> WebhookSecret { WebhookSecret(key: randomBytes(bytes)) }

    /// Parses a secret in the form of `text`. Returns nil for any other text.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix),
            let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(key.count)
        else { return nil }
        self.init(key: Array(key))
    }

    /// The form in which a receiver gets the secret: `whsec_` and the key in Base64.
    package var text: String { Self.prefix + Data(key).base64EncodedString() }

    /// Returns the value of the header `webhook-signature`: `v1,` and the HMAC-SHA-256 of id, time, and body in Base64.
    func signature(id: String, timestamp: UnixSeconds, body: [UInt8]) -> String {
        let hash = hmacSHA256(key: key, Array("\(id).\(timestamp).".utf8) + body)
        return "v1,\(Data(hash).base64EncodedString())"
    }

    /// Encrypts the secret for storage.
    package func sealed(for webhook: UUID, _ keys: SessionKeys) -> [UInt8] {
        keys.seal(key, context: Self.context(webhook))
    }

    /// Decrypts a stored secret. Returns nil if the key file does not contain its key.
    init?(sealed: [UInt8], of webhook: UUID, _ keys: SessionKeys) {
        guard let key = keys.open(sealed, context: Self.context(webhook)) else { return nil }
        self.init(key: key)
    }

    private static func context(_ webhook: UUID) -> [UInt8] { Array("webhook \(webhook)".utf8) }
}
