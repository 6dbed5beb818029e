/// Why there is no answer. A status of 400 or 500 is an answer, not an error.
package enum FetchError: Error, Equatable, Sendable {
    /// Not an absolute `http` or `https` URL, or it carries a user name or password.
    case invalidURL
    /// A header or body that cannot be sent (line break in a header, for instance).
    case invalidRequest
    /// The name leads to an address or port that the rules do not let us reach.
    case addressRefused
    /// The name does not resolve.
    case hostNotFound
    /// Nobody accepts connections there.
    case connectionFailed
    /// No trustworthy TLS: certificate, name or protocol.
    case tlsFailed
    /// Over the deadline or the connect timeout.
    case timedOut
    /// The body or its announced length is over `bodyBytesMax`, or the headers are over 64 KiB.
    case tooLarge
    /// More hops than `redirectsMax`.
    case tooManyRedirects
    /// A redirect with no usable target, or one that would carry a body to another origin.
    case redirectRefused
    /// A redirect to another origin, which the request does not follow: to this URL.
    case movedAway(to: String)
    /// What answered does not speak HTTP.
    case notHTTP
    /// The connection ended before the answer did.
    case interrupted
    /// The task was cancelled.
    case cancelled
    /// Too many transfers are under way in this fetcher.
    case overloaded
    /// Anything else, with libcurl's code for the log.
    case failed(curlCode: UInt32)
}
