import Testing

@testable import Identity

private let forge = TokenForge.shared

private func verified(
    _ token: String, nonce: String? = nil, now: UnixSeconds = TokenForge.now,
    by verifier: IdentityTokenVerifier? = nil
) async throws -> Result<IdentityClaims, TokenError> {
    let verifier = try verifier ?? forge.verifier()
    do throws(TokenError) {
        return .success(try await verifier.verify(token, nonce: nonce, now: now))
    } catch { return .failure(error) }
}

@Suite struct RealAppleTokenTests {
    private func verifier(_ audience: String) throws -> IdentityTokenVerifier {
        let keys = try KeySet(jwks: fixture("jwks-with-signing-keys-of-the-tokens.json"))
        return IdentityTokenVerifier(
            issuers: IdentityTokenVerifier.appleIssuers, audiences: [audience],
            keys: KeySetCache(fixed: keys))
    }

    private func token(_ name: String) throws -> String {
        String(decoding: try fixture(name), as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined()
    }

    @Test func identityTokenVerifies() async throws {
        let claims = try await verifier("jp.yauth.signin.service2").verify(
            token("id-token-real.jwt"), nonce: nil, now: 1_559_709_300)
        #expect(claims.subject == "000723.25da8be332964991898630947202fef0.0402")
        #expect(claims.issuer == "https://appleid.apple.com")
        #expect(claims.audience == "jp.yauth.signin.service2")
        #expect(claims.expiresAt == 1_559_709_890)
        #expect(claims.issuedAt == 1_559_709_290)
        #expect(claims.email == nil)
        #expect(claims.tokenHash.count == 32)
    }

    @Test(arguments: [
        (
            Int64(1_559_709_890 + 61), nil as String?, "jp.yauth.signin.service2",
            TokenError.expired(secondsAgo: 61)
        ),
        (1_559_709_290 - 61, nil, "jp.yauth.signin.service2", .issuedInFuture),
        (1_559_709_300, "nonce", "jp.yauth.signin.service2", .nonceMissing),
        (1_559_709_300, nil, "com.example.other", .audience("jp.yauth.signin.service2")),
    ])
    func rejectsTheIdentityToken(
        now: Int64, nonce: String?, audience: String, expected: TokenError
    ) async throws {
        let result = try await verified(
            token("id-token-real.jwt"), nonce: nonce, now: now, by: verifier(audience))
        #expect(result == .failure(expected))
    }

    @Test func rejectsATokenWhoseKeyWasRotatedOut() async throws {
        let verifier = IdentityTokenVerifier(
            issuers: IdentityTokenVerifier.appleIssuers, audiences: ["jp.yauth.signin.service2"],
            keys: KeySetCache(fixed: try KeySet(jwks: fixture("jwks-current.json"))))
        let result = try await verified(
            token("id-token-real.jwt"), now: 1_559_709_300, by: verifier)
        #expect(result == .failure(.unknownKey(id: "AIDOPK1")))
    }

    @Test func detectsFlippedBits() async throws {
        let good = Array(try token("id-token-real.jwt").utf8)
        let verifier = try verifier("jp.yauth.signin.service2")
        for index in stride(from: 0, to: good.count, by: 7) {
            var bad = good
            bad[index] ^= 1
            let text = String(decoding: bad, as: UTF8.self)
            let result = try await verified(text, now: 1_559_709_300, by: verifier)
            #expect(throws: TokenError.self, "byte \(index)") { try result.get() }
        }
    }

    @Test func notificationVerifies() async throws {
        let body = #"{"payload":"\#(try token("event-consent-revoked-real.jwt"))"}"#
        let payload = try #require(AppleNotification.payload(ofBody: Array(body.utf8)))
        let verifier = try verifier("jp.yauth.signin.app")
        let found = try await verifier.verifyNotification(payload, now: 1_657_617_100)
        #expect(found.event == .consentRevoked)
        #expect(found.subject == "000768.6166f031167141e695698239959f591a.1521")
        #expect(found.id == "S25cB0PbHs6y97gYYmgydQ")
        #expect(found.eventMilliseconds == 1_657_617_063_012)
        #expect(found.audience == "jp.yauth.signin.app")
        // It is signed with the same keys, but is not an identity token.
        let result = try await verified(payload, now: 1_657_617_100, by: verifier)
        #expect(result == .failure(.wrongKind))
    }

    @Test func identityTokenIsNotANotification() async throws {
        await #expect(throws: TokenError.wrongKind) {
            try await verifier("jp.yauth.signin.service2").verifyNotification(
                token("id-token-real.jwt"), now: 1_559_709_300)
        }
    }
}

@Suite struct IdentityClaimsTests {
    @Test func validTokensVerify() async throws {
        let subject = try await verified(forge.rs256(forge.claims())).get().subject
        #expect(subject == "001.ab")
        let ec = try #require(
            libjwtSigned(
                [
                    ("iss", .text(TokenForge.issuer)), ("aud", .text(TokenForge.audience)),
                    ("sub", .text("s")), ("iat", .integer(TokenForge.now)),
                    ("exp", .integer(TokenForge.now + 5)),
                ], keyID: "ec", algorithm: .es256, material: forge.p256.privatePEM))
        #expect(try await verified(ec).get().subject == "s")
        // The same token is rejected if ES256 is not configured.
        let narrow = try forge.verifier(algorithms: [.rs256])
        #expect(try await verified(ec, by: narrow) == .failure(.algorithm("ES256")))
    }

    @Test(arguments: [
        (#""com.example.watch""#, "com.example.watch"),
        (#"["com.example.bookplate"]"#, "com.example.bookplate"),
        (#"["com.example.watch","com.example.bookplate"]"#, "com.example.watch"),
    ])
    func acceptsAudiences(aud: String, expected: String) async throws {
        let token = forge.rs256(forge.claims([("aud", aud)]))
        #expect(try await verified(token).get().audience == expected)
    }

    @Test(arguments: [
        ("aud", nil as String?, TokenError.claim("aud")), ("aud", "null", .claim("aud")),
        ("aud", "[]", .claim("aud")), ("aud", "{}", .claim("aud")), ("aud", "1", .claim("aud")),
        ("aud", "\"\"", .audience("")),
        ("aud", "\"com.example.other\"", .audience("com.example.other")),
        ("aud", #"["com.example.bookplate","com.example.other"]"#, .audience("com.example.other")),
        ("aud", #"["com.example.bookplate",1]"#, .claim("aud")),
        ("aud", #"[["com.example.bookplate"]]"#, .claim("aud")),
        ("aud", "\"COM.example.bookplate\"", .audience("COM.example.bookplate")),
        ("aud", "\"com.example.bookplate\\u0000\"", .audience("com.example.bookplate?")),
        ("iss", nil, .claim("iss")), ("iss", "1", .claim("iss")),
        ("iss", "\"https://issuer.example/\"", .issuer("https://issuer.example/")),
        ("iss", "\"http://issuer.example\"", .issuer("http://issuer.example")),
        ("iss", #"["https://issuer.example"]"#, .claim("iss")),
        ("sub", nil, .claim("sub")), ("sub", "\"\"", .claim("sub")), ("sub", "1", .claim("sub")),
        ("sub", "\" \"", .claim("sub")), ("sub", "\" \\u3000\\u00a0\"", .claim("sub")),
        ("sub", "null", .claim("sub")), ("sub", "\"a\\nb\"", .claim("sub")),
        ("sub", "\"a\\u0000\"", .claim("sub")),
        ("sub", "\"" + String(repeating: "a", count: 256) + "\"", .claim("sub")),
        ("exp", nil, .claim("exp")), ("exp", "null", .claim("exp")), ("exp", "true", .claim("exp")),
        ("exp", "\"1750000600\"", .claim("exp")), ("exp", "[1750000600]", .claim("exp")),
        ("exp", "1e15", .claim("exp")), ("exp", "10000000000000000", .claim("exp")),
        ("exp", "9223372036854775807", .claim("exp")),
        ("exp", "-9223372036854775808", .claim("exp")),
        ("exp", "1749999940", .expired(secondsAgo: 60)),
        ("exp", "1749999939.9", .expired(secondsAgo: 61)),
        ("exp", "0", .expired(secondsAgo: 1_750_000_000)),
        ("exp", "-1", .expired(secondsAgo: 1_750_000_001)),
        ("iat", nil, .claim("iat")), ("iat", "\"1\"", .claim("iat")),
        ("iat", "1750000061", .issuedInFuture), ("nbf", "1750000061", .notYetValid),
        ("nbf", "\"0\"", .claim("nbf")), ("nonce", "\"abc\"", .nonceUnexpected),
        ("nonce", "1", .claim("nonce")), ("nonce", "null", .claim("nonce")),
        ("events", "\"{}\"", .wrongKind), ("scope", "\"books:read\"", .wrongKind),
        ("scope", "\"\"", .wrongKind), ("scope", "\"myopenid openid2\"", .wrongKind),
        ("scope", "[\"openid\"]", .wrongKind), ("scope", "null", .wrongKind),
        ("scp", "[\"openid\"]", .wrongKind), ("client_id", "\"app\"", .wrongKind),
        // An access token of Zitadel names the app, but not as the authorized party.
        ("client_id", "\"com.example.bookplate\"", .wrongKind),
        ("token_use", "\"access\"", .wrongKind), ("token_use", "null", .wrongKind),
        ("typ", "\"Bearer\"", .wrongKind),
    ])
    func rejectsInvalidClaims(name: String, value: String?, expected: TokenError) async throws {
        let token = forge.rs256(forge.claims([(name, value)]))
        #expect(try await verified(token) == .failure(expected))
    }

    @Test(arguments: [
        ("token_use", "\"id\""), ("typ", "\"ID\""), ("azp", "\"another-client\""),
        ("scope", "\"openid\""), ("scope", "\"openid profile\""), ("scope", "\"email openid\""),
    ])
    func acceptsClaimsOfIdentityTokens(name: String, value: String) async throws {
        let token = forge.rs256(forge.claims([(name, value)]))
        #expect(try await verified(token).get().subject == "001.ab")
    }

    @Test(arguments: ["1e400", "-1e400", "1e19", "10000000000000000000", "1E+999999999"])
    func rejectsTimesOutOfRange(value: String) async throws {
        for name in ["exp", "iat", "nbf"] {
            let result = try await verified(forge.rs256(forge.claims([(name, value)])))
            let error = #expect(throws: TokenError.self) { try result.get() }
            #expect(error == .claim(name))
        }
    }

    @Test(arguments: [
        ("exp", "1749999941"), ("exp", "1749999940.5"), ("exp", "1.7500006e9"),
        ("iat", "1750000060"),
        ("iat", "0"), ("nbf", "1750000060"),
    ])
    func allowsForClockSkewAndFractions(name: String, value: String) async throws {
        // 1749999940.5 is rounded down to 1749999940 and therefore expired; the others are accepted.
        let result = try await verified(forge.rs256(forge.claims([(name, value)])))
        if value == "1749999940.5" {
            #expect(result == .failure(.expired(secondsAgo: 60)))
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test func rejectsTokensAboveTheMaximumAge() async throws {
        var verifier = try forge.verifier()
        verifier.ageSecondsMax = 300
        let token = forge.rs256(forge.claims([("iat", "\(TokenForge.now - 361)")]))
        #expect(try await verified(token, by: verifier) == .failure(.tooOld(secondsMax: 300)))
    }

    @Test(arguments: [
        ("true", true), ("\"true\"", true), ("false", false), ("\"false\"", false), ("1", false),
        ("\"TRUE\"", false), ("null", false), ("\"\"", false),
    ])
    func parsesFlagsAsBooleansOrStrings(value: String, expected: Bool) async throws {
        let token = forge.rs256(
            forge.claims([
                ("email", "\"a@b.example\""), ("email_verified", value),
                ("is_private_email", value),
            ]))
        let claims = try await verified(token).get()
        #expect(claims.email == "a@b.example")
        #expect(claims.emailVerified == expected)
        #expect(claims.isPrivateEmail == expected)
    }

    @Test(arguments: ["1", "\"a\\u0001b\"", "\"\"", "[\"a@b\"]"])
    func ignoresInvalidEmails(value: String) async throws {
        let token = forge.rs256(forge.claims([("email", value), ("email_verified", "true")]))
        let claims = try await verified(token).get()
        #expect(claims.email == nil)
        #expect(!claims.emailVerified)
    }

    @Test func distinguishesCanonicallyEquivalentSubjects() async throws {
        let one = try await verified(forge.rs256(forge.claims([("sub", "\"\\u00e9\"")]))).get()
        let two = try await verified(forge.rs256(forge.claims([("sub", "\"e\\u0301\"")]))).get()
        #expect(Array(one.subject.utf8) != Array(two.subject.utf8))
    }

    @Test func returnsUnverifiedClaimsOfAToken() {
        let token = forge.rs256(forge.claims([("aud", #"["a","b"]"#)]))
        let claimed = IdentityTokenVerifier.claimed(by: token)
        #expect(claimed.issuer == TokenForge.issuer)
        #expect(claimed.audiences == ["a", "b"])
        #expect(IdentityTokenVerifier.claimed(by: "a.b.c").issuer == nil)
    }
}

private let hashOfRaw = lowercaseHex(sha256("raw".utf8))

@Suite struct NonceTests {
    @Test(arguments: [
        ("raw" as String?, hashOfRaw as String?, nil as TokenError?),
        ("raw", hashOfRaw.uppercased(), .nonceMismatch),
        ("raw", "raw", .nonceMismatch), ("other", hashOfRaw, .nonceMismatch),
        (hashOfRaw, hashOfRaw, .nonceMismatch), ("", hashOfRaw, .nonceMismatch),
        ("raw", String(hashOfRaw.dropLast()), .nonceMismatch), (nil, hashOfRaw, .nonceUnexpected),
        ("raw", nil, .nonceMissing), (nil, nil, nil), ("raw", "", .claim("nonce")),
    ])
    func comparesHashOfNonce(given: String?, claim: String?, expected: TokenError?) async throws {
        let token = forge.rs256(forge.claims([("nonce", claim.map { "\"\($0)\"" })]))
        let result = try await verified(token, nonce: given)
        if let expected {
            #expect(result == .failure(expected))
        } else {
            #expect(try result.get().nonce == claim)
        }
    }

    @Test func acceptsPlainNonceOnlyIfConfigured() async throws {
        var verifier = try forge.verifier()
        verifier.acceptsPlainNonce = true
        let token = forge.rs256(forge.claims([("nonce", "\"raw\"")]))
        #expect(try await verified(token, nonce: "raw", by: verifier).get().nonce == "raw")
        #expect(try await verified(token, nonce: "other", by: verifier) == .failure(.nonceMismatch))
    }

    @Test(arguments: [
        ("false" as String?, nil as TokenError?), ("true", .nonceMissing), (nil, .nonceMissing),
        ("\"false\"", .nonceMissing),
    ])
    func acceptsAMissingNonceOnlyIfUnsupported(
        supported: String?, expected: TokenError?
    ) async throws {
        let token = forge.rs256(forge.claims([("nonce_supported", supported)]))
        let result = try await verified(token, nonce: "raw")
        if let expected {
            #expect(result == .failure(expected))
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
    }
}
