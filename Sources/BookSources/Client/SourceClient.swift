import Glibc
import HTTPFetch
import Synchronization

/// Sends requests to one source, within its rate limit, its daily budget, and the caller's deadline.
final class SourceClient: Sendable {
    typealias Instant = ContinuousClock.Instant

    private static let answerBytesMax = 2 << 20

    private let fetcher: Fetcher
    private let headers: [(name: String, value: String)]
    private let pace: Mutex<RequestPace>
    private let gate: SourceGate
    /// How long a refusal shuts the source out, where the answer itself says so in its own way.
    private let hold: @Sendable (FetchResponse) -> Duration?

    init(
        _ fetcher: Fetcher, limit: RateLimit, gate: SourceGate,
        headers: [(name: String, value: String)] = [],
        hold: @escaping @Sendable (FetchResponse) -> Duration? = { _ in nil }
    ) {
        self.fetcher = fetcher
        self.gate = gate
        self.headers = [("Accept", "application/json")] + headers
        self.hold = hold
        pace = Mutex(RequestPace(limit, now: .now))
    }

    enum Answer {
        case json(JSON)
        /// 404, whatever its body.
        case missing
        /// A redirect that was not to be followed, and where it leads.
        case moved(String)
    }

    private static let redirectsMax = 3

    /// The instant before which requests are refused; nil where the next one may be sent.
    func pausedUntil(_ priority: RequestPriority) -> Instant? {
        let ends = [
            gate.pausedUntil(priority), pace.withLock { $0.overloadedUntil(at: .now) },
        ]
        return ends.compactMap { $0 }.max()
    }

    /// Returns the JSON at `url`, or nil for 404. A GET follows redirects on its origin; each of them is a request of its own.
    func json(
        _ url: String, _ method: FetchRequest.Method = .get, options: CallOptions
    ) async throws(SourceError) -> JSON? {
        var url = url
        for _ in 0...Self.redirectsMax {
            switch try await answer(url, method, options: options) {
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

    /// Sends one request; a redirect is not followed.
    func answer(
        _ url: String, _ method: FetchRequest.Method = .get, options: CallOptions
    ) async throws(SourceError) -> Answer {
        try gate.check(options.priority)
        let deadline = options.deadline
        guard let turn = pace.withLock({ $0.turn(at: .now, by: deadline) }) else { throw .busy }
        if turn > .now {
            guard (try? await Task.sleep(until: turn, clock: .continuous)) != nil else {
                throw .unreachable(.cancelled)
            }
        }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .unreachable(.timedOut) }
        let request = FetchRequest(
            url: url, method: method, headers: headers, deadline: left,
            bodyBytesMax: Self.answerBytesMax, redirectsMax: 0, staysAtOrigin: true)
        let response = try await gate.perform(options) { () async throws(FetchError) in
            try await fetcher.fetch(request)
        }
        switch response.status {
        case 200:
            pace.withLock { $0.answered() }
            guard let json = JSON(response.body) else { throw .malformed }
            return .json(json)
        case 404:
            pace.withLock { $0.answered() }
            return .missing
        case 301, 302, 303, 307, 308:
            if let location = response.header("location") { return .moved(location) }
        case 400, 401, 403:
            // A key or an address that the source refuses. This does not change by itself.
            refused(response, base: .seconds(10), isOverload: false)
        case 429, 502, 503, 504:
            refused(response, base: .seconds(1), isOverload: true)
        default: break
        }
        throw .status(response.status)
    }

    private func refused(_ response: FetchResponse, base: Duration, isOverload: Bool) {
        let retryAfter = hold(response) ?? response.header("retry-after").flatMap(Self.retryAfter)
        pace.withLock {
            $0.refused(at: .now, retryAfter: retryAfter, base: base, isOverload: isOverload)
        }
    }

    /// Seconds, or a date.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
    static func retryAfter(_ text: String) -> Duration? {
        if let seconds = Int(text) { return seconds >= 0 ? .seconds(min(seconds, 86_400)) : nil }
        return httpDate(text).map { .seconds(min(max(0, $0 - time(nil)), 86_400)) }
    }
}

/// Seconds of Unix time of `Wed, 21 Oct 2015 07:28:00 GMT`; nil for the two forms that are obsolete.
private func httpDate(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]),
        let month = month(named: words[2]), let year = Int32(words[3]),
        (1...31).contains(day), (1900...9999).contains(year)
    else { return nil }
    let clock = words[4].split(separator: ":").compactMap { Int32($0) }
    guard clock.count == 3, clock.allSatisfy({ (0..<61).contains($0) }) else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, Int32(month) - 1, day)
    (date.tm_hour, date.tm_min, date.tm_sec) = (clock[0], clock[1], clock[2])
    return timegm(&date)
}

/// A text as part of a query string.
func queryEncoded(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            bytes.append(byte)
        default:
            bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
