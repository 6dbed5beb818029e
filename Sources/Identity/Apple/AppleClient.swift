import HTTPFetch

/// A developer team's key for Apple's REST API.
package struct AppleTeamKey: Sendable {
    /// Ten characters.
    package var teamID: String
    /// Ten characters; names the .p8 file in Apple's console.
    package var keyID: String
    /// The text of the .p8 file: a P-256 private key in PEM.
    package var privateKeyPEM: [UInt8]

    package init(teamID: String, keyID: String, privateKeyPEM: [UInt8]) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
    }
}

/// Why Apple's token endpoint did not do what was asked. Whether to try again is the caller's choice (`mayRetry`).
package enum AppleError: Error, Equatable, Sendable {
    /// The configured .p8 key cannot sign.
    case unusableKey
    /// Apple said no, by OAuth's error code: `invalid_grant` (code used or expired), `invalid_client` (team, key or client id).
    case refused(code: String)
    /// No answer.
    case unreachable(FetchError)
    /// Another status than 200 and 400: Apple is busy or broken.
    case unavailable(status: Int)
    /// 200 with a body that is no token answer.
    case malformedAnswer

    /// Whether the same request can succeed later.
    package var mayRetry: Bool {
        switch self {
        case .unusableKey, .refused, .malformedAnswer: false
        case .unreachable, .unavailable: true
        }
    }
}

/// What an authorization code was exchanged for.
package struct AppleTokens: Sendable, Equatable {
    /// Kept encrypted: it revokes the grant when the account is deleted.
    package var refreshToken: String
    package var accessToken: String
    package var identityToken: String?

    /// Whose grant it is, as the identity token beside it says, which comes from Apple itself; nil without one.
    package var subject: String? {
        identityToken.flatMap { try? CompactToken($0, algorithms: [.rs256, .es256]) }?
            .claimedSubject
    }
}

/// Apple's token endpoints: exchange of authorization codes, revocation.
///
/// Spec: https://developer.apple.com/documentation/signinwithapplerestapi
package struct AppleClient: Sendable {
    private static let answerBytesMax = 64 << 10
    /// A person may be waiting.
    private static let deadline = Duration.seconds(5)
    /// Five minutes: the secret is made anew for each call, so that none can run out unnoticed.
    private static let secretLifetimeSeconds: Int64 = 300

    private let fetcher: Fetcher
    private let key: AppleTeamKey
    private let tokenURL: String
    private let revokeURL: String
    private let audience: String

    /// - Parameter audience: the `aud` of client secrets.
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

    /// Exchanges the code of a sign-in, which is good once and for five minutes.
    ///
    /// - Parameter clientID: the audience of the identity token that came with the code.
    package func exchange(
        code: String, clientID: String, now: UnixSeconds = unixSecondsNow()
    ) async throws(AppleError) -> AppleTokens {
        let answer = try await post(
            tokenURL,
            [("grant_type", "authorization_code"), ("code", code)], clientID: clientID, now: now)
        guard let json = JSON.parse(answer), let refresh = json["refresh_token"]?.text,
            let access = json["access_token"]?.text, !refresh.isEmpty
        else { throw .malformedAnswer }
        return AppleTokens(
            refreshToken: refresh, accessToken: access, identityToken: json["id_token"]?.text)
    }

    /// Revokes the grant behind a refresh token.
    ///
    /// Apple answers 200 for unknown and already revoked tokens too, so a return means that it has heard, not that there was a grant.
    package func revoke(
        refreshToken: String, clientID: String, now: UnixSeconds = unixSecondsNow()
    ) async throws(AppleError) {
        _ = try await post(
            revokeURL, [("token", refreshToken), ("token_type_hint", "refresh_token")],
            clientID: clientID, now: now)
    }

    /// The ES256 token that stands for a client secret.
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
                    deadline: Self.deadline, bodyBytesMax: Self.answerBytesMax, redirectsMax: 0))
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
