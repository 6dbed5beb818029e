import CCrypto
import CJWT

/// Whether libjwt verifies `token` with `key` under the key's own algorithm.
///
/// libjwt takes a token unchecked when it is given no key, and takes the algorithm from the token. So the key is never empty
/// (`VerificationKey`), the caller has compared the algorithm with the key's before, and it is compared again here after.
func libjwtVerifies(_ token: String, with key: VerificationKey) -> Bool {
    guard !key.material.isEmpty, let count = Int32(exactly: key.material.count) else {
        return false
    }
    var decoded: OpaquePointer?
    let code = jwt_decode(&decoded, token, key.material, count)
    // A failed check leaves its story in the thread's queue of libcrypto.
    ERR_clear_error()
    guard let decoded else { return false }
    defer { jwt_free(decoded) }
    return code == 0 && jwt_get_alg(decoded) == key.algorithm.libjwt
}

/// A claim to sign.
enum ClaimValue {
    case text(String)
    case integer(Int64)
    case bool(Bool)
}

/// Signs `claims` with libjwt: a compact JWS with `alg`, `kid` and `typ` in the header.
///
/// - Parameter material: PEM of the private key, or the secret of HS256.
/// - Returns: nil when the key cannot sign with that algorithm, or a text holds a NUL.
func libjwtSigned(
    _ claims: [(name: String, value: ClaimValue)], keyID: String, algorithm: TokenAlgorithm,
    material: [UInt8]
) -> String? {
    guard !material.isEmpty, let count = Int32(exactly: material.count) else { return nil }
    var token: OpaquePointer?
    guard jwt_new(&token) == 0, let token else { return nil }
    defer { jwt_free(token) }
    guard jwt_set_alg(token, algorithm.libjwt, material, count) == 0,
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
