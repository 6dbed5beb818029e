import Basics
import CCrypto
import Testing

@testable import Identity

private let forge = TokenForge.shared

/// Signs tokens of each algorithm of public keys with OpenSSL.
private struct Signers {
    static let shared = Signers()

    let p384: CurvePair
    let p521: CurvePair
    let edwards: CurvePair

    private init() {
        guard let p384 = CurvePair("EC", curve: "secp384r1"),
            let p521 = CurvePair("EC", curve: "secp521r1"), let edwards = CurvePair("ED25519")
        else { preconditionFailure("cannot generate the test keys") }
        self.p384 = p384
        self.p521 = p521
        self.edwards = edwards
    }

    static let rsaKeyIDs = ["rsa", "rs256", "rs384", "rs512", "ps256", "ps384", "ps512"]
    static let keyIDs = rsaKeyIDs + ["p256", "p384", "p521", "edwards", "ed25519"]

    /// One key per type without `alg`, and RSA keys that are bound to each algorithm.
    var jwks: String {
        let n = Base64URL.encode(forge.pair.modulus)
        let rsa = Self.rsaKeyIDs.map { id in
            let algorithm = id == "rsa" ? "" : #""alg":"\#(id.uppercased())","#
            return #"{"kty":"RSA","kid":"\#(id)",\#(algorithm)"n":"\#(n)","e":"AQAB"}"#
        }
        let curves = [
            ("p256", "P-256", [0x04] + forge.p256.x + forge.p256.y),
            ("p384", "P-384", p384.publicKey),
            ("p521", "P-521", p521.publicKey),
        ].map { id, curve, point in
            let half = (point.count - 1) / 2
            let x = Base64URL.encode(Array(point[1...half]))
            let y = Base64URL.encode(Array(point[(half + 1)...]))
            return
                #"{"kty":"EC","kid":"\#(id)","use":"sig","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"}"#
        }
        let x = Base64URL.encode(edwards.publicKey)
        let edwards = [("edwards", "EdDSA"), ("ed25519", "Ed25519")].map { id, algorithm in
            #"{"kty":"OKP","kid":"\#(id)","alg":"\#(algorithm)","crv":"Ed25519","x":"\#(x)"}"#
        }
        return #"{"keys":[\#((rsa + curves + edwards).joined(separator: ","))]}"#
    }

    func verifier(
        _ algorithms: Set<TokenAlgorithm> = TokenAlgorithm.publicKey
    ) throws -> IdentityTokenVerifier {
        IdentityTokenVerifier(
            issuers: [TokenForge.issuer], audiences: [TokenForge.audience],
            keys: KeySetCache(fixed: try KeySet(jwks: Array(jwks.utf8))), algorithms: algorithms)
    }

    /// Returns a token with a valid signature of the algorithm.
    func token(_ algorithm: TokenAlgorithm, kid: String, claims: String? = nil) -> String {
        let header = #"{"alg":"\#(algorithm.rawValue)","kid":"\#(kid)"}"#
        let input = forge.input(header, claims ?? forge.claims())
        return input + "." + Base64URL.encode(signature(algorithm, Array(input.utf8)))
    }

    private func signature(_ algorithm: TokenAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
        switch algorithm {
        case .rs256: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha256())
        case .rs384: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha384())
        case .rs512: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha512())
        case .ps256: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha256(), saltBytes: 32)
        case .ps384: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha384(), saltBytes: 48)
        case .ps512: sign(bytes, pem: forge.pair.privatePEM, digest: EVP_sha512(), saltBytes: 64)
        case .es256: ecdsa(bytes, forge.p256.privatePEM, EVP_sha256(), bytesEach: 32)
        case .es384: ecdsa(bytes, p384.privatePEM, EVP_sha384(), bytesEach: 48)
        case .es512: ecdsa(bytes, p521.privatePEM, EVP_sha512(), bytesEach: 66)
        case .edDSA, .ed25519: sign(bytes, pem: edwards.privatePEM, digest: nil)
        case .hs256: hmacSHA256(key: forge.pair.modulus, bytes)
        }
    }

    private func ecdsa(
        _ bytes: [UInt8], _ pem: [UInt8], _ digest: OpaquePointer, bytesEach: Int
    ) -> [UInt8] {
        let der = sign(bytes, pem: pem, digest: digest)
        return der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            let pair = d2i_ECDSA_SIG(nil, &start, der.count)
            defer { ECDSA_SIG_free(pair) }
            var numbers = [UInt8](repeating: 0, count: 2 * bytesEach)
            numbers.withUnsafeMutableBufferPointer { numbers in
                _ = BN_bn2binpad(ECDSA_SIG_get0_r(pair), numbers.baseAddress, Int32(bytesEach))
                _ = BN_bn2binpad(
                    ECDSA_SIG_get0_s(pair), numbers.baseAddress?.advanced(by: bytesEach),
                    Int32(bytesEach))
            }
            return numbers
        }
    }

    /// The IDs of the keys that may verify the algorithm.
    static func keyIDs(of algorithm: TokenAlgorithm) -> [String] {
        switch algorithm {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            ["rsa", algorithm.rawValue.lowercased()]
        case .es256: ["p256"]
        case .es384: ["p384"]
        case .es512: ["p521"]
        case .edDSA, .ed25519: ["edwards", "ed25519"]
        case .hs256: []
        }
    }
}

@Suite struct AlgorithmTests {
    /// Each pair of an algorithm and a key: a token verifies only if the key is one of the algorithm.
    @Test(arguments: TokenAlgorithm.allCases)
    func verifiesOnlyWithKeysOfTheAlgorithm(algorithm: TokenAlgorithm) async throws {
        let verifier = try Signers.shared.verifier()
        for kid in Signers.keyIDs {
            let token = Signers.shared.token(algorithm, kid: kid)
            let result = await result(of: token, verifier)
            if Signers.keyIDs(of: algorithm).contains(kid) {
                #expect(result == nil, "\(kid)")
            } else if algorithm == .hs256 {
                #expect(result == .algorithm("HS256"))
            } else {
                #expect(result == .unknownKey(id: kid))
            }
        }
    }

    /// The signature is valid for another algorithm of the same key.
    @Test(arguments: TokenAlgorithm.publicKey)
    func refusesSignaturesOfOtherAlgorithms(algorithm: TokenAlgorithm) async throws {
        let verifier = try Signers.shared.verifier()
        let kid = try #require(Signers.keyIDs(of: algorithm).first)
        let own = Signers.shared.token(algorithm, kid: kid).split(separator: ".")
        for other in TokenAlgorithm.allCases
        where other != algorithm
            && !([.edDSA, .ed25519] as Set).isSuperset(of: [other, algorithm])
        {
            let foreign = Signers.shared.token(other, kid: kid).split(separator: ".")
            let token = "\(own[0]).\(own[1]).\(foreign[2])"
            #expect(await result(of: token, verifier) == .badSignature, "\(other)")
        }
    }

    /// Each changed, missing, or additional byte invalidates the signature.
    @Test(arguments: TokenAlgorithm.publicKey)
    func refusesChangedSignatures(algorithm: TokenAlgorithm) async throws {
        let verifier = try Signers.shared.verifier()
        let kid = try #require(Signers.keyIDs(of: algorithm).first)
        let parts = Signers.shared.token(algorithm, kid: kid).split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        var changed = [
            Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0],
            [0] + signature, [0], [UInt8](repeating: 0, count: signature.count),
            [UInt8](repeating: 0xFF, count: signature.count),
        ]
        for index in signature.indices {
            var one = signature
            one[index] ^= UInt8.random(in: 1...255)
            changed.append(one)
        }
        for bytes in changed {
            let token = "\(parts[0]).\(parts[1]).\(Base64URL.encode(bytes))"
            #expect(await result(of: token, verifier) == .badSignature)
        }
    }

    @Test(arguments: TokenAlgorithm.publicKey)
    func refusesAlgorithmsThatAreNotConfigured(algorithm: TokenAlgorithm) async throws {
        let verifier = try Signers.shared.verifier(
            TokenAlgorithm.publicKey.subtracting([algorithm]))
        for kid in Signers.keyIDs(of: algorithm) {
            let token = Signers.shared.token(algorithm, kid: kid)
            #expect(await result(of: token, verifier) == .algorithm(algorithm.rawValue))
        }
    }

    /// RFC 7518, section 3.5: the salt is as long as the hash.
    @Test func refusesOtherSaltLengths() async throws {
        let verifier = try Signers.shared.verifier()
        let input = forge.input(#"{"alg":"PS256","kid":"rsa"}"#, forge.claims())
        for salt: Int32 in [0, 20, 31, 33] {
            let signature = sign(
                Array(input.utf8), pem: forge.pair.privatePEM, digest: EVP_sha256(),
                saltBytes: salt)
            let token = input + "." + Base64URL.encode(signature)
            #expect(await result(of: token, verifier) == .badSignature)
        }
    }

    /// The attack on `VerificationKey` that a verifier of all algorithms must refuse, too.
    @Test(arguments: ["HS256", "HS384", "HS512", "none", "ES256K", "RS1", "Ed448", "RSA1_5"])
    func neverAllowsOtherAlgorithms(name: String) async throws {
        let verifier = IdentityTokenVerifier(
            issuers: [TokenForge.issuer], audiences: [TokenForge.audience],
            keys: KeySetCache(fixed: try KeySet(jwks: Array(Signers.shared.jwks.utf8))),
            algorithms: Set(TokenAlgorithm.allCases))
        for kid in Signers.keyIDs {
            for key in try KeySet(jwks: Array(Signers.shared.jwks.utf8)).keys {
                let token = forge.hs256(
                    header: #"{"alg":"\#(name)","kid":"\#(kid)"}"#, forge.claims(),
                    secret: key.material)
                #expect(await result(of: token, verifier) == .algorithm(name))
            }
        }
    }

    private func result(of token: String, _ verifier: IdentityTokenVerifier) async -> TokenError? {
        do throws(TokenError) {
            _ = try await verifier.verify(token, nonce: nil, now: TokenForge.now)
            return nil
        } catch { return error }
    }
}

@Suite struct AudienceTests {
    private static let zitadel = #"["other","com.example.bookplate","project"]"#

    /// Tokens of providers that list further audiences, or repeat the client.
    @Test(arguments: [
        (zitadel, "com.example.bookplate" as String?, nil as String?, "com.example.bookplate"),
        (zitadel, "com.example.bookplate", "com.example.bookplate", "com.example.bookplate"),
        (
            #""com.example.bookplate""#, "com.example.bookplate", "com.example.bookplate",
            "com.example.bookplate"
        ),
        (
            #"["com.example.watch","com.example.bookplate"]"#, "com.example.bookplate", nil,
            "com.example.bookplate"
        ),
        // Google's apps have client IDs of their own.
        (#""com.example.bookplate""#, "another-client", nil, "com.example.bookplate"),
    ])
    func acceptsTokensForTheApp(
        aud: String, azp: String?, client: String?, expected: String
    ) async throws {
        let token = forge.rs256(
            forge.claims([
                ("aud", aud), ("azp", azp.map { "\"\($0)\"" }),
                ("client_id", client.map { "\"\($0)\"" }),
            ]))
        let claims = try await forge.verifier().verify(token, nonce: nil, now: TokenForge.now)
        #expect(claims.audience == expected)
    }

    @Test(arguments: [
        (zitadel, nil as String?, nil as String?, TokenError.audience("other")),
        (zitadel, "\"other\"", nil, .audience("other")),
        (zitadel, "\"project\"", "\"com.example.bookplate\"", .audience("other")),
        // A known app that is not an audience of the token.
        (zitadel, "\"com.example.watch\"", nil, .audience("other")),
        (zitadel, "[\"com.example.bookplate\"]", nil, .audience("other")),
        (zitadel, "null", nil, .audience("other")),
        (#"["other","project"]"#, "\"com.example.bookplate\"", nil, .audience("other")),
        (#"["com.example.bookplate",1]"#, "\"com.example.bookplate\"", nil, .claim("aud")),
        (zitadel, "\"com.example.bookplate\"", "\"other\"", .wrongKind),
        (zitadel, "\"com.example.bookplate\"", "\"\"", .wrongKind),
        (zitadel, "\"com.example.bookplate\"", "null", .wrongKind),
        (#""com.example.bookplate""#, "\"another\"", "\"another\"", .wrongKind),
    ])
    func refusesTokensForOthers(
        aud: String, azp: String?, client: String?, expected: TokenError
    ) async throws {
        let token = forge.rs256(
            forge.claims([("aud", aud), ("azp", azp), ("client_id", client)]))
        await #expect(throws: expected) {
            try await forge.verifier().verify(token, nonce: nil, now: TokenForge.now)
        }
    }

    /// RFC 9068: an access token has the client and the scopes.
    /// authentik: an access token is an identity token with `azp` and `uid`.
    @Test(arguments: [
        ["azp", "client_id", "scope"], ["azp", "uid", "scope"], ["azp", "scope"], ["azp", "uid"],
    ])
    func refusesAccessTokensForTheApp(names: [String]) async throws {
        let token = forge.rs256(
            forge.claims(
                names.map {
                    ($0, $0 == "scope" ? "\"openid profile\"" : "\"com.example.bookplate\"")
                }))
        await #expect(throws: TokenError.wrongKind) {
            try await forge.verifier().verify(token, nonce: nil, now: TokenForge.now)
        }
    }

    @Test(arguments: [
        ("\"b\"", ["b"]), ("\"other\"", ["a", "b"]), (nil as String?, ["a", "b"]),
        ("1", ["a", "b"]),
    ])
    func selectsTheAppByTheAuthorizedParty(azp: String?, expected: [String]) {
        let token = forge.rs256(forge.claims([("aud", #"["a","b"]"#), ("azp", azp)]))
        #expect(IdentityTokenVerifier.claimed(by: token).audiences == expected)
    }
}
