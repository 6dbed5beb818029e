import Bookplate
import Config
import GraphQL
import GraphQLNIO
import Identity
import NIOCore
import Postgres

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

    /// Returns the routes `POST /development/identity-token` and `GET /development/audiences`.
    func routes(_ tenants: Tenants, database: ConnectionPool) -> [Route] {
        [identityTokenRoute, Self.audiencesRoute(tenants, database)]
    }

    /// The request `{"subject", "audience", "email"?, "nonce"?}` returns `{"identityToken"}`.
    private var identityTokenRoute: Route {
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
                return .text(
                    .badRequest,
                    "Send {\"subject\", \"audience\"} as application/json to localhost.\n")
            }
            return Self.json("identityToken", .string(token))
        }
    }

    /// Returns `{"audiences"}`, the values for `audience` in the order in which the tenants were created.
    private static func audiencesRoute(_ tenants: Tenants, _ database: ConnectionPool) -> Route {
        Route(.GET, "/development/audiences") { request in
            guard isLoopback(request.headers.host) else {
                return .text(.badRequest, "Send the request to localhost.\n")
            }
            do throws(PostgresError) {
                try await tenants.refresh(from: database)
            } catch {
                return .text(.serviceUnavailable, "The database is not available.\n")
            }
            return json("audiences", .list(tenants.audiences.map { .string($0) }))
        }
    }

    /// Returns a response with a JSON object of one member.
    private static func json(_ name: String, _ value: Value) -> HTTPResponse {
        var writer = ResponseWriter()
        writer.write(.object([.init(name, value)]))
        return HTTPResponse(
            .ok, contentType: "application/json; charset=utf-8",
            body: ByteBuffer(bytes: writer.bytes), headers: [("Cache-Control", "no-store")])
    }
}
