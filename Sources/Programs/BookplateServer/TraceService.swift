import Config
import HTTPFetch
import Logging
import ServiceLifecycle
import Telemetry

/// Exports finished spans once per second to a collector, and when the server stops.
///
/// Requests never wait for the collector. If it is not available, the service tries again after up to a minute.
///
/// Spec: https://opentelemetry.io/docs/specs/otlp/#otlphttp
struct TraceService: Service {
    private static let interval = Duration.seconds(1)
    private static let pauseMax = Duration.seconds(60)
    /// The number of spans in one request.
    private static let batchSize = 512
    /// The time limit of one request, which also limits how long a stopping server waits.
    private static let deadline = Duration.seconds(5)

    private let tracer: Tracer
    private let traces: Configuration.Traces
    private let resource: OTLPResource
    private let fetcher: Fetcher
    private let logger: Logger

    init(
        _ traces: Configuration.Traces, _ tracer: Tracer, _ resource: OTLPResource, logger: Logger
    ) throws {
        self.tracer = tracer
        self.traces = traces
        self.resource = resource
        self.logger = logger
        let host = try WebURL(traces.url).host
        fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate", allowed: try FetchAllowList(parsing: host)))
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var pause = Self.interval
            while !Task.isCancelled {
                try? await Task.sleep(for: pause)
                if Task.isCancelled { break }
                if await exportAll() {
                    pause = Self.interval
                } else {
                    pause = min(pause * 2, Self.pauseMax)
                }
            }
        }
        _ = await exportAll()
    }

    /// Returns whether all spans were sent.
    private func exportAll() async -> Bool {
        while true {
            let spans = tracer.take(Self.batchSize)
            if spans.isEmpty { return true }
            switch await send(spans) {
            case .accepted: break
            case .refused: tracer.drop(spans.count)
            case .unavailable:
                tracer.putBack(spans)
                return false
            }
        }
    }

    private enum Outcome {
        case accepted, refused, unavailable
    }

    private func send(_ spans: [TraceSpan]) async -> Outcome {
        let request = FetchRequest(
            url: traces.url, method: .json(resource.json(spans)), deadline: Self.deadline,
            bodyBytesMax: 64 << 10, redirectsMax: 0)
        let problem: String
        let outcome: Outcome
        do throws(FetchError) {
            let response = try await fetcher.fetch(request)
            if (200...299).contains(response.status) { return .accepted }
            problem = "status \(response.status)"
            // The specification lists these as temporary. Other requests must not be repeated.
            outcome = [429, 502, 503, 504].contains(response.status) ? .unavailable : .refused
        } catch {
            // A stopping server sends the spans again after its last request.
            if Task.isCancelled { return .unavailable }
            problem = "\(error)"
            outcome = .unavailable
        }
        logger.warning(
            "the collector did not accept spans",
            metadata: [
                "spans": .stringConvertible(spans.count), "error": "\(problem)",
                "retry": .stringConvertible(outcome == .unavailable),
            ])
        return outcome
    }
}
