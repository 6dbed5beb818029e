import NIOCore
import NIOHTTP1
import Telemetry

/// Counts the requests of one event loop, by route and status. Instruments are looked up once for each pair.
struct HTTPMetrics {
    private struct Key: Hashable {
        let route: String
        let status: UInt
    }

    /// The label of what matched no route: its path is a stranger's choice.
    private static let noRoute = "none"

    private let metrics: Metrics
    private var counters: [Key: Counter] = [:]
    private var histograms: [String: Histogram] = [:]

    init(_ metrics: Metrics) { self.metrics = metrics }

    mutating func count(_ exchange: Exchange, status: HTTPResponseStatus) {
        let key = Key(route: exchange.route ?? Self.noRoute, status: status.code)
        counter(key).increment()
        let time = NIODeadline.now() - exchange.start
        histogram(key.route).observe(.nanoseconds(time.nanoseconds))
    }

    private mutating func counter(_ key: Key) -> Counter {
        if let known = counters[key] { return known }
        let made = metrics.counter(
            "bookplate_http_requests_total", "HTTP requests answered.",
            ["route": key.route, "status": "\(key.status)"])
        counters[key] = made
        return made
    }

    private mutating func histogram(_ route: String) -> Histogram {
        if let known = histograms[route] { return known }
        let made = metrics.histogram(
            "bookplate_http_request_duration_seconds",
            "From a request's head to its answer's first byte.", ["route": route])
        histograms[route] = made
        return made
    }
}

/// `/metrics`, in Prometheus' text format.
func metricsRoute(_ metrics: Metrics) -> Route {
    Route(.GET, "/metrics") { _ in
        .text(.ok, await metrics.text(), contentType: "text/plain; version=0.0.4; charset=utf-8")
    }
}
