import HTTPFetch
import Identity

/// Sends messages to the addresses of webhooks.
package struct WebhookSender: Sendable {
    /// The time limit of an attempt.
    private static let timeout = Duration.seconds(15)
    private static let connectTimeout = Duration.seconds(5)
    /// The rest of a longer response is not read.
    private static let responseBytesMax = 4096

    private let fetcher: Fetcher
    private let timeout: Duration
    let allowsPlainHTTP: Bool

    /// - Parameters:
    ///   - fetcher: Its policy must refuse private addresses.
    ///   - allowsPlainHTTP: Whether addresses may start with `http://`, for development.
    package init(
        fetcher: Fetcher, allowsPlainHTTP: Bool, timeout: Duration = WebhookSender.timeout
    ) {
        self.fetcher = fetcher
        self.allowsPlainHTTP = allowsPlainHTTP
        self.timeout = timeout
    }

    /// Sends a message once, without following redirects.
    ///
    /// - Parameter secrets: The current secret, and during a rotation the previous one.
    package func send(
        _ message: WebhookMessage, to url: String, secrets: [WebhookSecret]
    ) async -> WebhookResult {
        let timestamp = unixSecondsNow()
        let signatures = secrets.map {
            $0.signature(id: message.id, timestamp: timestamp, body: message.body)
        }
        let request = FetchRequest(
            url: url, method: .json(message.body),
            headers: [
                ("webhook-id", message.id), ("webhook-timestamp", "\(timestamp)"),
                ("webhook-signature", signatures.joined(separator: " ")),
            ],
            deadline: timeout, connectTimeout: min(timeout, Self.connectTimeout),
            bodyBytesMax: Self.responseBytesMax, truncatesBody: true, redirectsMax: 0)
        let start = ContinuousClock.now
        do throws(FetchError) {
            let scheme = try WebURL(url).scheme
            // A development server may have added the webhook.
            guard allowsPlainHTTP || scheme == "https" else {
                return WebhookResult(error: "the address does not start with https://")
            }
            let response = try await fetcher.fetch(request)
            return WebhookResult(response, duration: start.duration(to: .now))
        } catch {
            return WebhookResult(
                error: error.description, isCancelled: error == .cancelled,
                duration: start.duration(to: .now))
        }
    }
}

/// The result of an attempt to send a message.
package struct WebhookResult: Sendable {
    /// nil if there was no response.
    package let status: Int?
    /// The reason for a failure; nil if the message was delivered.
    package let error: String?
    /// The pause that the receiver has requested.
    let retryAfter: Duration?
    /// The beginning of the response's body.
    package let body: [UInt8]
    package let duration: Duration
    /// Whether the server has cancelled the attempt, for example because it stops. Such an attempt is not recorded.
    let isCancelled: Bool

    package var isDelivered: Bool { error == nil }
    /// Whether the receiver no longer accepts messages, so that the webhook is disabled.
    var isGone: Bool { status == 410 }

    init(error: String, isCancelled: Bool = false, duration: Duration = .zero) {
        status = nil
        self.error = error
        retryAfter = nil
        body = []
        self.duration = duration
        self.isCancelled = isCancelled
    }

    init(_ response: FetchResponse, duration: Duration) {
        status = response.status
        error =
            switch response.status {
            case 200..<300: nil
            case 300..<400: "status \(response.status): redirects are not followed"
            default: "status \(response.status)"
            }
        retryAfter = [429, 503].contains(response.status) ? response.retryAfter : nil
        body = response.body
        self.duration = duration
        isCancelled = false
    }
}
