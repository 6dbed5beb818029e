import FoundationEssentials
import GraphQL
import HTTPFetch
import TestSupport

/// A real OpenID Connect provider on its own port, which is stopped when the object is released. See scripts/oidc/run.
final class OpenIDProvider: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let issuer: String
    private let server: ScriptServer
    private static let fetcher = (try? FetchAllowList(parsing: "127.0.0.1")).map {
        Fetcher(policy: FetchPolicy(userAgent: "test", allowed: $0))
    }

    /// Starts a provider, and waits until it accepts connections. The first start installs it.
    static func start() async throws -> OpenIDProvider {
        OpenIDProvider(try await .start("scripts/oidc/run"))
    }

    private init(_ server: ScriptServer) {
        self.server = server
        issuer = "http://127.0.0.1:\(server.announcement)"
    }

    /// Signs in like an app: requests an authorization code, and exchanges it for an identity token.
    func identityToken(subject: String, clientID: String, nonce: String? = nil) async throws
        -> String
    {
        let redirect = "http://127.0.0.1/callback"
        let query =
            "client_id=\(clientID)&redirect_uri=\(redirect)&response_type=code&scope=openid"
            + (nonce.map { "&nonce=\($0)" } ?? "")
        let authorized = try await post("/oauth2/authorize?" + query, "sub=\(subject)")
        guard let location = authorized.header("location"),
            let code = location.split(separator: "code=").dropFirst().first?.prefix(while: {
                $0 != "&"
            })
        else { throw Failure(description: "no code: \(authorized.status)") }
        let exchanged = try await post(
            "/oauth2/token", "grant_type=authorization_code&code=\(code)&redirect_uri=\(redirect)",
            [("Authorization", "Basic " + Data("\(clientID):secret".utf8).base64EncodedString())])
        guard let token = try parseJSON(exchanged.body)["id_token"]?.string else {
            throw Failure(description: String(decoding: exchanged.body, as: UTF8.self))
        }
        return token
    }

    /// Replaces the key of the provider.
    func rotateKey() async throws { _ = try await post("/rotate", "") }

    private func post(
        _ path: String, _ form: String, _ headers: [(name: String, value: String)] = []
    ) async throws -> FetchResponse {
        guard let fetcher = Self.fetcher else { throw Failure(description: "no fetcher") }
        return try await fetcher.fetch(
            FetchRequest(
                url: issuer + path,
                method: .post(
                    body: Array(form.utf8), contentType: "application/x-www-form-urlencoded"),
                headers: headers, redirectsMax: 0))
    }
}
