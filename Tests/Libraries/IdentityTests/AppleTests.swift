import Glibc
import HTTPFetch
import LoopbackHTTP
import Testing

@testable import Identity

private let forge = TokenForge.shared
private let now: UnixSeconds = 1_750_000_000

@Suite struct AppleClientTests {
    private func client(
        _ server: LoopbackServer, pem: [UInt8] = forge.p256.privatePEM
    ) throws -> AppleClient {
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        return AppleClient(
            fetcher: fetcher,
            key: AppleTeamKey(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem),
            tokenURL: server.url("/auth/token"), revokeURL: server.url("/auth/revoke"))
    }

    private func fields(_ request: ReceivedRequest?) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in (request?.body ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            fields[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return fields
    }

    private func responding(_ status: Int, _ fixtureName: String) throws -> LoopbackServer {
        let body = String(decoding: try fixture(fixtureName), as: UTF8.self)
        return try LoopbackServer { _ in [.response(status, body)] }
    }

    @Test func exchangesAnAuthorizationCode() async throws {
        let server = try responding(200, "token-response-with-id-token.json")
        let tokens = try await client(server).exchange(
            code: "c0de/+", clientID: "com.example.bookplate", now: now)
        #expect(tokens.refreshToken == "refresh_token")
        #expect(tokens.accessToken == "access_token")
        #expect(tokens.identityToken?.hasPrefix("eyJ") == true)

        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/auth/token")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
        let sent = fields(request)
        #expect(sent["grant_type"] == "authorization_code")
        #expect(sent["code"] == "c0de%2F%2B")
        #expect(sent["client_id"] == "com.example.bookplate")

        // The client secret is a short-lived ES256 token that the team issued for this client.
        let secret = try CompactToken(sent["client_secret"] ?? "", algorithms: [.es256])
        #expect(secret.keyID == Array("KEY1234567".utf8))
        let pem = try #require(PublicKeyPEM.ec(.p256, x: forge.p256.x, y: forge.p256.y))
        let key = try #require(
            VerificationKey(id: secret.keyID, algorithms: [.es256], material: pem))
        let claims = try secret.claims(verifiedBy: key)
        #expect(try claims.text("iss") == "TEAM123456")
        #expect(try claims.text("sub") == "com.example.bookplate")
        #expect(try claims.text("aud") == "https://appleid.apple.com")
        #expect(try claims.times(now: now).expiresAt == now + 300)
    }

    @Test func revokesAGrant() async throws {
        let server = try LoopbackServer { _ in [.response(200)] }
        try await client(server).revoke(refreshToken: "r", clientID: "com.example.bookplate")
        let request = try #require(server.requests.first)
        #expect(request.target == "/auth/revoke")
        #expect(fields(request)["token"] == "r")
        #expect(fields(request)["token_type_hint"] == "refresh_token")
    }

    @Test(arguments: [
        (400, "token-error-invalid-grant.json", AppleError.refused(code: "invalid_grant"), false),
        (400, "revoke-error-invalid-client.json", .refused(code: "invalid_client"), false),
        (200, "token-response-bearer.json", .malformedResponse, false),
        (200, "jwks-current.json", .malformedResponse, false),
        (429, "jwks-current.json", .unavailable(status: 429), true),
        (503, "jwks-current.json", .unavailable(status: 503), true),
        (302, "jwks-current.json", .unavailable(status: 302), true),
    ])
    func reportsErrorResponses(
        status: Int, name: String, expected: AppleError, mayRetry: Bool
    ) async throws {
        let server = try responding(status, name)
        let error = await #expect(throws: AppleError.self) {
            try await client(server).exchange(code: "c", clientID: "c", now: now)
        }
        #expect(error == expected)
        #expect(error?.mayRetry == mayRetry)
    }

    @Test func reportsATruncatedResponse() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")]
        }
        await #expect(throws: AppleError.unreachable(.interrupted)) {
            try await client(server).revoke(refreshToken: "r", clientID: "c")
        }
    }

    @Test(arguments: ["", "not PEM", String(decoding: forge.pair.privatePEM, as: UTF8.self)])
    func reportsAnUnusableKey(pem: String) async throws {
        let server = try LoopbackServer { _ in [.response(200)] }
        await #expect(throws: AppleError.unusableKey) {
            try await client(server, pem: Array(pem.utf8)).revoke(refreshToken: "r", clientID: "c")
        }
        #expect(server.requests.isEmpty)
    }
}

@Suite struct AppleNotificationTests {
    private func notification(_ changes: [(String, String?)]) async throws -> AppleNotification {
        let events =
            #""{\"type\":\"email-enabled\",\"sub\":\"001.ab\",\"event_time\":1750000000123}""#
        let token = forge.rs256(
            forge.claims([("sub", nil), ("jti", "\"j1\""), ("events", events)] + changes))
        return try await forge.verifier().verifyNotification(token, now: now)
    }

    @Test(arguments: [
        (
            #"{"type":"consent-revoked","sub":"s","event_time":1}"#,
            AppleNotification.Event.consentRevoked
        ),
        (#"{"type":"account-delete","sub":"s","event_time":1}"#, .accountDeleted),
        (#"{"type":"account-deleted","sub":"s","event_time":1}"#, .accountDeleted),
        (
            #"{"type":"email-enabled","sub":"s","email":"a@b","is_private_email":"true"}"#,
            .emailEnabled(email: "a@b")
        ),
        (#"{"type":"email-disabled","sub":"s"}"#, .emailDisabled(email: nil)),
        (#"{"type":"something-new","sub":"s"}"#, .unknown(type: "something-new")),
    ])
    func parsesEvents(events: String, expected: AppleNotification.Event) async throws {
        let quoted = "\"" + events.replacing("\"", with: "\\\"") + "\""
        for form in [quoted, events] {
            let found = try await notification([("events", form)])
            #expect(found.event == expected)
            #expect(found.subject == "s")
            #expect(found.id == "j1")
            #expect(found.expiresAt == now + 600)
        }
    }

    @Test(arguments: [
        ("events", nil as String?, TokenError.wrongKind), ("events", "\"\"", .claim("events")),
        ("events", "\"[]\"", .claim("events")), ("events", "1", .claim("events")),
        ("events", "{}", .claim("type")), ("events", #"{"type":"consent-revoked"}"#, .claim("sub")),
        ("events", #"{"type":"a","sub":"s","event_time":"1"}"#, .claim("event_time")),
        ("jti", nil, .claim("jti")), ("jti", "\"\"", .claim("jti")), ("jti", "1", .claim("jti")),
        ("aud", "\"com.example.other\"", .audience("com.example.other")),
        ("iss", "\"x\"", .issuer("x")),
        ("exp", "1", .expired(secondsAgo: 1_749_999_999)),
    ])
    func rejectsMalformedNotifications(
        name: String, value: String?, expected: TokenError
    ) async throws {
        await #expect(throws: expected) { try await notification([(name, value)]) }
    }

    @Test(arguments: [
        (#"{"payload":"a.b.c"}"#, "a.b.c"), (#"{"payload":1}"#, nil as String?), ("{}", nil),
        ("", nil),
        ("payload=a", nil), (#"{"payload":"a","payload":"b"}"#, nil),
        (#"{"payload":"\#(String(repeating: "a", count: 40_000))"}"#, nil),
    ])
    func parsesTheBody(body: String, expected: String?) {
        #expect(AppleNotification.payload(ofBody: Array(body.utf8)) == expected)
    }
}

@Suite struct DevelopmentIssuerTests {
    @Test func onlyItsOwnVerifierAcceptsItsTokens() async throws {
        let issuer = DevelopmentIssuer()
        let token = try #require(
            issuer.identityToken(
                subject: "dev-1", audience: "app", email: "a@b.example", nonce: "raw", now: now))
        let verifier = IdentityTokenVerifier(
            issuers: [issuer.issuer], audiences: ["app"],
            keys: KeySetCache(fixed: try KeySet(jwks: issuer.jwks)))
        let claims = try await verifier.verify(token, nonce: "raw", now: now)
        #expect(claims.subject == "dev-1")
        #expect(claims.email == "a@b.example")
        #expect(claims.emailVerified)
        #expect(!claims.isPrivateEmail)

        var apple = verifier
        apple.issuers = IdentityTokenVerifier.appleIssuers
        await #expect(throws: TokenError.issuer(issuer.issuer)) {
            try await apple.verify(token, nonce: "raw", now: now)
        }
        let other = IdentityTokenVerifier(
            issuers: [issuer.issuer], audiences: ["app"],
            keys: KeySetCache(fixed: try DevelopmentIssuer().keySet))
        await #expect(throws: TokenError.self) {
            try await other.verify(token, nonce: "raw", now: now)
        }
    }

    @Test func itsNotificationsAreValid() async throws {
        let issuer = DevelopmentIssuer()
        let payload = try #require(
            issuer.notification(
                type: "account-delete", subject: "dev-1", audience: "app", id: "n1", now: now))
        let verifier = IdentityTokenVerifier(
            issuers: [issuer.issuer], audiences: ["app"],
            keys: KeySetCache(fixed: try issuer.keySet))
        let found = try await verifier.verifyNotification(payload, now: now)
        #expect(found.event == .accountDeleted)
        #expect(found.subject == "dev-1")
        #expect(found.eventMilliseconds == now * 1000)
    }
}

@Suite struct AppleTeamKeyTests {
    private func key(_ bytes: [UInt8]) throws -> AppleTeamKey {
        let path = "/tmp/bookplate-apple-key-\(UInt64.random(in: 0 ... .max)).p8"
        let file = try #require(fopen(path, "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        defer { unlink(path) }
        return try AppleTeamKey(teamID: "TEAM123456", keyID: "KEY1234567", file: path)
    }

    @Test func readsAKeyThatCanSign() throws {
        #expect(try key(forge.p256.privatePEM).privateKeyPEM == forge.p256.privatePEM)
    }

    @Test func refusesOtherFiles() {
        for bytes in [[], Array("not a key".utf8), Array(forge.p256.privatePEM.dropLast(60))] {
            #expect(throws: AppleKeyFileError.malformed) { try key(bytes) }
        }
        #expect(throws: AppleKeyFileError.unreadable(errno: ENOENT)) {
            try AppleTeamKey(teamID: "T", keyID: "K", file: "/nowhere/apple.p8")
        }
    }
}
