import Basics
import Identity
import Postgres
import Requests

/// An app of another developer.
package struct OAuthClient: RowDecodable, Unprintable {
    package static let nameCharactersMax = 100
    package static let redirectURIsMax = 10

    let id: UUID
    let name: String
    let redirectURIs: [RedirectURI]
    /// The scopes for which the app may ask.
    let scopes: [AccessScope]
    /// Whether the app may use the device grant.
    let allowsDevice: Bool
    /// Whether the app registered itself.
    let isSelfRegistered: Bool
    /// nil for a public client, which has no secret.
    private let secretHash: [UInt8]?

    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let name = row.text(), let uris = row.texts(),
            let scopes = row.texts()
        else { return nil }
        self.id = id
        self.name = name
        redirectURIs = uris.compactMap { RedirectURI($0) }
        self.scopes = scopes.compactMap { AccessScope(rawValue: $0) }
        allowsDevice = row.bool() == true
        secretHash = row.bytes()
        isSelfRegistered = row.bool() == true
    }

    static let find = TypedStatement<Self>(
        """
        SELECT id, name, redirect_uris, scopes::text[], allows_device, secret_hash,
            is_self_registered
        FROM oauth_clients
        WHERE id = $1 AND tenant_id = $2
        """)

    /// - Parameter secret: The secret that the client has sent; nil or empty if it has sent none.
    func isAuthenticated(by secret: String?) -> Bool {
        guard let secretHash else { return secret?.isEmpty ?? true }
        guard let secret = secret.flatMap({ OAuthSecret($0, .clientSecret) }) else { return false }
        return constantTimeEqual(secret.hash, secretHash)
    }

    /// Returns the redirect URI of a request; nil if the client has not registered it.
    ///
    /// - Parameter text: The URI that the client has sent. Without it, the client's only URI.
    func redirectURI(_ text: String?) -> RedirectURI? {
        guard let text else { return redirectURIs.count == 1 ? redirectURIs[0] : nil }
        guard let uri = RedirectURI(text) else { return nil }
        return redirectURIs.contains { $0.allows(uri) } ? uri : nil
    }

    /// Returns the requested scopes in the order of the enum; all that the client may have if it has sent none.
    ///
    /// - Throws: `.invalidScope`.
    func scopes(_ text: String?) throws(OAuthError) -> [AccessScope] {
        guard let requested = try Self.scopes(text) else { return scopes }
        for scope in requested where !scopes.contains(scope) {
            throw .invalidScope("The app may not ask for the scope \(scope.oauthName).")
        }
        return requested
    }

    /// Reads a list of scopes that are separated by spaces; nil if there are none.
    ///
    /// Unknown scopes are left out, because general clients add scopes such as `offline_access` to each request. The response
    /// names those that remain (RFC 6749, section 3.3).
    ///
    /// - Throws: `.invalidScope` if all scopes are unknown.
    static func scopes(_ text: String?) throws(OAuthError) -> [AccessScope]? {
        let names = Set((text ?? "").split(separator: " "))
        guard !names.isEmpty else { return nil }
        let scopes = AccessScope.allCases.filter { names.contains(Substring($0.oauthName)) }
        guard !scopes.isEmpty else {
            let all = Self.text(of: AccessScope.allCases)
            throw .invalidScope("None of the requested scopes exists. The scopes are: \(all).")
        }
        return scopes
    }

    static func text(of scopes: [AccessScope]) -> String {
        scopes.map(\.oauthName).joined(separator: " ")
    }

    /// Whether a name can be shown to readers: on one line, with a letter or a digit, and without characters that cannot be seen,
    /// change the direction of text, or cover other characters.
    package static func isPresentable(name: String) -> Bool {
        let scalars = name.unicodeScalars
        return (1...nameCharactersMax).contains(scalars.count)
            && name.allSatisfy { $0.unicodeScalars.count <= scalarsPerCharacterMax }
            && scalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil }
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .format, .privateUse,
                    .surrogate,
                    .unassigned:
                    false
                default:
                    !scalar.properties.isBidiControl
                        && !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
                }
            }
    }

    /// Letters of all languages have fewer accents and marks.
    private static let scalarsPerCharacterMax = 6
}
