import Basics

/// The verification keys of one issuer.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc7517
package struct KeySet: Sendable, Equatable {
    /// The maximum size of a key set document; larger ones are rejected. Apple's has about 1.5 KB.
    package static let bytesMax = 64 << 10
    /// The maximum number of entries that are read; further ones are ignored.
    static let keysMax = 64

    package let keys: [VerificationKey]

    init(keys: [VerificationKey]) {
        self.keys = keys
    }

    /// Parses a JWK set.
    ///
    /// Keys that cannot verify RS256 or ES256 tokens are skipped: symmetric and private keys, a `use` other
    /// than `sig`, other curves, RSA keys below 2048 bits, and keys without `kid`. Keys that share a `kid`
    /// are skipped as well, because the `kid` is ambiguous.
    ///
    /// - Throws: `.tooLong`; `.malformed` if the document is not strict JSON or has no `keys`;
    ///   `.noUsableKey`.
    package init(jwks bytes: [UInt8]) throws(KeySetError) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        guard let json = JSON.parse(bytes), case .array(let entries)? = json["keys"] else {
            throw .malformed
        }
        var counts: [[UInt8]: Int] = [:]
        for entry in entries.prefix(Self.keysMax) {
            if let id = entry["kid"]?.bytes { counts[id, default: 0] += 1 }
        }
        keys = entries.prefix(Self.keysMax).compactMap { entry in
            guard let id = entry["kid"]?.bytes, counts[id] == 1 else { return nil }
            return verificationKey(entry, id: id)
        }
        guard !keys.isEmpty else { throw .noUsableKey }
    }

    /// Returns the key with exactly this ID and algorithm.
    package func key(id: [UInt8], algorithm: TokenAlgorithm) -> VerificationKey? {
        keys.first { $0.id == id && $0.algorithm == algorithm }
    }
}

/// An error of obtaining a key set.
package enum KeySetError: Error, Equatable, Sendable {
    case tooLong
    case malformed
    case noUsableKey
    /// The discovery document is that of another issuer.
    case wrongIssuer(String)
    /// The request failed or returned a status other than 200; carries the reason for the log.
    case unavailable(String)
}

extension KeySetError: CustomStringConvertible {
    /// A message for logs.
    package var description: String {
        switch self {
        case .tooLong: "the key set is too long"
        case .malformed: "the key set is malformed"
        case .noUsableKey: "the key set has no usable key"
        case .wrongIssuer(let name): "the discovery document is that of the issuer '\(name)'"
        case .unavailable(let reason): reason
        }
    }
}

private func verificationKey(_ jwk: JSON, id: [UInt8]) -> VerificationKey? {
    guard id.count <= 256, jwk["d"] == nil, jwk["k"] == nil else { return nil }
    if let use = jwk["use"], use != .string(Array("sig".utf8)) { return nil }
    if let operations = jwk["key_ops"] {
        guard case .array(let list) = operations, list.contains(.string(Array("verify".utf8)))
        else { return nil }
    }
    let algorithm: TokenAlgorithm
    let pem: [UInt8]?
    switch jwk["kty"]?.text {
    case "RSA":
        algorithm = .rs256
        guard let n = number(jwk["n"]), let e = number(jwk["e"]) else { return nil }
        pem = PublicKeyPEM.rsa(modulus: n, exponent: e)
    case "EC":
        algorithm = .es256
        guard jwk["crv"]?.text == "P-256", let x = number(jwk["x"]), let y = number(jwk["y"])
        else { return nil }
        pem = PublicKeyPEM.p256(x: x, y: y)
    default:
        return nil
    }
    if let named = jwk["alg"], named != .string(Array(algorithm.rawValue.utf8)) { return nil }
    return pem.flatMap { VerificationKey(id: id, algorithm: algorithm, material: $0) }
}

private func number(_ value: JSON?) -> [UInt8]? {
    guard let text = value?.bytes, !text.isEmpty else { return nil }
    return Base64URL.decode(text)
}
