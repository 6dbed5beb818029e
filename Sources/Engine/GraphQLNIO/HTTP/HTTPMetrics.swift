import NIOCore
import NIOHTTP1
import Telemetry

/// Counts the requests of one event loop by route and status. Instruments are looked up once per pair.
struct HTTPMetrics {
    /// The label of requests that match no route. Their paths are not used, because clients choose them freely.
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
        if let existing = route.counts { return existing }
        let created = RouteCounts(metrics, path: route.path)
        route.counts = created
        return created
    }
}

/// The instruments of one path on one event loop.
final class RouteCounts {
    private let metrics: Metrics
    private let path: String
    /// A path has few different statuses, so a linear search is fastest.
    private var counters: [(status: UInt, Counter)] = []
    private let times: Histogram

    init(_ metrics: Metrics, path: String) {
        self.metrics = metrics
        self.path = path
        times = metrics.histogram(
            "bookplate_http_request_duration_seconds",
            "Time from a request's head to the first byte of its response.", ["route": path])
    }

    fileprivate func count(_ status: HTTPResponseStatus, _ time: TimeAmount) {
        counter(status.code).increment()
        times.observe(.nanoseconds(time.nanoseconds))
    }

    private func counter(_ status: UInt) -> Counter {
        if let existing = counters.first(where: { $0.status == status }) { return existing.1 }
        let created = metrics.counter(
            "bookplate_http_requests_total", "HTTP requests with a response.",
            ["route": path, "status": "\(status)"])
        counters.append((status, created))
        return created
    }
}

/// The route `/metrics`, in the text format of Prometheus.
package func metricsRoute(_ metrics: Metrics) -> Route {
    Route(.GET, "/metrics") { _ in
        .text(.ok, await metrics.text(), contentType: "text/plain; version=0.0.4; charset=utf-8")
    }
}
