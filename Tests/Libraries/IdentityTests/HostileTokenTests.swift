import Basics
import CCrypto
import Testing

@testable import Identity

private let forge = TokenForge.shared

/// A malicious token and the error with which it must be rejected.
struct Attack: Sendable, CustomTestStringConvertible {
    var name: String
    var token: String
    var expected: TokenError

    init(_ name: String, _ token: String, _ expected: TokenError) {
        self.name = name
        self.token = token
        self.expected = expected
    }

    var testDescription: String { name }
}

@Suite struct HostileTokenTests {
    @Test(arguments: noneTokens + confusedTokens + foreignKeyTokens + keyIDTokens)
    func rejectsManipulatedKeys(attack: Attack) async throws {
        try await expectRejection(attack)
    }

    @Test(arguments: badSignatures + badHeaders + badShapes)
    func rejectsManipulatedSignaturesAndShapes(attack: Attack) async throws {
        try await expectRejection(attack)
    }

    private func expectRejection(_ attack: Attack) async throws {
        let verifier = try forge.verifier()
        await #expect(throws: attack.expected) {
            try await verifier.verify(attack.token, nonce: nil, now: TokenForge.now)
        }
        // OpenID providers may use all algorithms with public keys.
        let openID = try forge.verifier(algorithms: TokenAlgorithm.publicKey)
        await #expect(throws: TokenError.self) {
            try await openID.verify(attack.token, nonce: nil, now: TokenForge.now)
        }
        // The token must also be rejected as a notification and as an access token.
        await #expect(throws: TokenError.self) {
            try await verifier.verifyNotification(attack.token, now: TokenForge.now)
        }
        #expect(throws: TokenError.self) {
            try AccessToken.verify(attack.token, keys: .generate(), now: TokenForge.now)
        }
    }

    /// The expected errors come from checks of size and nesting, which run before the signature is verified.
    @Test func rejectsHugeAndDeepTokensBeforeVerification() async throws {
        let verifier = try forge.verifier()
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        let longClaim = "\"" + String(repeating: "a", count: 1 << 20) + "\""
        let tooLong = TokenError.tooLong(bytesMax: CompactToken.bytesMax)
        let attacks = [
            Attack("100,000 dots", String(repeating: ".", count: 100_000), tooLong),
            Attack("16,000 dots", String(repeating: ".", count: 16_000), .malformed),
            Attack("1 MB without dots", String(repeating: "a", count: 1 << 20), tooLong),
            Attack("a claim of 1 MB", forge.rs256(forge.claims([("x", longClaim)])), tooLong),
            Attack("deeply nested claims", forge.rs256(forge.claims([("x", deep)])), .malformed),
            Attack(
                "deeply nested header",
                forge.rs256(header: #"{"alg":"RS256","kid":"rsa","x":\#(deep)}"#, forge.claims()),
                .malformed),
        ]
        for attack in attacks {
            await #expect(throws: attack.expected, "\(attack.name)") {
                try await verifier.verify(attack.token, nonce: nil, now: TokenForge.now)
            }
        }
    }

    @Test func reasonsQuoteNothingSecretFromTheToken() async throws {
        let secret = "person@example.com"
        let token = forge.rs256(
            forge.claims([("email", "\"\(secret)\""), ("sub", "\"\(secret)\""), ("exp", "1")]))
        let error = await #expect(throws: TokenError.self) {
            try await forge.verifier().verify(token, nonce: nil, now: TokenForge.now)
        }
        #expect(error?.reason == "expired 1749999999 s ago")
        #expect(error?.meaning == .unauthenticated)
        let hostile = TokenError.unknownKey(id: loggable("a\u{1B}[31m\n'é".utf8))
        #expect(hostile.reason == "no usable key 'a?[31m????' in the issuer's key set")
    }

    @Test func emptyKeysAreNotCreated() {
        #expect(VerificationKey(id: Array("a".utf8), algorithms: [.hs256], material: []) == nil)
        #expect(VerificationKey(id: [], algorithms: [.hs256], material: [1]) == nil)
        #expect(VerificationKey(id: [1], algorithms: [], material: [1]) == nil)
        #expect(VerificationKey(id: [1], algorithms: [.hs256, .rs256], material: [1]) == nil)
    }

    @Test func keyOfAnotherAlgorithmIsUnknown() throws {
        let token = try CompactToken(
            forge.rs256(header: #"{"alg":"RS256","kid":"ec"}"#, forge.claims()),
            algorithms: [.rs256])
        let key = try #require(try forge.keySet.keys.first { $0.algorithms.contains(.es256) })
        #expect(throws: TokenError.unknownKey(id: "ec")) { try token.claims(verifiedBy: key) }
    }

    /// Demonstrates the attack that `VerificationKey` prevents: libjwt by itself accepts an HS256 token that
    /// is signed with the text of the public key.
    @Test func libjwtAloneAcceptsAConfusedAlgorithm() throws {
        let pem = try #require(try forge.keySet.keys.first { $0.algorithms.contains(.rs256) })
            .material
        let token = forge.hs256(
            header: #"{"alg":"HS256","kid":"rsa"}"#, forge.claims(), secret: pem)
        #expect(libjwtVerifies(token, secret: pem))
        let compact = try CompactToken(token, algorithms: Set(TokenAlgorithm.allCases))
        for key in try forge.keySet.keys {
            #expect(throws: TokenError.unknownKey(id: "rsa")) {
                try compact.claims(verifiedBy: key)
            }
        }
    }
}

private func signed(_ header: String) -> String { forge.rs256(header: header, forge.claims()) }

private let noneTokens: [Attack] =
    ["none", "None", "NONE", "nOnE", "", " none", "none ", "null"].flatMap { name in
        let header = #"{"alg":"\#(name)","kid":"rsa"}"#
        let input = forge.input(header, forge.claims())
        return [
            Attack("alg '\(name)', empty signature", input + ".", .malformed),
            Attack("alg '\(name)', two parts", input, .malformed),
            Attack("alg '\(name)', signed", signed(header), .algorithm(name)),
        ]
    } + [
        Attack("alg missing", signed(#"{"kid":"rsa"}"#), .algorithm("")),
        Attack("alg null", signed(#"{"alg":null,"kid":"rsa"}"#), .algorithm("")),
        Attack("alg a list", signed(#"{"alg":["RS256"],"kid":"rsa"}"#), .algorithm("")),
        Attack("alg in lower case", signed(#"{"alg":"rs256","kid":"rsa"}"#), .algorithm("rs256")),
        Attack("alg twice", signed(#"{"alg":"none","alg":"RS256","kid":"rsa"}"#), .malformed),
        Attack(
            "alg with a look-alike", signed(#"{"alg":"RS256\u0000","kid":"rsa"}"#),
            .algorithm("RS256?")),
    ]

private let confusedTokens: [Attack] = {
    // Everything in the RSA key that an implementation could take for a secret.
    let pem = (try? forge.keySet.keys.first { $0.algorithms.contains(.rs256) }?.material) ?? []
    let withoutNewline = Array(pem.dropLast())
    let body = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
    let secrets: [(String, [UInt8])] = [
        ("PEM", pem), ("PEM without its last newline", withoutNewline),
        ("Base64 body", Array(body.joined().utf8)), ("JWKS text", Array(forge.jwks.utf8)),
        ("modulus", forge.pair.modulus),
        ("modulus text", Array(Base64URL.encode(forge.pair.modulus).utf8)),
        ("empty", []), ("NUL", [0]),
        ("known symmetric key", Array("secretsecretsecretsecretsecretsecret".utf8)),
    ]
    return secrets.flatMap { name, secret in
        ["rsa", "ec", "oct"].map { kid in
            Attack(
                "HS256 with \(name) as secret, kid \(kid)",
                forge.hs256(
                    header: #"{"alg":"HS256","kid":"\#(kid)"}"#, forge.claims(), secret: secret),
                .algorithm("HS256"))
        }
    }
        + [
            "HS384", "HS512", "RS384", "RS512", "ES384", "PS256", "EdDSA", "RSA-OAEP", "dir",
            "A256KW",
        ].map {
            Attack("algorithm \($0)", signed(#"{"alg":"\#($0)","kid":"rsa"}"#), .algorithm($0))
        } + [
            Attack(
                "RS256 by the EC key", signed(#"{"alg":"RS256","kid":"ec"}"#), .unknownKey(id: "ec")
            ),
            Attack(
                "ES256 by the RSA key", signed(#"{"alg":"ES256","kid":"rsa"}"#),
                .unknownKey(id: "rsa")),
            Attack(
                "key for encryption", signed(#"{"alg":"RS256","kid":"enc"}"#),
                .unknownKey(id: "enc")),
        ]
}()

private let foreignKeyTokens: [Attack] = {
    // The attacker's own key, in every header parameter that can contain or locate a key.
    guard let foreign = RSAKeyPair.generate() else { return [] }
    let jwk = #"{"kty":"RSA","kid":"rsa","n":"\#(Base64URL.encode(foreign.modulus))","e":"AQAB"}"#
    let parameters = [
        "\"jwk\":\(jwk)", #""jku":"https://evil.example/keys""#,
        #""x5u":"https://evil.example/cert""#,
        #""x5c":["MIIB"]"#, #""x5t":"abc""#,
    ]
    return parameters.map { parameter in
        let header = #"{"alg":"RS256","kid":"rsa",\#(parameter)}"#
        let input = forge.input(header, forge.claims())
        let signature = sign(Array(input.utf8), pem: foreign.privatePEM, digest: EVP_sha256())
        return Attack(
            "\(parameter.prefix(6))", input + "." + Base64URL.encode(signature), .badSignature)
    }
}()

private let keyIDTokens: [Attack] =
    [
        ("../../dev/null", "../../dev/null"), ("/dev/null", "/dev/null"), ("RSA", "RSA"),
        ("rsa ", "rsa "),
        ("' OR 1=1 --", "? OR 1=1 --"), (#"rsa\u0000"#, "rsa?"), (#"rsa\r\nX: y"#, "rsa??X: y"),
        (#"r\u015ba"#, "r??a"), (#"oct"#, "oct"),
    ].map { kid, shown in
        Attack("kid \(kid)", signed(#"{"alg":"RS256","kid":"\#(kid)"}"#), .unknownKey(id: shown))
    } + [
        Attack("kid missing", signed(#"{"alg":"RS256"}"#), .keyIDMissing),
        Attack("kid empty", signed(#"{"alg":"RS256","kid":""}"#), .keyIDMissing),
        Attack("kid null", signed(#"{"alg":"RS256","kid":null}"#), .keyIDMissing),
        Attack("kid a number", signed(#"{"alg":"RS256","kid":1}"#), .keyIDMissing),
        Attack(
            "kid of 8 KB",
            signed(#"{"alg":"RS256","kid":"\#(String(repeating: "a", count: 8192))"}"#),
            .keyIDMissing),
    ]

private let badSignatures: [Attack] = {
    let ec = #"{"alg":"ES256","kid":"ec"}"#
    let rsa = #"{"alg":"RS256","kid":"rsa"}"#
    let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25,
        0x51,
    ]
    let zero = [UInt8](repeating: 0, count: 32)
    let one = Array(zero.dropLast()) + [1]
    let der = sign(
        Array(forge.input(ec, forge.claims()).utf8), pem: forge.p256.privatePEM,
        digest: EVP_sha256())
    let good = forge.rs256(forge.claims())
    let parts = good.split(separator: ".").map(String.init)
    let evil = Base64URL.encode(Array(forge.claims([("sub", "\"evil\"")]).utf8))
    let raw = Base64URL.decode(parts[2].utf8) ?? []
    let psychic: [(String, [UInt8])] = [
        ("r = s = 0", zero + zero), ("r = s = n", order + order), ("r = s = 1", one + one),
        ("r = 0", zero + one), ("63 bytes", Array((zero + zero).dropLast())),
        ("65 bytes", zero + zero + [0]), ("DER", der), ("1 byte", [0]),
    ]
    return psychic.map { name, bytes in
        Attack(
            "ES256, \(name)", forge.token(header: ec, forge.claims(), signature: bytes),
            .badSignature)
    } + [
        Attack(
            "RS256, zeros",
            forge.token(header: rsa, forge.claims(), signature: [UInt8](repeating: 0, count: 256)),
            .badSignature),
        Attack(
            "RS256, one",
            forge.token(
                header: rsa, forge.claims(), signature: [UInt8](repeating: 0, count: 255) + [1]),
            .badSignature),
        Attack(
            "RS256, short",
            forge.token(header: rsa, forge.claims(), signature: Array(raw.dropLast())),
            .badSignature),
        Attack(
            "RS256, long", forge.token(header: rsa, forge.claims(), signature: raw + [0]),
            .badSignature),
        Attack("RS256 over SHA-1", forge.rs256(forge.claims(), digest: EVP_sha1()), .badSignature),
        Attack(
            "RS256 over SHA-512", forge.rs256(forge.claims(), digest: EVP_sha512()), .badSignature),
        Attack("other claims", "\(parts[0]).\(evil).\(parts[2])", .badSignature),
        Attack(
            "claims of another token",
            parts[0] + "." + parts[1] + "." + Base64URL.encode(Array(raw.reversed())), .badSignature
        ),
    ]
}()

private let badHeaders: [Attack] =
    [
        ("crit", "[]"), ("crit", "[\"exp\"]"), ("crit", "[\"b64\"]"), ("crit", "null"),
        ("b64", "false"),
        ("b64", "true"), ("zip", "\"DEF\""), ("enc", "\"A256GCM\""), ("cty", "\"JWT\""),
        ("p2c", "2147483647"), ("typ", "\"at+jwt\""), ("typ", "\"dpop+jwt\""), ("typ", "1"),
        ("typ", "\"\""),
    ].map { name, value in
        Attack(
            "\(name): \(value)", signed(#"{"alg":"RS256","kid":"rsa","\#(name)":\#(value)}"#),
            .header(name))
    }

private let badShapes: [Attack] = {
    let good = forge.rs256(forge.claims())
    let parts = good.split(separator: ".").map(String.init)
    let payload = "\(parts[0]).\(parts[1])"
    // The character that decodes to the same bytes if spare bits are ignored: 256 bytes leave 4 spare bits.
    let last =
        good.last.flatMap {
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".firstIndex(of: $0)
                .map {
                    Array(
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                                .index(after: $0)...])[0]
                }
        } ?? "B"
    let shapes: [(String, String)] = [
        ("empty", ""), ("dots", ".."), ("one part", parts[0]), ("four parts", good + ".x"),
        ("five parts (JWE)", good + "..x"), ("leading dot", "." + good),
        ("trailing dot", good + "."),
        ("padding", good + "="), ("space before", " " + good), ("newline after", good + "\n"),
        ("NUL after", good + "\u{0}"), ("Bearer", "Bearer " + good),
        ("spare bits set", String(good.dropLast()) + String(last)),
        (
            "standard alphabet",
            payload + "." + parts[2].replacing("-", with: "+").replacing("_", with: "/") + "+/"
        ),
        ("full-width dot", good.replacing(".", with: "\u{FF0E}")),
        ("kelvin sign", good + "\u{212A}"),
        ("claims a list", forge.rs256("[]")), ("claims a string", forge.rs256("\"a\"")),
        ("claims empty", forge.rs256("")), ("claims truncated", forge.rs256("{\"a\":1")),
        ("claims twice", forge.rs256(forge.claims() + forge.claims())),
        ("sub twice", forge.rs256(#"{"sub":"a",\#(forge.claims().dropFirst())"#)),
        ("sub twice by escape", forge.rs256(#"{"s\u0075b":"a",\#(forge.claims().dropFirst())"#)),
        ("leading zero", forge.rs256(forge.claims([("exp", "01750000600")]))),
        ("hexadecimal", forge.rs256(forge.claims([("exp", "0x7fffffff")]))),
        ("NaN", forge.rs256(forge.claims([("exp", "NaN")]))),
        ("Infinity", forge.rs256(forge.claims([("exp", "Infinity")]))),
        ("comment", forge.rs256("/**/" + forge.claims())),
        ("trailing comma", forge.rs256(forge.claims().dropLast() + ",}")),
        ("lone surrogate", forge.rs256(forge.claims([("sub", "\"\\ud800\"")]))),
        ("byte order mark", forge.rs256("\u{FEFF}" + forge.claims())),
        (
            "deep claims",
            forge.rs256(
                forge.claims([
                    ("x", String(repeating: "[", count: 40) + String(repeating: "]", count: 40))
                ]))
        ),
    ]
    let badUTF8 = Base64URL.encode(
        Array(forge.claims().utf8.dropLast()) + [0x2C, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    return shapes.map { Attack($0.0, $0.1, .malformed) } + [
        Attack("not UTF-8", "\(parts[0]).\(badUTF8).\(parts[2])", .malformed),
        Attack(
            "too long", good + String(repeating: "a", count: 16 << 10), .tooLong(bytesMax: 16 << 10)
        ),
    ]
}()
