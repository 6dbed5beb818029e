import HTTPFetch
import Identity
import LoopbackHTTP
import TestSupport
import Testing

/// Discovery documents that must not be trusted.
@Suite struct DiscoveryTests {
    @Test(arguments: [
        #"{"issuer": "https://other.example", "jwks_uri": "JWKS"}"#, #"{"jwks_uri": "JWKS"}"#,
        #"{"issuer": "ISSUER/", "jwks_uri": "JWKS"}"#, #"{"issuer": "ISSUER"}"#, "[]", "no JSON",
        #"{"issuer": "ISSUER", "jwks_uri": "file:///etc/passwd"}"#,
        #"{"issuer": "ISSUER", "jwks_uri": "http://10.0.0.1/keys"}"#,
    ])
    func documentIsRefused(document: String) async throws {
        let issuer = DevelopmentIssuer()
        let server = try LoopbackServer { request in
            let base = "http://" + (request.headers["host"] ?? "")
            let text = document.replacing("ISSUER", with: base).replacing(
                "JWKS", with: base + "/keys")
            return [
                .response(
                    200,
                    request.target == "/keys" ? String(decoding: issuer.jwks, as: UTF8.self) : text)
            ]
        }
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let cache = KeySetCache(
            .discovery(issuer: server.url("")), fetcher: fetcher, allowsPlainHTTP: true)
        await #expect(throws: TokenError.keysUnavailable) {
            try await cache.key(
                id: Array(issuer.keyID.utf8), algorithm: .rs256, now: unixSecondsNow())
        }
    }
}
