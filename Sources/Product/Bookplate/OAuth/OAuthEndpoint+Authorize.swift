import Basics
import Identity
import Postgres
import Requests

/// The start of the authorization code grant and of the device grant.
extension OAuthEndpoint {
    /// An authorization request to store.
    private struct NewRequest {
        let id = UUID.version7()
        let client: OAuthClient
        let scopes: [AccessScope]
        var redirectURI: String?
        var state: String?
        var challenge: String?
        var browserHash: [UInt8]?
        var deviceHash: [UInt8]?
    }

    /// Stores a request and returns its code.
    private func start(_ new: NewRequest, _ call: Call) async throws(OAuthError) -> UserCode {
        // Two requests rarely get the same code.
        for _ in 0..<3 {
            let code = UserCode.random()
            var parameters = Parameters.of(new.id, call.tenant.id, new.client.id)
            parameters.append(text: code.letters)
            parameters.append(texts: new.scopes.map(\.rawValue))
            parameters.append(int32: Self.requestSeconds)
            parameters.append(text: new.redirectURI)
            parameters.append(text: new.state)
            parameters.append(text: new.challenge)
            parameters.append(bytea: new.browserHash)
            parameters.append(bytea: new.deviceHash)
            if try await call.first(Self.startRequest, parameters) == true { return code }
        }
        throw OAuthError(.internalError)
    }

    private static let startRequest = TypedStatement<Bool>(
        """
        SELECT start_oauth_request($1, $2, $3, $4, $5::text[]::access_scope[], $6, $7, $8, $9, $10, $11)
        """)

    // MARK: - Authorization code grant

    /// Checks an authorization request, which an app sends through the reader's browser, and redirects to the request's
    /// page.
    ///
    /// An error of the client or of the redirect URI is shown as a page, because a browser must not be sent to an unknown
    /// URI. The page also shows all errors of apps that registered themselves, and errors with a status other than 400.
    /// The app gets all other errors.
    package func authorize(_ request: OAuthRequest) async -> OAuthResponse {
        let page = OAuthPage(request, basePath: basePath)
        do throws(OAuthError) {
            try charge(request, units: RateLimits.unitsPerAuthorization)
            let call = try await call(request, slug: request.path)
            let fields = try request.queryFields()
            guard let client = try await call.client(id: fields["client_id"] ?? "") else {
                throw .invalidRequest("The parameter client_id is not that of a registered app.")
            }
            guard let uri = client.redirectURI(fields["redirect_uri"]) else {
                throw .invalidRequest(
                    "The parameter redirect_uri is not one of the app's registered URIs.")
            }
            let state = fields["state"]
            let target = RedirectTarget(
                uri: uri.text,
                state: state.map { String($0.unicodeScalars.prefix(Self.stateCharactersMax)) },
                issuer: issuer(call.tenant))
            do throws(OAuthError) {
                return try await begin(fields, client, target, call)
            } catch {
                // The operator has not checked the URI of an app that registered itself. If the browser were sent there
                // before the reader has seen a page, this server would be an open redirector (RFC 9700, section 4.11.2).
                guard error.status == 400, !client.isSelfRegistered else { throw error }
                return .redirect(to: target.url(error: error))
            }
        } catch {
            return page.failed(error)
        }
    }

    private static let stateCharactersMax = 2_000

    private func begin(
        _ fields: FormFields, _ client: OAuthClient, _ target: RedirectTarget, _ call: Call
    ) async throws(OAuthError) -> OAuthResponse {
        guard fields["response_type"] == "code" else {
            throw .unsupportedResponseType("The parameter response_type must be code.")
        }
        guard fields["response_mode"] ?? "query" == "query" else {
            throw .invalidRequest("The parameter response_mode must be query.")
        }
        guard fields["code_challenge_method"] == "S256",
            let challenge = fields["code_challenge"], challenge.utf8.count == 43,
            Base64URL.decode(challenge.utf8) != nil
        else {
            throw .invalidRequest(
                "PKCE is required: send code_challenge_method=S256, and the code_challenge.")
        }
        guard fields["state"] == target.state else {
            throw .invalidRequest(
                "The parameter state may have at most \(Self.stateCharactersMax) characters.")
        }
        let secret = Base64URL.encode(randomBytes(32))
        let new = NewRequest(
            client: client, scopes: try client.scopes(fields["scope"]), redirectURI: target.uri,
            state: target.state, challenge: challenge, browserHash: sha256(secret.utf8))
        _ = try await start(new, call)
        let path = "\(basePath)/oauth/requests/\(new.id)"
        let security = publicURL.hasPrefix("https://") ? "; Secure" : ""
        return .redirect(
            to: path,
            headers: [
                (
                    "Set-Cookie",
                    "\(Self.cookieName)=\(secret); Path=\(path); Max-Age=\(Self.requestSeconds); "
                        + "HttpOnly; SameSite=Lax\(security)"
                )
            ])
    }

    /// The cookie that ties a request to the browser that has started it. Its path is that of the request's page, so a
    /// browser can have several requests.
    static let cookieName = "bookplate_oauth"

    // MARK: - Device grant

    /// Starts the device grant.
    ///
    /// Spec: RFC 8628, section 3.1
    package func authorizeDevice(_ request: OAuthRequest) async -> OAuthResponse {
        await respond(request) { call throws(OAuthError) in
            try await call.limitingGuesses { () throws(OAuthError) in
                let fields = try request.formFields()
                let client = try await call.client(fields)
                guard client.allowsDevice else {
                    throw .unauthorizedClient("The app may not use the device grant.")
                }
                let secret = OAuthSecret(.deviceCode)
                let code = try await start(
                    NewRequest(
                        client: client, scopes: try client.scopes(fields["scope"]),
                        deviceHash: secret.hash), call)
                let url = verificationURL(call.tenant)
                return .json([
                    .init("device_code", .string(secret.text)),
                    .init("user_code", .string(code.text)),
                    .init("verification_uri", .string(url)),
                    .init("verification_uri_complete", .string("\(url)?user_code=\(code.text)")),
                    .init("expires_in", .int(Int(Self.requestSeconds))),
                    .init("interval", .int(Self.pollSeconds)),
                ])
            }
        }
    }

    /// The page at the `verification_uri` of the device grant. It says where the reader enters the code that the device
    /// shows.
    package func devicePage(_ request: OAuthRequest) async -> OAuthResponse {
        let page = OAuthPage(request, basePath: basePath)
        do throws(OAuthError) {
            try charge(request)
            let call = try await call(request, slug: request.path)
            let code = try request.queryFields()["user_code"].flatMap { UserCode($0) }
            return page.device(app: call.tenant.name, code: code)
        } catch {
            return page.failed(error)
        }
    }
}

/// Where the browser returns to the app.
struct RedirectTarget {
    let uri: String
    let state: String?
    let issuer: String

    func url(code: OAuthSecret) -> String { url([("code", code.text)]) }

    func url(error: OAuthError) -> String {
        url([("error", error.code), ("error_description", error.description)])
    }

    /// Returns the redirect URI with the parameters, the state, and the issuer. An app that uses several authorization
    /// servers recognizes by the issuer which of them has responded (RFC 9207).
    private func url(_ parameters: [(String, String)]) -> String {
        var parameters = parameters
        if let state { parameters.append(("state", state)) }
        parameters.append(("iss", issuer))
        let query = parameters.map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
        return uri + (uri.contains("?") ? "&" : "?") + query
    }
}
