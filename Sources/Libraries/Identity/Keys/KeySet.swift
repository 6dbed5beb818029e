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
    /// Keys that cannot verify tokens are skipped: symmetric and private keys, a `use` other than `sig`, an `alg` that is not
    /// one of the key's type, unsupported curves, RSA keys below 2048 bits, and keys without `kid`. Keys that share a
    /// `kid` are skipped as well, because the `kid` is ambiguous.
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

    /// Returns the key with exactly this ID that may verify this algorithm.
    package func key(id: [UInt8], algorithm: TokenAlgorithm) -> VerificationKey? {
        keys.first { $0.id == id && $0.algorithms.contains(algorithm) }
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
    var algorithms: Set<TokenAlgorithm>
    let pem: [UInt8]?
    switch jwk["kty"]?.text {
    case "RSA":
        algorithms = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        guard let n = number(jwk["n"]), let e = number(jwk["e"]) else { return nil }
        pem = PublicKeyPEM.rsa(modulus: n, exponent: e)
    case "EC":
        guard let (algorithm, curve) = ecdsa(jwk["crv"]), let x = number(jwk["x"]),
            let y = number(jwk["y"])
        else { return nil }
        algorithms = [algorithm]
        pem = PublicKeyPEM.ec(curve, x: x, y: y)
    case "OKP":
        algorithms = [.edDSA, .ed25519]
        guard jwk["crv"]?.text == "Ed25519", let x = number(jwk["x"]) else { return nil }
        pem = PublicKeyPEM.ed25519(x)
    default:
        return nil
    }
    if let named = jwk["alg"] {
        guard let name = named.bytes, let algorithm = TokenAlgorithm(bytes: name),
            algorithms.contains(algorithm)
        else { return nil }
        // The two names of Ed25519 mean the same, so a provider may use one for the key and the other for tokens.
        if algorithm != .edDSA, algorithm != .ed25519 { algorithms = [algorithm] }
    }
    return pem.flatMap { VerificationKey(id: id, algorithms: algorithms, material: $0) }
}

/// Returns the only algorithm for keys on the curve.
private func ecdsa(_ curve: JSON?) -> (TokenAlgorithm, PublicKeyPEM.Curve)? {
    switch curve?.text {
    case "P-256": (.es256, .p256)
    case "P-384": (.es384, .p384)
    case "P-521": (.es512, .p521)
    default: nil
    }
}

private func number(_ value: JSON?) -> [UInt8]? {
    guard let text = value?.bytes, !text.isEmpty else { return nil }
    return Base64URL.decode(text)
}
