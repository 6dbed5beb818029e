/// The secrets of one installation: keys that sign access tokens and keys that seal secrets at rest.
///
/// HS256, because the servers that issue the tokens are the only ones that verify them: 7 µs a check by libjwt where ES256 takes
/// 319, and no public key that could be taken for a secret. The first signing key signs, all verify; likewise the first
/// sealing key seals and all open.
///
/// The file is text, a line for each key, so that an operator can read which are in use and remove one:
///
///     sign <id> <made at, Unix seconds> <32 bytes, base64url>
///     seal <id> <made at, Unix seconds> <32 bytes, base64url>
package struct SessionKeys: Sendable, Equatable {
    struct SigningKey: Sendable, Equatable {
        var id: String
        var madeAt: UnixSeconds
        var secret: [UInt8]
        var verification: VerificationKey
    }

    struct Sealing: Sendable, Equatable {
        var madeAt: UnixSeconds
        var key: SealingKey
    }

    /// More of a kind are refused: a file that long is no key file.
    package static let keysMax = 32

    private(set) var signing: [SigningKey]
    private(set) var sealing: [Sealing]

    /// A new installation: one key of each kind.
    package static func generate(now: UnixSeconds = unixSecondsNow()) -> SessionKeys {
        let sealing = SealingKey(id: randomBytes(SealingKey.idBytes), secret: randomBytes(32))
        // The sizes are right, so there is a key.
        return SessionKeys(
            signing: [.random(now: now)], sealing: [Sealing(madeAt: now, key: sealing!)])
    }

    /// With a new signing key in front and of the old ones the newest `keeping`.
    ///
    /// An old key is needed until the last token it signed runs out, so keep at least one. Sealing keys all stay, for what
    /// they sealed lives for years. All servers must read the new file before the next rotation; a server that has not read
    /// it yet refuses tokens of the new key, so read it again when `AccessToken.verify` throws `.unknownKey`.
    package func rotated(keeping: Int, now: UnixSeconds = unixSecondsNow()) -> SessionKeys {
        let kept = signing.prefix(min(max(keeping, 0), Self.keysMax - 1))
        return SessionKeys(signing: [.random(now: now)] + kept, sealing: sealing)
    }

    /// Ids of the signing keys with the time each was made, the one that signs first.
    package var signingKeys: [(id: String, madeAt: UnixSeconds)] {
        signing.map { ($0.id, $0.madeAt) }
    }

    // MARK: Use

    /// The key that signs.
    var signer: SigningKey { signing[0] }  // made only with at least one

    func verificationKey(id: [UInt8]) -> VerificationKey? {
        signing.first { $0.verification.id == id }?.verification
    }

    /// Encrypts a small secret for storage.
    ///
    /// - Parameter context: bound to the value, not hidden (the owner's id): it opens with the same one only.
    package func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        sealing[0].key.seal(plaintext, context: context)
    }

    /// - Returns: nil when the value is damaged, or was sealed for another context or by a key that is not here.
    package func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard let id = SealingKey.id(of: sealed),
            let key = sealing.first(where: { $0.key.id == id })?.key
        else { return nil }
        return key.open(sealed, context: context)
    }

    // MARK: Text

    /// The file's text.
    package var text: String {
        var lines = [
            "# Bookplate session keys. Secret. The first key of a kind is in use, the others still verify or open."
        ]
        for key in signing {
            lines.append("sign \(key.id) \(key.madeAt) \(Base64URL.encode(key.secret))")
        }
        for key in sealing {
            let id = Base64URL.encode(key.key.id)
            lines.append("seal \(id) \(key.madeAt) \(Base64URL.encode(key.key.secret))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// - Throws: `.malformed` with the line's number, counted from 1; `.incomplete` without a key of each kind.
    package init(text: String) throws(SessionKeysError) {
        var signing: [SigningKey] = []
        var sealing: [Sealing] = []
        for (index, line) in text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count == 4, let madeAt = Int64(String(decoding: fields[2], as: UTF8.self)),
                let secret = Base64URL.decode(fields[3])
            else { throw .malformed(line: index + 1) }
            let id = String(decoding: fields[1], as: UTF8.self)
            switch String(decoding: fields[0], as: UTF8.self) {
            case "sign":
                guard let key = SigningKey(id: id, madeAt: madeAt, secret: secret),
                    !signing.contains(where: { $0.id == id })
                else { throw .malformed(line: index + 1) }
                signing.append(key)
            case "seal":
                guard let bytes = Base64URL.decode(fields[1]),
                    let key = SealingKey(id: bytes, secret: secret),
                    !sealing.contains(where: { $0.key.id == bytes })
                else { throw .malformed(line: index + 1) }
                sealing.append(Sealing(madeAt: madeAt, key: key))
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
        // The id and the size are right, so there is a key.
        Self(id: Base64URL.encode(randomBytes(6)), madeAt: now, secret: randomBytes(32))!
    }

    /// - Returns: nil unless the secret has 32 bytes and the id 1 to 64 of the base64url alphabet.
    init?(id: String, madeAt: UnixSeconds, secret: [UInt8]) {
        guard secret.count == 32, (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({ Base64URL.decode([$0, $0, $0, $0]) != nil }),
            let key = VerificationKey(id: Array(id.utf8), algorithm: .hs256, material: secret)
        else { return nil }
        self.id = id
        self.madeAt = madeAt
        self.secret = secret
        verification = key
    }
}
