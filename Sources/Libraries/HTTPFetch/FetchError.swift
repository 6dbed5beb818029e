/// The reason why a request has no response. A response with status 400 or 500 is not an error.
package enum FetchError: Error, Equatable, Sendable {
    /// The URL is not an absolute `http` or `https` URL, or it contains a user name or password.
    case invalidURL
    /// A header or the body cannot be sent, for example a header with a line break.
    case invalidRequest
    /// The policy does not permit the address or port that the host name resolves to.
    case addressRefused
    /// The host name does not resolve.
    case hostNotFound
    /// The host does not accept connections on this port.
    case connectionFailed
    /// The TLS handshake failed because of the certificate, the host name, or the protocol version.
    case tlsFailed
    /// The deadline or the connect timeout has passed.
    case timedOut
    /// The body or its announced length exceeds `bodyBytesMax`, or the headers exceed 64 KiB.
    case tooLarge
    /// The server redirected more than `redirectsMax` times.
    case tooManyRedirects
    /// A redirect has no usable target, or it would send a body to another origin.
    case redirectRefused
    /// The server redirected to this URL at another origin, which the request does not allow.
    case movedAway(to: String)
    /// The response is not HTTP.
    case notHTTP
    /// The connection ended before the response was complete.
    case interrupted
    /// The task was cancelled.
    case cancelled
    /// The fetcher has reached `transfersMax`.
    case overloaded
    /// Any other error; carries libcurl's code for the log.
    case failed(curlCode: UInt32)
}

extension FetchError: CustomStringConvertible {
    /// A message for logs and operators.
    package var description: String {
        switch self {
        case .invalidURL: "the URL is invalid"
        case .invalidRequest: "the request cannot be sent"
        case .addressRefused: "the address is private and not in BOOKPLATE_FETCH_ALLOW"
        case .hostNotFound: "the host name does not resolve"
        case .connectionFailed: "the host does not accept connections"
        case .tlsFailed: "the TLS handshake failed"
        case .timedOut: "no response in time"
        case .tooLarge: "the response is too large"
        case .tooManyRedirects: "too many redirects"
        case .redirectRefused: "a redirect was refused"
        case .movedAway(let url): "redirected to another site, \(url)"
        case .notHTTP: "the response is not HTTP"
        case .interrupted: "the connection ended before the response was complete"
        case .cancelled: "cancelled"
        case .overloaded: "too many requests are running"
        case .failed(let code): "the request failed (error \(code) of libcurl)"
        }
    }
}
