import NIOCore
import NIOHTTP1
import Telemetry

/// Counts the requests of one event loop, by route and status. Instruments are looked up once for each pair.
struct HTTPMetrics {
    /// The label of what matched no route: its path is a stranger's choice.
    private static let noRoute = "none"

    private let metrics: Metrics
    private let noRouteCounts: RouteCounts

    init(_ metrics: Metrics) {
        self.metrics = metrics
        noRouteCounts = RouteCounts(metrics, path: Self.noRoute)
    }

    func count(_ exchange: Exchange, status: HTTPResponseStatus) {
        counts(of: exchange.route).count(status, NIODeadline.now() - exchange.start)
    }

    private func counts(of route: Route?) -> RouteCounts {
        guard let route else { return noRouteCounts }
        if let known = route.counts { return known }
        let made = RouteCounts(metrics, path: route.path)
        route.counts = made
        return made
    }
}

/// The instruments of one path on one event loop.
final class RouteCounts {
    private let metrics: Metrics
    private let path: String
    /// A path has few different answers.
    private var counters: [(status: UInt, Counter)] = []
    private let times: Histogram

    init(_ metrics: Metrics, path: String) {
        self.metrics = metrics
        self.path = path
        times = metrics.histogram(
            "bookplate_http_request_duration_seconds",
            "From a request's head to its answer's first byte.", ["route": path])
    }

    fileprivate func count(_ status: HTTPResponseStatus, _ time: TimeAmount) {
        counter(status.code).increment()
        times.observe(.nanoseconds(time.nanoseconds))
    }

    private func counter(_ status: UInt) -> Counter {
        if let known = counters.first(where: { $0.status == status }) { return known.1 }
        let made = metrics.counter(
            "bookplate_http_requests_total", "HTTP requests answered.",
            ["route": path, "status": "\(status)"])
        counters.append((status, made))
        return made
    }
}

/// `/metrics`, in Prometheus' text format.
func metricsRoute(_ metrics: Metrics) -> Route {
    Route(.GET, "/metrics") { _ in
        .text(.ok, await metrics.text(), contentType: "text/plain; version=0.0.4; charset=utf-8")
    }
}
