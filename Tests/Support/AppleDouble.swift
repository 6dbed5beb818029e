import HTTPFetch
import Identity
import LoopbackHTTP
import Synchronization

/// Apple's token endpoints, played by a real HTTP server that answers as it is told.
package final class AppleDouble: Sendable {
    /// What an exchange gives; the subject whose grant it is, if Apple tells.
    package struct Grant: Sendable {
        package var refreshToken: String
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
            // On the connection's own thread, which it may hold.
            if request.target == "/auth/revoke" { state.value.withLock { $0.onRevoke }?() }
            return state.value.withLock { state in
                if state.isDown { return [.response(503)] }
                let fields = Self.fields(request.body)
                guard request.target == "/auth/token" else { return [.response(200)] }
                // A code is good once.
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

    /// From now on that code is good once.
    package func give(_ code: String, _ grant: Grant) {
        state.value.withLock { $0.grants[code] = grant }
    }

    package var isDown: Bool {
        get { state.value.withLock { $0.isDown } }
        set { state.value.withLock { $0.isDown = newValue } }
    }

    /// Called before a revocation is answered, which waits for it.
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

    /// Values are letters and digits, so nothing is decoded.
    private static func fields(_ body: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in body.split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            fields[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return fields
    }

    /// A key that was made for these tests and signs nothing else.
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6nB43UX4DjKp+44d
        okZCYWN52Wexr4kkiIaUMFeEQLuhRANCAASxa6A4fVtiUWIBbbPEcL877Jo8/7nA
        L+QWCBZJ3yfAY3QJIpEax4ZA+l42WcQxvLSV/LBhIvYzvi7wluZ/ZDr1
        -----END PRIVATE KEY-----
        """
}
