import CJWT

/// The supported signature algorithms. `none` is not among them.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case hs256 = "HS256"

    /// Creates the algorithm whose name exactly equals the header's bytes; nil for anything else.
    init?(bytes: [UInt8]) {
        guard let found = Self.allCases.first(where: { bytes.elementsEqual($0.rawValue.utf8) })
        else { return nil }
        self = found
    }

    var libjwt: jwt_alg_t {
        switch self {
        case .rs256: JWT_ALG_RS256
        case .es256: JWT_ALG_ES256
        case .hs256: JWT_ALG_HS256
        }
    }
}

/// A key that verifies tokens of exactly one algorithm.
///
/// Binding the key to its algorithm prevents a known attack: an HS256 token signed with the text of an RSA
/// public key as its secret.
package struct VerificationKey: Sendable, Equatable {
    /// The key ID, compared as bytes.
    package let id: [UInt8]
    package let algorithm: TokenAlgorithm
    /// The public key in PEM (SubjectPublicKeyInfo) for RS256 and ES256, or the secret for HS256; never empty.
    let material: [UInt8]

    /// - Returns: Nil for an empty ID or empty material.
    init?(id: [UInt8], algorithm: TokenAlgorithm, material: [UInt8]) {
        guard !id.isEmpty, !material.isEmpty else { return nil }
        self.id = id
        self.algorithm = algorithm
        self.material = material
    }
}
