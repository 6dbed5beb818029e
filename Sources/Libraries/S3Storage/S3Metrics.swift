import HTTPFetch
import Telemetry

/// The metrics of the requests to a bucket, including repeated ones.
struct S3Metrics: Sendable {
    private let durations: [String: Histogram]
    private let errors: Counter

    init(_ metrics: Metrics) {
        durations = Dictionary(
            uniqueKeysWithValues: ["DELETE", "GET", "HEAD", "POST", "PUT"].map { method in
                let histogram = metrics.histogram(
                    "bookplate_bucket_request_duration_seconds",
                    "Requests to the bucket of the covers, from their start to the last byte of the response.",
                    ["method": method])
                return (method, histogram)
            })
        errors = metrics.counter(
            "bookplate_bucket_errors_total",
            "Requests to the bucket of the covers that failed. They may have been repeated.")
    }

    func observe(_ method: FetchRequest.Method, _ duration: Duration) {
        let name =
            switch method {
            case .get: "GET"
            case .head: "HEAD"
            case .delete: "DELETE"
            case .post: "POST"
            case .put: "PUT"
            }
        durations[name]?.observe(duration)
    }

    func countError() { errors.increment() }
}
