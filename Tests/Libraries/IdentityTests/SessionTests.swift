import Basics
import Foundation
import Testing

@testable import Identity

private let now: UnixSeconds = 1_750_000_000
private let claims = AccessClaims(
    userID: Basics.UUID.version7(), tenantID: Basics.UUID.version7(),
    sessionID: Basics.UUID.version7(), issuedAt: now,
    expiresAt: now + 900)

@Suite struct AccessTokenTests {
    @Test func containsItsClaims() throws {
        let keys = SessionKeys.generate(now: now)
        let token = AccessToken.issue(claims, keys: keys)
        #expect(try AccessToken.verify(token, keys: keys, now: now + 899) == claims)
        #expect(token.utf8.count < AccessToken.bytesMax / 2)
    }

    @Test(arguments: [
        (Int64(900), TokenError.expired(secondsAgo: 0)), (901, .expired(secondsAgo: 1)),
        (-61, .issuedInFuture),
    ])
    func expiresAndIsNotAcceptedEarly(after: Int64, expected: TokenError) {
        let keys = SessionKeys.generate(now: now)
        let token = AccessToken.issue(claims, keys: keys)
        #expect(throws: expected) { try AccessToken.verify(token, keys: keys, now: now + after) }
    }

    @Test func rejectsTokensOfOtherInstallations() {
        let token = AccessToken.issue(claims, keys: .generate())
        #expect(throws: TokenError.self) {
            try AccessToken.verify(token, keys: .generate(), now: now)
        }
    }

    @Test func detectsFlippedBits() {
        let keys = SessionKeys.generate(now: now)
        let good = Array(AccessToken.issue(claims, keys: keys).utf8)
        for index in good.indices {
            var bad = good
            bad[index] ^= 1
            #expect(throws: TokenError.self, "byte \(index)") {
                try AccessToken.verify(String(decoding: bad, as: UTF8.self), keys: keys, now: now)
            }
        }
    }

    @Test(arguments: [
        ("iss", "https://appleid.apple.com", TokenError.issuer("https://appleid.apple.com")),
        ("use", "refresh", .wrongKind), ("sub", "", .claim("sub")), ("sub", "me", .claim("sub")),
        ("tid", "", .claim("tid")), ("sid", "00000000-0000-0000-0000-00000000000g", .claim("sid")),
    ])
    func rejectsInvalidClaimsWithAValidSignature(
        name: String, value: String, expected: TokenError
    ) {
        let keys = SessionKeys.generate(now: now)
        let id = Basics.UUID.version7().description.uppercased()
        var values = [
            ("iss", ClaimValue.text("bookplate")), ("use", .text("access")), ("sub", .text(id)),
            ("tid", .text(id)), ("sid", .text(id)), ("iat", .integer(now)),
            ("exp", .integer(now + 9)),
        ]
        values.removeAll { $0.0 == name }
        values.append((name, .text(value)))
        let token = libjwtSigned(
            values.map { (name: $0.0, value: $0.1) }, keyID: keys.signer.id, algorithm: .hs256,
            material: keys.signer.secret)
        #expect(throws: expected) { try AccessToken.verify(token ?? "", keys: keys, now: now) }
    }

    /// Access tokens and identity tokens are not interchangeable, even if a verifier has the wrong keys.
    @Test func isNotAnIdentityToken() async throws {
        let keys = SessionKeys.generate(now: now)
        let token = AccessToken.issue(claims, keys: keys)
        let confused = IdentityTokenVerifier(
            issuers: ["bookplate"], audiences: ["bookplate"],
            keys: KeySetCache(fixed: KeySet(keys: [keys.signer.verification])),
            algorithms: [.rs256, .es256, .hs256])
        await #expect(throws: TokenError.algorithm("HS256")) {
            try await confused.verify(token, nonce: nil, now: now)
        }
        let issuer = DevelopmentIssuer()
        let identity = try #require(issuer.identityToken(subject: "s", audience: "a", now: now))
        #expect(throws: TokenError.algorithm("RS256")) {
            try AccessToken.verify(identity, keys: keys, now: now)
        }
    }
}

@Suite struct SessionKeysTests {
    @Test func oldTokensRemainValidAfterRotation() throws {
        let first = SessionKeys.generate(now: now)
        let token = AccessToken.issue(claims, keys: first)
        let second = first.rotated(keeping: 1, now: now)
        #expect(second.signingKeys.count == 2)
        #expect(second.signer.id != first.signer.id)
        #expect(try AccessToken.verify(token, keys: second, now: now) == claims)
        let newer = AccessToken.issue(claims, keys: second)
        #expect(throws: TokenError.unknownKey(id: second.signer.id)) {
            try AccessToken.verify(newer, keys: first, now: now)
        }
        let third = second.rotated(keeping: 1, now: now)
        #expect(try AccessToken.verify(newer, keys: third, now: now) == claims)
        #expect(throws: TokenError.unknownKey(id: first.signer.id)) {
            try AccessToken.verify(token, keys: third, now: now)
        }
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 2), (5, 3), (Int.max, 3)])
    func rotationKeepsTheRequestedNumberOfKeys(keeping: Int, expected: Int) {
        let keys = SessionKeys.generate().rotated(keeping: 1).rotated(keeping: keeping)
        #expect(keys.signingKeys.count == expected)
    }

    @Test func fileRemainsReadableAfterManyRotations() throws {
        var keys = SessionKeys.generate()
        for _ in 0..<40 { keys = keys.rotated(keeping: .max) }
        #expect(keys.signingKeys.count == SessionKeys.keysMax)
        #expect(try SessionKeys(text: keys.text) == keys)
    }

    @Test func textCanBeParsedAgain() throws {
        let keys = SessionKeys.generate().rotated(keeping: 3)
        #expect(try SessionKeys(text: keys.text) == keys)
        #expect(
            try SessionKeys(text: "# note\n\n" + keys.text.replacing("sign ", with: "sign  "))
                == keys)
    }

    @Test(arguments: [
        ("sign a 1 \(short)", SessionKeysError.malformed(line: 1)),
        ("sign a 1", .malformed(line: 1)),
        ("sign a x \(secret)", .malformed(line: 1)), ("sign a 1 \(secret)=", .malformed(line: 1)),
        ("sign a/b 1 \(secret)", .malformed(line: 1)), ("sine a 1 \(secret)", .malformed(line: 1)),
        ("sign a 1 \(secret)\nsign a 2 \(secret)", .malformed(line: 2)),
        ("#\n\nseal a 1 \(secret)", .malformed(line: 3)), ("sign a 1 \(secret)", .incomplete),
        ("seal AAAAAAAA 1 \(secret)", .incomplete), ("", .incomplete),
        ("sign a 1 \(secret) x", .malformed(line: 1)),
    ])
    func rejectsMalformedText(text: String, expected: SessionKeysError) {
        #expect(throws: expected) { try SessionKeys(text: text) }
    }

    private static let secret = Base64URL.encode([UInt8](repeating: 7, count: 32))
    private static let short = Base64URL.encode([UInt8](repeating: 7, count: 31))

    @Test func sealedValuesCanBeOpenedAfterRotations() throws {
        let first = SessionKeys.generate()
        let sealed = first.seal(Array("secret".utf8), context: [1])
        let later = try SessionKeys(text: first.rotated(keeping: 0).rotated(keeping: 0).text)
        #expect(later.open(sealed, context: [1]) == Array("secret".utf8))
        #expect(later.open(sealed, context: [2]) == nil)
        #expect(later.open(sealed, context: []) == nil)
        #expect(SessionKeys.generate().open(sealed, context: [1]) == nil)
        #expect(first.seal(Array("secret".utf8), context: [1]) != sealed)
        for index in sealed.indices {
            var bad = sealed
            bad[index] ^= 1
            #expect(later.open(bad, context: [1]) == nil, "byte \(index)")
        }
        for count in 0..<sealed.count {
            #expect(later.open(Array(sealed.prefix(count)), context: [1]) == nil)
        }
        #expect(first.open(first.seal([], context: []), context: []) == [])
    }
}

@Suite struct SessionKeyFileTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: Basics.UUID.version7().description)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "keys").path)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.count <= 1, "temporary files were left behind: \(left)")
    }

    @Test func createsReplacesAndReads() throws {
        try withFolder { path in
            let keys = SessionKeys.generate()
            try keys.create(file: path)
            #expect(try SessionKeys(file: path) == keys)
            var status = stat()
            stat(path, &status)
            #expect(status.st_mode & 0o777 == 0o600)
            let next = keys.rotated(keeping: 1)
            #expect(throws: SessionKeysError.exists) { try next.create(file: path) }
            #expect(try SessionKeys(file: path) == keys)
            try next.replace(file: path)
            #expect(try SessionKeys(file: path) == next)
        }
    }

    /// An operator replaces the keys as root, and the server runs as another user.
    @Test func replacingTheFileKeepsItsOwnerGroupAndPermissions() throws {
        try withFolder { path in
            let keys = SessionKeys.generate()
            try keys.create(file: path)
            chmod(path, 0o640)
            // Only root may give the file to another user.
            if geteuid() == 0 { chown(path, 65534, 65534) }
            var before = stat()
            stat(path, &before)
            try keys.rotated(keeping: 1).replace(file: path)
            var after = stat()
            stat(path, &after)
            #expect(after.st_mode == before.st_mode)
            #expect(after.st_uid == before.st_uid)
            #expect(after.st_gid == before.st_gid)
            #expect(after.st_ino != before.st_ino)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files to another user"))
    func aFileThatRootCreatesBelongsToTheOwnerOfItsFolder() throws {
        try withFolder { path in
            let folder = String(path.dropLast("/keys".count))
            #expect(chown(folder, 65534, 65534) == 0)
            try SessionKeys.generate().create(file: path)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_uid == 65534 && status.st_gid == 65534)
        }
    }

    @Test(arguments: [
        (0o600, true), (0o400, true), (0o440, true), (0o644, false), (0o604, false), (0o602, false),
    ])
    func rejectsAFileThatOtherUsersCanRead(mode: Int, accepted: Bool) throws {
        try withFolder { path in
            try SessionKeys.generate().create(file: path)
            chmod(path, mode_t(mode))
            if accepted {
                #expect(throws: Never.self) { try SessionKeys(file: path) }
            } else {
                #expect(throws: SessionKeysError.readableByOthers) { try SessionKeys(file: path) }
            }
        }
    }

    @Test func reportsErrorsOfTheFile() throws {
        #expect(throws: SessionKeysError.system(errno: ENOENT)) {
            try SessionKeys(file: "/nowhere/keys")
        }
        #expect(throws: SessionKeysError.system(errno: ENOENT)) {
            try SessionKeys.generate().create(file: "/nowhere/keys")
        }
        try withFolder { path in
            let file = try #require(fopen(path, "w"))
            for _ in 0..<70_000 { putc(35, file) }
            fclose(file)
            chmod(path, 0o600)
            #expect(throws: SessionKeysError.tooLong) { try SessionKeys(file: path) }
        }
    }
}

@Suite struct UnprintableTests {
    @Test func secretsAreNotPrinted() {
        let keys = SessionKeys.generate()
        let secret = Base64URL.encode(keys.signer.secret)
        #expect(keys.text.contains(secret))
        for value in [
            keys, AppleTeamKey(teamID: "t", keyID: "k", privateKeyPEM: [1]),
        ] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            let shown = "\(value) \(String(reflecting: value)) \(dumped)"
            #expect(shown.contains("(not shown)"))
            #expect(!shown.contains(secret) && !shown.contains("secret:") && !shown.contains("[1]"))
        }
    }
}

@Suite struct VerifiedTokensTests {
    private func key(_ number: Int) -> [UInt8] { Array("token \(number)".utf8) }

    @Test func keepsTokensUntilTheyExpire() {
        var tokens = VerifiedTokens()
        tokens.insert(claims, for: key(1))
        #expect(tokens.claims(of: key(1), now: now + 899) == claims)
        #expect(tokens.claims(of: key(2), now: now) == nil)
        #expect(tokens.claims(of: key(1), now: now + 900) == nil)
        #expect(tokens.count == 0)
    }

    @Test func limitsItsSizeAndKeepsTokensInUse() {
        var tokens = VerifiedTokens(tokensMax: 100)
        tokens.insert(claims, for: key(0))
        for number in 1..<10_000 {
            tokens.insert(claims, for: key(number))
            #expect(tokens.claims(of: key(0), now: now) == claims)
            #expect(tokens.count <= 100)
        }
        #expect(tokens.claims(of: key(9_999), now: now) == claims)
        #expect(tokens.claims(of: key(9_000), now: now) == nil)
    }
}
