import CCrypto
import CJWT

/// Returns whether libjwt verifies the HS256 token with the secret.
///
/// libjwt has two pitfalls: without a key it accepts a token unchecked, and it takes the algorithm from
/// the token. The secret is therefore never empty (`VerificationKey`), the caller compares the token's
/// algorithm with the key's, and this function checks it again after verification.
func libjwtVerifies(_ token: String, secret: [UInt8]) -> Bool {
    guard !secret.isEmpty, let count = Int32(exactly: secret.count) else { return false }
    var decoded: OpaquePointer?
    let code = jwt_decode(&decoded, token, secret, count)
    // A failed check leaves entries in libcrypto's per-thread error queue.
    ERR_clear_error()
    guard let decoded else { return false }
    defer { jwt_free(decoded) }
    return code == 0 && jwt_get_alg(decoded) == JWT_ALG_HS256
}

/// The value of a claim to sign.
enum ClaimValue {
    case text(String)
    case integer(Int64)
    case bool(Bool)
}

/// Signs claims with libjwt and returns a compact JWS with `alg`, `kid`, and `typ` in its header.
///
/// - Parameter material: The private key in PEM, or the secret for HS256.
/// - Returns: Nil if the key cannot sign with that algorithm, or if a text contains a NUL character.
func libjwtSigned(
    _ claims: [(name: String, value: ClaimValue)], keyID: String, algorithm: TokenAlgorithm,
    material: [UInt8]
) -> String? {
    guard !material.isEmpty, let count = Int32(exactly: material.count),
        let algorithm = algorithm.libjwt
    else { return nil }
    var token: OpaquePointer?
    guard jwt_new(&token) == 0, let token else { return nil }
    defer { jwt_free(token) }
    guard jwt_set_alg(token, algorithm, material, count) == 0,
        jwt_add_header(token, "kid", keyID) == 0
    else { return nil }
    for (name, value) in claims {
        let code: Int32 =
            switch value {
            case .text(let text):
                text.utf8.contains(0) ? EINVAL : jwt_add_grant(token, name, text)
            case .integer(let number): jwt_add_grant_int(token, name, Int(number))
            case .bool(let flag): jwt_add_grant_bool(token, name, flag ? 1 : 0)
            }
        guard code == 0 else { return nil }
    }
    let text = jwt_encode_str(token)
    ERR_clear_error()
    guard let text else { return nil }
    defer { free(text) }
    return String(validatingCString: text)
}
