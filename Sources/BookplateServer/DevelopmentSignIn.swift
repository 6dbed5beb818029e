import Config
import GraphQL
import Identity
import NIOCore
import Server

/// Identity tokens for development, from an issuer of this process's own.
///
/// It exists only in development and on loopback. Its tokens go through the same verifier as all
/// others; nothing else accepts them.
struct DevelopmentSignIn: Sendable {
    private let tokens: DevelopmentIssuer
    let issuer = DevelopmentIssuer.defaultIssuer

    /// nil unless the server can be reached from this machine only.
    init?(_ configuration: Configuration) {
        guard configuration.environment == .development,
            ["127.0.0.1", "::1", "localhost"].contains(configuration.host)
        else { return nil }
        tokens = DevelopmentIssuer()
    }

    private static func isLoopback(_ host: String?) -> Bool {
        guard let host else { return false }
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name)
    }

    var keySet: KeySetCache {
        get throws { KeySetCache(fixed: try tokens.keySet) }
    }

    /// `POST /development/identity-token` with `{"subject", "audience", "email"?, "nonce"?}` answers `{"identityToken"}`.
    var routes: [Route] {
        [
            Route(.POST, "/development/identity-token", bodyBytesMax: 4096) { request in
                // A page of another origin cannot send this type without asking first, and one whose name
                // was turned to this machine's address still says its own name.
                guard request.headers.contentType == "application/json",
                    Self.isLoopback(request.headers.host),
                    let input = try? parseJSON(Array(request.body.readableBytesView)),
                    let subject = input["subject"]?.string,
                    let audience = input["audience"]?.string,
                    let token = tokens.identityToken(
                        subject: subject, audience: audience, email: input["email"]?.string,
                        nonce: input["nonce"]?.string)
                else {
                    return HTTPResponse(
                        .badRequest, contentType: "text/plain; charset=utf-8",
                        body: ByteBuffer(
                            string: "Send {\"subject\", \"audience\"} as application/json.\n"))
                }
                return HTTPResponse(
                    .ok, contentType: "application/json; charset=utf-8",
                    body: ByteBuffer(string: "{\"identityToken\":\"\(token)\"}"),
                    headers: [("cache-control", "no-store")])
            }
        ]
    }
}
