import Basics

/// A well-formed compact JWS. Its contents cannot be trusted until `claims(verifiedBy:)` succeeds.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc7515#section-7.1, https://www.rfc-editor.org/rfc/rfc8725
struct CompactToken {
    /// The maximum size; longer tokens are rejected without parsing. Apple's have about 800 bytes.
    static let bytesMax = 16 << 10

    let text: String
    let algorithm: TokenAlgorithm
    let keyID: [UInt8]
    private let signature: [UInt8]
    private let claims: JSON

    /// The bytes that the signature covers: the encoded header and payload.
    var signingInput: some Collection<UInt8> {
        let lastDot = text.utf8.lastIndex(of: UInt8(ascii: ".")) ?? text.utf8.endIndex
        return text.utf8[..<lastDot]
    }

    /// Parses a token and checks its header.
    ///
    /// The token must have three parts in canonical base64url with strict JSON, an algorithm from
    /// `algorithms`, a key ID, and no header parameter that changes how a token is processed. Parameters
    /// that contain or locate a key (`jwk`, `jku`, `x5c`, `x5u`) are ignored: keys come only from the
    /// configuration.
    init(
        _ token: String, algorithms: Set<TokenAlgorithm>, bytesMax: Int = bytesMax
    ) throws(TokenError) {
        let bytes = Array(token.utf8.prefix(bytesMax + 1))
        guard bytes.count <= bytesMax else { throw .tooLong(bytesMax: bytesMax) }
        let parts = bytes.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty,
            let header = Base64URL.decode(parts[0]).flatMap(JSON.parse),
            // Parsed before libjwt sees the payload, because libjwt's parser recurses without a depth limit.
            let claims = Base64URL.decode(parts[1]).flatMap(JSON.parse),
            let signature = Base64URL.decode(parts[2]),
            case .object(let parameters) = header, case .object = claims
        else { throw .malformed }

        let refused = ["crit", "b64", "zip", "enc", "cty", "epk", "p2c", "p2s"]
        for parameter in parameters {
            let name = String(decoding: parameter.name, as: UTF8.self)
            if refused.contains(name) { throw .header(name) }
        }
        if let type = header["typ"] {
            guard let bytes = type.bytes,
                String(decoding: bytes, as: UTF8.self).uppercased() == "JWT"
            else { throw .header("typ") }
        }
        guard let name = header["alg"]?.bytes else { throw .algorithm("") }
        guard let algorithm = TokenAlgorithm(bytes: name), algorithms.contains(algorithm) else {
            throw .algorithm(loggable(name))
        }
        guard let keyID = header["kid"]?.bytes, (1...256).contains(keyID.count) else {
            throw .keyIDMissing
        }
        self.text = token
        self.algorithm = algorithm
        self.keyID = keyID
        self.signature = signature
        self.claims = claims
    }

    /// Verifies the signature and returns the claims.
    ///
    /// - Throws: `.unknownKey` if the key has another ID or algorithm; `.badSignature`.
    func claims(verifiedBy key: VerificationKey) throws(TokenError) -> Claims {
        guard key.id == keyID, key.algorithms.contains(algorithm) else {
            throw .unknownKey(id: loggable(keyID))
        }
        let isValid =
            algorithm == .hs256
            ? libjwtVerifies(text, secret: key.material)
            : signatureVerifies(
                signature, of: Array(signingInput), algorithm: algorithm, publicKey: key.material)
        guard isValid else { throw .badSignature }
        return Claims(claims)
    }

    /// The issuer and audiences, *unverified*. Use them only to select a verifier.
    ///
    /// If the token names one of its audiences as the client that it was issued to (`azp`), this is the only one.
    var claimed: (issuer: [UInt8]?, audiences: [[UInt8]]) {
        let audiences: [[UInt8]] =
            switch claims["aud"] {
            case .string(let one)?: [one]
            case .array(let several)?: several.compactMap(\.bytes)
            default: []
            }
        if let client = claims["azp"]?.bytes, audiences.contains(client) {
            return (claims["iss"]?.bytes, [client])
        }
        return (claims["iss"]?.bytes, audiences)
    }

    /// The subject, *unverified*.
    var claimedSubject: String? { claims["sub"]?.text }
}
