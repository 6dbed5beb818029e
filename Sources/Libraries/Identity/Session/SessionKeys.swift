import Basics

/// The secrets of one installation: keys that sign access tokens, and keys that seal secrets at rest.
///
/// Access tokens use HS256, because only the servers that issue them verify them. With libjwt, a check takes
/// 7 µs compared with 319 µs for ES256, and there is no public key that could be misused as a secret. The
/// first signing key signs and all of them verify. Likewise, the first sealing key seals and all of them open.
///
/// The file is text with one line per key, so that an operator can see the keys in use and remove one:
///     sign <id> <creation time, Unix seconds> <32 bytes, base64url>
///     seal <id> <creation time, Unix seconds> <32 bytes, base64url>
package struct SessionKeys: Sendable, Equatable {
    struct SigningKey: Sendable, Equatable {
        var id: String
        var createdAt: UnixSeconds
        var secret: [UInt8]
        var verification: VerificationKey
    }

    struct Sealing: Sendable, Equatable {
        var createdAt: UnixSeconds
        var key: SealingKey
    }

    /// The maximum number of keys of each kind.
    package static let keysMax = 32

    private(set) var signing: [SigningKey]
    private(set) var sealing: [Sealing]

    /// Returns the keys of a new installation: one key of each kind.
    package static func generate(now: UnixSeconds = unixSecondsNow()) -> SessionKeys {
        let sealing = SealingKey(id: randomBytes(SealingKey.idBytes), secret: randomBytes(32))
        // The sizes are valid, so the key is not nil.
        return SessionKeys(
            signing: [.random(now: now)], sealing: [Sealing(createdAt: now, key: sealing!)])
    }

    /// Returns the keys with a new signing key in front, followed by the newest `keeping` of the others.
    ///
    /// An old signing key is needed until the last token that it signed has expired, so keep at least one.
    /// Sealing keys are all kept, because sealed values live for years. Between two rotations every server
    /// must read the new file. A server that has not read it yet rejects tokens of the new key, so read the
    /// file again when `AccessToken.verify` throws `.unknownKey`.
    package func rotated(keeping: Int, now: UnixSeconds = unixSecondsNow()) -> SessionKeys {
        let kept = signing.prefix(min(max(keeping, 0), Self.keysMax - 1))
        return SessionKeys(signing: [.random(now: now)] + kept, sealing: sealing)
    }

    /// The IDs and creation times of the signing keys. The first one signs.
    package var signingKeys: [(id: String, createdAt: UnixSeconds)] {
        signing.map { ($0.id, $0.createdAt) }
    }

    // MARK: Use

    /// The key that signs new tokens.
    var signer: SigningKey { signing[0] }  // every initializer guarantees at least one key

    func verificationKey(id: [UInt8]) -> VerificationKey? {
        signing.first { $0.verification.id == id }?.verification
    }

    /// Encrypts a small secret for storage.
    ///
    /// - Parameter context: Authenticated but not stored, for example the owner's ID. Opening the value
    ///   requires the same context.
    package func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        sealing[0].key.seal(plaintext, context: context)
    }

    /// Decrypts a stored secret.
    ///
    /// - Returns: Nil if the value was damaged, or was sealed for another context or with a key that this
    ///   file does not contain.
    package func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard let id = SealingKey.id(of: sealed),
            let key = sealing.first(where: { $0.key.id == id })?.key
        else { return nil }
        return key.open(sealed, context: context)
    }

    // MARK: The file's text

    /// The contents of the key file.
    package var text: String {
        var lines = [
            "# Bookplate session keys. Secret. New values use the first key of each kind; the others only verify or open."
        ]
        for key in signing {
            lines.append("sign \(key.id) \(key.createdAt) \(Base64URL.encode(key.secret))")
        }
        for key in sealing {
            let id = Base64URL.encode(key.key.id)
            lines.append("seal \(id) \(key.createdAt) \(Base64URL.encode(key.key.secret))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Parses the contents of a key file.
    ///
    /// - Throws: `.malformed` with the line number, counted from 1; `.incomplete` without a key of each kind.
    package init(text: String) throws(SessionKeysError) {
        var signing: [SigningKey] = []
        var sealing: [Sealing] = []
        for (index, line) in text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count == 4,
                let createdAt = Int64(String(decoding: fields[2], as: UTF8.self)),
                let secret = Base64URL.decode(fields[3])
            else { throw .malformed(line: index + 1) }
            let id = String(decoding: fields[1], as: UTF8.self)
            switch String(decoding: fields[0], as: UTF8.self) {
            case "sign":
                guard let key = SigningKey(id: id, createdAt: createdAt, secret: secret),
                    !signing.contains(where: { $0.id == id })
                else { throw .malformed(line: index + 1) }
                signing.append(key)
            case "seal":
                guard let bytes = Base64URL.decode(fields[1]),
                    let key = SealingKey(id: bytes, secret: secret),
                    !sealing.contains(where: { $0.key.id == bytes })
                else { throw .malformed(line: index + 1) }
                sealing.append(Sealing(createdAt: createdAt, key: key))
            default: throw .malformed(line: index + 1)
            }
            guard signing.count <= Self.keysMax, sealing.count <= Self.keysMax else {
                throw .malformed(line: index + 1)
            }
        }
        guard !signing.isEmpty, !sealing.isEmpty else { throw .incomplete }
        self.init(signing: signing, sealing: sealing)
    }

    private init(signing: [SigningKey], sealing: [Sealing]) {
        self.signing = signing
        self.sealing = sealing
    }
}

extension SessionKeys.SigningKey {
    static func random(now: UnixSeconds) -> Self {
        // The ID and the size are valid, so the key is not nil.
        Self(id: Base64URL.encode(randomBytes(6)), createdAt: now, secret: randomBytes(32))!
    }

    /// - Returns: Nil unless the secret has 32 bytes and the ID has 1 to 64 characters of base64url.
    init?(id: String, createdAt: UnixSeconds, secret: [UInt8]) {
        guard secret.count == 32, (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({ Base64URL.decode([$0, $0, $0, $0]) != nil }),
            let key = VerificationKey(id: Array(id.utf8), algorithms: [.hs256], material: secret)
        else { return nil }
        self.id = id
        self.createdAt = createdAt
        self.secret = secret
        verification = key
    }
}
