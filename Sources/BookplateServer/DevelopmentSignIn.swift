import Config
import GraphQL
import Identity
import NIOCore
import Server

/// Issues identity tokens for development, from an issuer of this process.
///
/// It exists only in development and on loopback. Its tokens pass through the same verifier as all others, and no other
/// server accepts them.
struct DevelopmentSignIn: Sendable {
    private let tokens: DevelopmentIssuer
    let issuer = DevelopmentIssuer.defaultIssuer

    /// nil unless the server is in development mode and reachable from this machine only.
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

    /// The route `POST /development/identity-token`. The request `{"subject", "audience", "email"?, "nonce"?}` returns
    /// `{"identityToken"}`.
    var routes: [Route] {
        [
            Route(.POST, "/development/identity-token", bodyBytesMax: 4096) { request in
                // A page of another origin cannot send this content type without a CORS preflight. A page whose host
                // name resolves to this machine's address (DNS rebinding) still sends its own host name.
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
                    headers: [("Cache-Control", "no-store")])
            }
        ]
    }
}
