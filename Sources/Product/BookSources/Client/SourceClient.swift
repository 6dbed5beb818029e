import HTTPFetch

/// Sends requests to one source, within its rate limit, its daily budget, and the caller's deadline. Readers' requests come before
/// background work.
final class SourceClient: Sendable {
    typealias Instant = ContinuousClock.Instant

    private static let responseBytesMax = 2 << 20

    private let fetcher: Fetcher
    private let headers: [(name: String, value: String)]
    let turns: RequestTurns
    private let gate: SourceGate
    /// Returns the pause that a refusal requests in a way that is specific to the source; nil if it requests none.
    private let retryDelay: @Sendable (FetchResponse) -> Duration?

    init(
        _ fetcher: Fetcher, limit: RateLimit, gate: SourceGate,
        headers: [(name: String, value: String)] = [],
        retryDelay: @escaping @Sendable (FetchResponse) -> Duration? = { _ in nil }
    ) {
        self.fetcher = fetcher
        self.gate = gate
        self.headers = [("Accept", "application/json")] + headers
        self.retryDelay = retryDelay
        turns = RequestTurns(limit)
    }

    enum Response {
        case json(JSON)
        /// Status 404.
        case missing
        /// A redirect, with its `Location`.
        case moved(String)
    }

    private static let redirectsMax = 3

    /// The instant until which requests are refused. nil if the next one may be sent.
    func pausedUntil(_ priority: RequestPriority) -> Instant? {
        [
            gate.pausedUntil(priority), turns.overloadedUntil,
            priority == .background ? turns.backgroundPausedUntil : nil,
        ].compactMap { $0 }.max()
    }

    /// Fetches the JSON at `url`. Returns nil for status 404.
    ///
    /// A GET request follows redirects within its origin. Each of them counts as a request.
    func json(
        _ url: String, _ method: FetchRequest.Method = .get, options: CallOptions
    ) async throws(SourceError) -> JSON? {
        var url = url
        for _ in 0...Self.redirectsMax {
            switch try await response(url, method, options: options) {
            case .json(let json): return json
            case .missing: return nil
            case .moved(let location):
                guard method == .get, let next = WebURL.redirect(from: url, to: location) else {
                    throw .unreachable(.redirectRefused)
                }
                url = next
            }
        }
        throw .unreachable(.tooManyRedirects)
    }

    /// Sends a single request. Redirects are not followed.
    func response(
        _ url: String, _ method: FetchRequest.Method = .get, options: CallOptions
    ) async throws(SourceError) -> Response {
        try gate.check(options.priority)
        try await turns.wait(options)
        let left = ContinuousClock.now.duration(to: options.deadline)
        guard left > .zero else { throw .unreachable(.timedOut) }
        let request = FetchRequest(
            url: url, method: method, headers: headers, deadline: left,
            bodyBytesMax: Self.responseBytesMax, redirectsMax: 0, staysAtOrigin: true)
        let response = try await gate.perform(options) { () async throws(FetchError) in
            try await fetcher.fetch(request)
        }
        switch response.status {
        case 200:
            turns.record { $0.recordResponse() }
            guard let json = JSON(response.body) else { throw .malformed }
            return .json(json)
        case 404:
            turns.record { $0.recordResponse() }
            return .missing
        case 301, 302, 303, 307, 308:
            if let location = response.header("location") { return .moved(location) }
        case 400, 401, 403:
            // The source does not accept our key or IP address. The operator has to change that.
            recordRefusal(response, base: .seconds(10), isOverload: false)
        case 429, 502, 503, 504:
            recordRefusal(response, base: .seconds(1), isOverload: true)
        default: break
        }
        throw .status(response.status)
    }

    /// Counts a field of a record that could not be read.
    @Sendable func recordUnreadable(_ field: RecordField) { gate.recordUnreadable(field) }

    private func recordRefusal(_ response: FetchResponse, base: Duration, isOverload: Bool) {
        let retryAfter = retryDelay(response) ?? response.retryAfter
        turns.record {
            $0.recordRefusal(at: .now, retryAfter: retryAfter, base: base, isOverload: isOverload)
        }
    }
}
