import CJWT

/// The signature algorithms of this server. `none` is not among them, so it cannot be spelled.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case hs256 = "HS256"

    /// An exact match of the header's bytes; nil for all else, `none` in any spelling included.
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

/// A key that verifies tokens of one algorithm. It is made for that algorithm and never used with another, which is what
/// stops an HS256 token "signed" with the text of an RSA public key.
package struct VerificationKey: Sendable, Equatable {
    /// The key id, compared as bytes.
    package let id: [UInt8]
    package let algorithm: TokenAlgorithm
    /// PEM (SubjectPublicKeyInfo) of RS256 and ES256, the secret of HS256; never empty.
    let material: [UInt8]

    /// - Returns: nil for an empty id or empty material.
    init?(id: [UInt8], algorithm: TokenAlgorithm, material: [UInt8]) {
        guard !id.isEmpty, !material.isEmpty else { return nil }
        self.id = id
        self.algorithm = algorithm
        self.material = material
    }
}
