import Foundation

/// The values of an `ASAuthorizationAppleIDCredential`.
public struct AppleCredential: Sendable {
    /// The token that the provider has issued.
    public var identityToken: String
    /// The server needs it to revoke the access at Apple when the account is deleted.
    public var authorizationCode: String?
    /// The nonce that the app has passed to the provider.
    public var nonce: String?
    /// Apple provides the name at the first sign-in only.
    public var displayName: String?

    /// Creates a credential.
    public init(
        identityToken: String, authorizationCode: String? = nil, nonce: String? = nil,
        displayName: String? = nil
    ) {
        self.identityToken = identityToken
        self.authorizationCode = authorizationCode
        self.nonce = nonce
        self.displayName = displayName
    }

    var input: JSON {
        var input: [String: JSON] = ["identityToken": .string(identityToken)]
        input["authorizationCode"] = authorizationCode.map(JSON.string)
        input["nonce"] = nonce.map(JSON.string)
        input["displayName"] = displayName.map(JSON.string)
        return ["apple": .object(input)]
    }
}

/// An identity token of an OpenID Connect provider that the operator has added.
public struct OpenIDCredential: Sendable {
    /// The name of the provider, such as `google`.
    public var provider: String
    /// The token that the provider has issued.
    public var identityToken: String
    /// The nonce that the app has passed to the provider.
    public var nonce: String?

    /// Creates a credential.
    public init(provider: String, identityToken: String, nonce: String? = nil) {
        self.provider = provider
        self.identityToken = identityToken
        self.nonce = nonce
    }

    var input: JSON {
        var input: [String: JSON] = [
            "provider": .string(provider), "identityToken": .string(identityToken),
        ]
        input["nonce"] = nonce.map(JSON.string)
        return ["openID": .object(input)]
    }
}

/// The session in the response to a sign-in.
struct SignedIn: Decodable {
    struct User: Decodable {
        let id: String
        let isGuest: Bool
    }

    let accessToken: String
    let accessTokenExpiresAt: Timestamp
    let refreshToken: String
    let user: User

    static let selection =
        "{ accessToken accessTokenExpiresAt refreshToken user { id isGuest } }"

    func stored(mergedGuestID: String? = nil) -> StoredSession {
        StoredSession(
            userID: user.id, isGuest: user.isGuest,
            tokens: StoredSession.Tokens(
                accessToken: accessToken, accessTokenExpiresAt: accessTokenExpiresAt,
                refreshToken: refreshToken),
            mergedGuestID: mergedGuestID)
    }
}
