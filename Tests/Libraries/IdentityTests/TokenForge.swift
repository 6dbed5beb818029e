import Basics
import CCrypto

@testable import Identity

/// Builds valid and invalid tokens from raw bytes with OpenSSL, without the code under test.
struct TokenForge {
    static let issuer = "https://issuer.example"
    static let audience = "com.example.bookplate"
    static let now: UnixSeconds = 1_750_000_000
    static let shared = TokenForge()

    let pair: RSAKeyPair
    let p256: P256Pair

    private init() {
        guard let pair = RSAKeyPair.generate(), let p256 = P256Pair() else {
            preconditionFailure("cannot generate the test keys")
        }
        self.pair = pair
        self.p256 = p256
    }

    var jwks: String {
        """
        {"keys":[
        {"kty":"RSA","kid":"rsa","use":"sig","alg":"RS256","n":"\(Base64URL.encode(pair.modulus))","e":"AQAB"},
        {"kty":"EC","kid":"ec","use":"sig","alg":"ES256","crv":"P-256","x":"\(Base64URL.encode(p256.x))","y":"\(Base64URL.encode(p256.y))"},
        {"kty":"RSA","kid":"enc","use":"enc","n":"\(Base64URL.encode(pair.modulus))","e":"AQAB"},
        {"kty":"oct","kid":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}
        ]}
        """
    }

    var keySet: KeySet {
        get throws { try KeySet(jwks: Array(jwks.utf8)) }
    }

    func verifier(
        algorithms: Set<TokenAlgorithm> = [.rs256, .es256],
        audiences: [String] = [audience, "com.example.watch"]
    ) throws -> IdentityTokenVerifier {
        IdentityTokenVerifier(
            issuers: [Self.issuer, "https://other.example"], audiences: audiences,
            keys: KeySetCache(fixed: try keySet), algorithms: algorithms)
    }

    /// Returns valid claims as a JSON object with the given changes. A nil value removes a claim.
    func claims(_ changes: [(String, String?)] = []) -> String {
        var members = [
            ("iss", "\"\(Self.issuer)\""), ("aud", "\"\(Self.audience)\""), ("sub", "\"001.ab\""),
            ("iat", "\(Self.now - 10)"), ("exp", "\(Self.now + 600)"),
        ]
        for (name, value) in changes {
            members.removeAll { $0.0 == name }
            if let value { members.append((name, value)) }
        }
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    func input(_ header: String, _ payload: String) -> String {
        Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    }

    func rs256(
        header: String = #"{"alg":"RS256","kid":"rsa"}"#, _ payload: String,
        digest: OpaquePointer = EVP_sha256()
    ) -> String {
        let input = input(header, payload)
        let signature = sign(Array(input.utf8), pem: pair.privatePEM, digest: digest)
        return input + "." + Base64URL.encode(signature)
    }

    func hs256(header: String, _ payload: String, secret: [UInt8]) -> String {
        let input = input(header, payload)
        return input + "." + Base64URL.encode(hmacSHA256(key: secret, input.utf8))
    }

    /// Returns a token with arbitrary bytes as its signature.
    func token(header: String, _ payload: String, signature: [UInt8]) -> String {
        input(header, payload) + "." + Base64URL.encode(signature)
    }
}

/// Returns a signature in libcrypto's form. With a salt, an RSA signature is one of PSS.
func sign(
    _ bytes: [UInt8], pem: [UInt8], digest: OpaquePointer?, saltBytes: Int32? = nil
) -> [UInt8] {
    let memory = BIO_new_mem_buf(pem, Int32(pem.count))
    let key = PEM_read_bio_PrivateKey(memory, nil, nil, nil)
    let context = EVP_MD_CTX_new()
    defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
        BIO_free(memory)
    }
    var count = 1024
    var signature = [UInt8](repeating: 0, count: count)
    var keyContext: OpaquePointer?
    EVP_DigestSignInit(context, &keyContext, digest, nil, key)
    if let saltBytes {
        EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING)
        EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, saltBytes)
    }
    EVP_DigestSign(context, &signature, &count, bytes, bytes.count)
    return Array(signature[..<count])
}

struct P256Pair {
    let privatePEM: [UInt8]
    let x: [UInt8]
    let y: [UInt8]

    init?() {
        guard let pair = CurvePair("EC", curve: "prime256v1") else { return nil }
        privatePEM = pair.privatePEM
        x = Array(pair.publicKey[1..<33])
        y = Array(pair.publicKey[33...])
    }
}

/// A key pair of an elliptic curve.
struct CurvePair {
    let privatePEM: [UInt8]
    /// An uncompressed point, or the 32 bytes of Ed25519.
    let publicKey: [UInt8]

    init?(_ type: String, curve: String? = nil) {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            curve.map({ EVP_PKEY_CTX_set_group_name(context, $0) }) ?? 1 == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { return nil }
        defer { EVP_PKEY_free(key) }
        var point = [UInt8](repeating: 0, count: 256)
        var count = 0
        guard EVP_PKEY_get_octet_string_param(key, "pub", &point, point.count, &count) == 1,
            let pem = writtenPEM({ PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) == 1 })
        else { return nil }
        privatePEM = pem
        publicKey = Array(point[..<count])
    }
}

/// Returns the contents of a file in the folder `Fixtures`.
func fixture(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    var bytes: [UInt8] = []
    guard let file = fopen("/\(folder)/Fixtures/\(name)", "r") else { throw KeySetError.malformed }
    defer { fclose(file) }
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return bytes
}
