import HTTPFetch
import Identity
import LoopbackHTTP
import Synchronization

/// A local HTTP server in place of Apple's token endpoints.
///
/// `/auth/token` exchanges an authorization code that the test has added, once. `/auth/revoke` accepts every token.
package final class StubAppleServer: Sendable {
    /// The tokens that the server returns for an authorization code.
    package struct Grant: Sendable {
        package var refreshToken: String
        /// Names the subject that the code belongs to; left out of the response if nil.
        package var identityToken: String?

        package init(refreshToken: String, identityToken: String? = nil) {
            self.refreshToken = refreshToken
            self.identityToken = identityToken
        }
    }

    private struct State {
        var grants: [String: Grant] = [:]
        var isDown = false
        var onRevoke: (@Sendable () -> Void)?
    }

    private let state: SharedState
    package let server: LoopbackServer

    private final class SharedState: Sendable {
        let value = Mutex(State())
    }

    package init() throws {
        let state = SharedState()
        self.state = state
        server = try LoopbackServer { request in
            // Each connection has its own thread, so `onRevoke` may block it.
            if request.target == "/auth/revoke" { state.value.withLock { $0.onRevoke }?() }
            return state.value.withLock { state in
                if state.isDown { return [.response(503)] }
                let fields = Self.fields(request.body)
                guard request.target == "/auth/token" else { return [.response(200)] }
                guard let grant = state.grants.removeValue(forKey: fields["code"] ?? "") else {
                    return [.response(400, #"{"error":"invalid_grant"}"#)]
                }
                let identity = grant.identityToken.map { #","id_token":"\#($0)""# } ?? ""
                return [
                    .response(
                        200,
                        #"{"access_token":"a","refresh_token":"\#(grant.refreshToken)"\#(identity)}"#
                    )
                ]
            }
        }
    }

    /// Makes an authorization code valid for one exchange.
    package func addGrant(_ code: String, _ grant: Grant) {
        state.value.withLock { $0.grants[code] = grant }
    }

    /// While true, the server responds to every request with status 503.
    package var isDown: Bool {
        get { state.value.withLock { $0.isDown } }
        set { state.value.withLock { $0.isDown = newValue } }
    }

    /// Sets a function that the server calls before it responds to a revocation. The response waits for it to return.
    package func onRevoke(_ body: @escaping @Sendable () -> Void) {
        state.value.withLock { $0.onRevoke = body }
    }

    package var revokedTokens: [String] {
        server.requests.filter { $0.target == "/auth/revoke" }
            .compactMap { Self.fields($0.body)["token"] }
    }

    package var exchangedCodes: [String] {
        server.requests.filter { $0.target == "/auth/token" }
            .compactMap { Self.fields($0.body)["code"] }
    }

    package func client() throws -> AppleClient {
        AppleClient(
            fetcher: Fetcher(
                policy: FetchPolicy(
                    userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1"))),
            key: AppleTeamKey(
                teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: Array(Self.key.utf8)),
            tokenURL: server.url("/auth/token"), revokeURL: server.url("/auth/revoke"))
    }

    /// Parses a form body. The values in these tests are letters and digits, so nothing is percent-decoded.
    private static func fields(_ body: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in body.split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            fields[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return fields
    }

    /// A private key that was generated for these tests and is not used anywhere else.
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6nB43UX4DjKp+44d
        okZCYWN52Wexr4kkiIaUMFeEQLuhRANCAASxa6A4fVtiUWIBbbPEcL877Jo8/7nA
        L+QWCBZJ3yfAY3QJIpEax4ZA+l42WcQxvLSV/LBhIvYzvi7wluZ/ZDr1
        -----END PRIVATE KEY-----
        """
}
