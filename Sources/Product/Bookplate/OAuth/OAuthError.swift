import GraphQL
import Requests

/// An error of an endpoint of OAuth.
///
/// Spec: RFC 6749, sections 4.1.2.1 and 5.2; RFC 8628, section 3.5; RFC 7591, section 3.2.2
struct OAuthError: Error, Equatable {
    let code: String
    /// A sentence for the developer of the app.
    let description: String
    var status = 400
    var retryAfterSeconds: Int?

    private init(
        _ code: String, _ description: String, status: Int = 400, retryAfterSeconds: Int? = nil
    ) {
        self.code = code
        self.description = description
        self.status = status
        self.retryAfterSeconds = retryAfterSeconds
    }

    static func invalidRequest(_ description: String) -> Self {
        Self("invalid_request", description)
    }

    static let invalidClient = Self(
        "invalid_client", "There is no such client, or its secret is wrong.", status: 401)
    static let invalidGrant = Self(
        "invalid_grant", "The code or token does not exist, has expired, or belongs to another app."
    )
    static let accessDenied = Self("access_denied", "The reader did not allow the access.")
    static let pending = Self(
        "authorization_pending", "The reader has not decided yet. Try again after the interval.")
    static let slowDown = Self(
        "slow_down", "Wait five seconds longer between two attempts from now on.")
    static let expired = Self("expired_token", "The device code has expired. Start again.")
    static let notFound = Self(
        "not_found", "There is nothing at this URL, or the operator has not switched OAuth on.",
        status: 404)

    static func unauthorizedClient(_ description: String) -> Self {
        Self("unauthorized_client", description)
    }

    static func unsupportedGrantType(_ description: String) -> Self {
        Self("unsupported_grant_type", description)
    }

    static func unsupportedResponseType(_ description: String) -> Self {
        Self("unsupported_response_type", description)
    }

    static func invalidScope(_ description: String) -> Self { Self("invalid_scope", description) }

    static func invalidMetadata(_ description: String) -> Self {
        Self("invalid_client_metadata", description)
    }

    static func invalidRedirectURI(_ description: String) -> Self {
        Self("invalid_redirect_uri", description)
    }

    init(_ error: BookplateError) {
        switch error {
        case .rateLimited(let seconds):
            self.init(
                "temporarily_unavailable", error.message, status: 429, retryAfterSeconds: seconds)
        case .serviceUnavailable(let seconds, _):
            self.init(
                "temporarily_unavailable", error.message, status: 503, retryAfterSeconds: seconds)
        default: self.init("server_error", error.message, status: 500)
        }
    }

    /// Whether the request may have been an attempt to guess a secret.
    var isFailedGuess: Bool { self == .invalidClient || self == .invalidGrant }

    var response: OAuthResponse {
        var headers: [(String, String)] = []
        if let retryAfterSeconds { headers.append(("Retry-After", "\(retryAfterSeconds)")) }
        if status == 401 { headers.append(("WWW-Authenticate", "Basic realm=\"OAuth\"")) }
        return .json(
            [
                .init("error", .string(code)), .init("error_description", .string(description)),
            ], status: status, headers: headers)
    }
}
