import HTTPFetch

/// An error of Apple's token endpoints.
package enum AppleError: Error, Equatable, Sendable {
    /// The configured .p8 key cannot sign.
    case unusableKey
    /// Apple rejected the request with this OAuth error code, for example `invalid_grant` (the code was used
    /// before or has expired) or `invalid_client` (wrong team, key, or client ID).
    case refused(code: String)
    /// No response was received.
    case unreachable(FetchError)
    /// A status other than 200, 400, and 401: Apple is overloaded or has a fault.
    case unavailable(status: Int)
    /// Status 200 with a body that is not a token response.
    case malformedResponse

    /// Whether sending the same request later can succeed.
    package var mayRetry: Bool {
        switch self {
        case .unusableKey, .refused, .malformedResponse: false
        case .unreachable, .unavailable: true
        }
    }
}

/// The tokens that Apple returns for an authorization code.
package struct AppleTokens: Sendable, Equatable {
    /// Store it encrypted. It is needed to revoke the grant when the account is deleted.
    package var refreshToken: String
    package var accessToken: String
    package var identityToken: String?

    /// The `sub` claim of the identity token; nil without an identity token.
    ///
    /// The signature is not checked, because the token came directly from Apple's endpoint.
    package var subject: String? {
        identityToken.flatMap { try? CompactToken($0, algorithms: [.rs256, .es256]) }?
            .claimedSubject
    }
}

/// A client of Apple's token endpoints: exchanges authorization codes and revokes grants.
///
/// Spec: https://developer.apple.com/documentation/signinwithapplerestapi
package struct AppleClient: Sendable {
    private static let responseBytesMax = 64 << 10
    /// Short, because a user may be waiting for the response.
    private static let deadline = Duration.seconds(5)
    /// A new secret is created for each call, so a short lifetime is enough and none expires unnoticed.
    private static let secretLifetimeSeconds: Int64 = 300

    private let fetcher: Fetcher
    private let key: AppleTeamKey
    private let tokenURL: String
    private let revokeURL: String
    private let audience: String

    /// - Parameter audience: The `aud` claim of the client secrets.
    package init(
        fetcher: Fetcher, key: AppleTeamKey,
        tokenURL: String = "https://appleid.apple.com/auth/token",
        revokeURL: String = "https://appleid.apple.com/auth/revoke",
        audience: String = "https://appleid.apple.com"
    ) {
        self.fetcher = fetcher
        self.key = key
        self.tokenURL = tokenURL
        self.revokeURL = revokeURL
        self.audience = audience
    }

    /// Exchanges the authorization code of a sign-in. Apple accepts a code once and for five minutes.
    ///
    /// - Parameter clientID: The audience of the identity token that came with the code.
    package func exchange(
        code: String, clientID: String, now: UnixSeconds = unixSecondsNow()
    ) async throws(AppleError) -> AppleTokens {
        let body = try await post(
            tokenURL,
            [("grant_type", "authorization_code"), ("code", code)], clientID: clientID, now: now)
        guard let json = JSON.parse(body), let refresh = json["refresh_token"]?.text,
            let access = json["access_token"]?.text, !refresh.isEmpty
        else { throw .malformedResponse }
        return AppleTokens(
            refreshToken: refresh, accessToken: access, identityToken: json["id_token"]?.text)
    }

    /// Revokes the grant that a refresh token belongs to.
    ///
    /// Apple also responds with 200 to unknown and already revoked tokens. Success therefore means that no
    /// grant exists any more, not that there was one.
    package func revoke(
        refreshToken: String, clientID: String, now: UnixSeconds = unixSecondsNow()
    ) async throws(AppleError) {
        _ = try await post(
            revokeURL, [("token", refreshToken), ("token_type_hint", "refresh_token")],
            clientID: clientID, now: now)
    }

    /// Creates the client secret: a token signed with ES256 and valid for five minutes.
    func clientSecret(clientID: String, now: UnixSeconds) throws(AppleError) -> String {
        let secret = libjwtSigned(
            [
                ("iss", .text(key.teamID)), ("sub", .text(clientID)), ("aud", .text(audience)),
                ("iat", .integer(now)), ("exp", .integer(now + Self.secretLifetimeSeconds)),
            ], keyID: key.keyID, algorithm: .es256, material: key.privateKeyPEM)
        guard let secret else { throw .unusableKey }
        return secret
    }

    private func post(
        _ url: String, _ fields: [(name: String, value: String)], clientID: String,
        now: UnixSeconds
    ) async throws(AppleError) -> [UInt8] {
        let secret = try clientSecret(clientID: clientID, now: now)
        let form = [("client_id", clientID), ("client_secret", secret)] + fields
        let response: FetchResponse
        do throws(FetchError) {
            response = try await fetcher.fetch(
                FetchRequest(
                    url: url, method: .form(form), headers: [("Accept", "application/json")],
                    deadline: Self.deadline, bodyBytesMax: Self.responseBytesMax, redirectsMax: 0))
        } catch { throw .unreachable(error) }
        switch response.status {
        case 200: return response.body
        case 400, 401:
            let code = JSON.parse(response.body)?["error"]?.bytes
            throw .refused(code: loggable(code ?? []))
        default: throw .unavailable(status: response.status)
        }
    }
}

extension AppleError: CustomStringConvertible {
    /// A message for logs.
    package var description: String {
        switch self {
        case .unusableKey: "the key for Apple cannot sign"
        case .refused(let code): "Apple refused the request: \(code)"
        case .unreachable(let error): "Apple cannot be reached: \(error)"
        case .unavailable(let status): "Apple responded with status \(status)"
        case .malformedResponse: "Apple's response is malformed"
        }
    }
}
