import CJWT

/// The supported signature algorithms. `none` is not among them.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc7518#section-3, https://www.rfc-editor.org/rfc/rfc8037#section-3.1,
/// https://www.rfc-editor.org/rfc/rfc9864#section-2.2
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// The name that RFC 8037 gives to all Edwards curves. Only Ed25519 is supported.
    case edDSA = "EdDSA"
    /// The newer name of the same algorithm.
    case ed25519 = "Ed25519"
    case hs256 = "HS256"

    /// Creates the algorithm whose name exactly equals the header's bytes; nil for anything else.
    init?(bytes: [UInt8]) {
        guard let found = Self.allCases.first(where: { bytes.elementsEqual($0.rawValue.utf8) })
        else { return nil }
        self = found
    }

    /// The algorithms that verify with a public key. HS256 is not among them: its key is a shared secret, so its signature does
    /// not prove who signed.
    package static let publicKey = Set(allCases).subtracting([.hs256])

    /// Nil for algorithms that libcrypto verifies, and libjwt does not support.
    var libjwt: jwt_alg_t? {
        switch self {
        case .rs256: JWT_ALG_RS256
        case .es256: JWT_ALG_ES256
        case .hs256: JWT_ALG_HS256
        default: nil
        }
    }
}

/// A key that verifies tokens of the algorithms of its type.
///
/// Binding the key to its algorithms prevents a known attack: an HS256 token signed with the text of an RSA
/// public key as its secret. A secret has only HS256, and a public key never has it.
package struct VerificationKey: Sendable, Equatable {
    /// The key ID, compared as bytes.
    package let id: [UInt8]
    package let algorithms: Set<TokenAlgorithm>
    /// The public key in PEM (SubjectPublicKeyInfo), or the secret for HS256; never empty.
    let material: [UInt8]

    /// - Returns: Nil for an empty ID, empty material, no algorithm, or HS256 together with another algorithm.
    init?(id: [UInt8], algorithms: Set<TokenAlgorithm>, material: [UInt8]) {
        guard !id.isEmpty, !material.isEmpty, !algorithms.isEmpty,
            algorithms == [.hs256] || algorithms.isSubset(of: TokenAlgorithm.publicKey)
        else { return nil }
        self.id = id
        self.algorithms = algorithms
        self.material = material
    }
}
