import Basics
import Postgres

/// The authentication of apps: `client_secret_basic`, `client_secret_post`, and `none` for public clients.
///
/// Spec: RFC 6749, section 2.3
extension OAuthEndpoint.Call {
    /// Returns the client that has sent a form.
    ///
    /// - Throws: `.invalidClient` if the client does not exist in this tenant or has sent a wrong secret.
    func client(_ fields: FormFields) async throws(OAuthError) -> OAuthClient {
        var (id, secret) = (fields["client_id"], fields["client_secret"])
        if let header = request.authorization {
            guard secret == nil else {
                throw .invalidRequest(
                    "Send the client's secret either in the header or in the body.")
            }
            guard let given = Self.basicCredentials(header), id == nil || id == given.id else {
                throw .invalidClient
            }
            (id, secret) = (given.id, given.secret)
        }
        guard let id else { throw .invalidRequest("The parameter client_id is missing.") }
        guard let client = try await client(id: id), client.isAuthenticated(by: secret) else {
            throw .invalidClient
        }
        return client
    }

    /// Returns a client of this tenant; nil if there is none with the ID.
    func client(id: String) async throws(OAuthError) -> OAuthClient? {
        guard let id = UUID(id) else { return nil }
        return try await first(OAuthClient.find, .of(id, tenant.id))
    }

    /// Returns the ID and the secret in a header `Authorization: Basic`.
    private static func basicCredentials(_ header: String) -> (id: String, secret: String)? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024,
            let bytes = Base64URL.decode(
                parts[1].prefix { $0 != "=" }.utf8.map { byte in
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    default: byte
                    }
                }),
            let pair = String(validating: bytes, as: UTF8.self),
            let colon = pair.firstIndex(of: ":")
        else { return nil }
        // IDs and secrets of this server have no characters that clients must encode.
        return (String(pair[..<colon]), String(pair[pair.index(after: colon)...]))
    }
}
