import Basics
import Identity

/// A personal access token, or the access token of an app of another developer, as a client sends it.
package struct TokenCredential: Sendable, Unprintable {
    /// The hash by which the database finds the token; nil if this cannot be a token.
    let hash: [UInt8]?
    /// Whether this is the token of an app of another developer.
    let isOfApp: Bool

    /// Whether a text starts like a token. It need not be valid.
    static func isToken(_ text: some StringProtocol) -> Bool {
        text.hasPrefix(PersonalToken.prefix)
            || text.hasPrefix(OAuthSecret.Kind.accessToken.rawValue)
    }

    /// Reads the header `Authorization`: `Bearer TOKEN`, or `Basic` with any name and the token as the password.
    ///
    /// Returns nil without such a header.
    package init?(authorization: String?) {
        let parts = authorization?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2 else { return nil }
        let value = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": self.init(bearer: value)
        case "basic": self.init(bearer: Self.password(value) ?? "")
        default: return nil
        }
    }

    /// - Parameter bearer: The bearer token of a request.
    package init(bearer: some StringProtocol) {
        let token = OAuthSecret(bearer, .accessToken)
        isOfApp = token != nil
        hash = token?.hash ?? PersonalToken(bearer)?.hash
    }

    /// Reads the headers of KOReader. The name may be any.
    ///
    /// - Parameter key: The MD5 of the token in hexadecimal.
    /// - Returns: nil without one of the headers.
    package init?(koreaderUser user: String?, key: String?) {
        guard let user, !user.isEmpty, let key, !key.isEmpty else { return nil }
        hash = PersonalToken.kosyncHash(ofKey: key)
        isOfApp = false
    }

    /// Returns the password in the value of `Basic`.
    private static func password(_ value: Substring) -> Substring? {
        let text = String(
            value.prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        guard value.utf8.count <= 1024, let bytes = Base64URL.decode(text.utf8) else { return nil }
        let pair = String(decoding: bytes, as: UTF8.self)
        return pair.firstIndex(of: ":").map { pair[pair.index(after: $0)...] }
    }
}
