import Basics
import Identity

/// A personal access token as a client of another protocol sends it.
package struct TokenCredential: Sendable, Unprintable {
    /// The hash by which the database finds the token; nil if this cannot be a token.
    let hash: [UInt8]?

    /// Reads the header `Authorization`: `Bearer TOKEN`, or `Basic` with any name and the token as the password.
    ///
    /// Returns nil without such a header.
    package init?(authorization: String?) {
        let parts = authorization?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2 else { return nil }
        let value = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": hash = PersonalToken(value)?.hash
        case "basic": hash = Self.password(value).flatMap { PersonalToken($0)?.hash }
        default: return nil
        }
    }

    /// - Parameter bearer: The bearer token of a request.
    init(bearer: String) { hash = PersonalToken(bearer)?.hash }

    /// Reads the headers of KOReader. The name may be any.
    ///
    /// - Parameter key: The MD5 of the token in hexadecimal.
    /// - Returns: nil without one of the headers.
    package init?(koreaderUser user: String?, key: String?) {
        guard let user, !user.isEmpty, let key, !key.isEmpty else { return nil }
        hash = PersonalToken.kosyncHash(ofKey: key)
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
