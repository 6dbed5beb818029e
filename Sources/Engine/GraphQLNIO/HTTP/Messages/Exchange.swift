import Logging
import NIOCore
import NIOHTTP1

/// The properties of a request that its response depends on.
struct Exchange {
    /// nil if the request could not be parsed.
    private let reader: RequestReader?
    let id: String
    var isKeepAlive: Bool
    /// The time when the request's head was complete.
    let start: NIODeadline

    init(_ reader: RequestReader) {
        self.reader = reader
        start = reader.start
        id = reader.request.id
        isKeepAlive = reader.isKeepAlive
    }

    /// Creates the exchange of a request that could not be parsed.
    init(id: String) {
        reader = nil
        start = .now()
        self.id = id
        isKeepAlive = false
    }

    var method: HTTPMethod { reader?.request.method ?? .GET }
    /// The request's route; nil if no route matches.
    var route: Route? { reader?.route }
    /// Whether a page of another origin may have sent the request and may read the response.
    var isCrossOrigin: Bool { reader?.isCrossOrigin ?? false }
    /// Whether a body can be sent in chunks. Otherwise it ends when the connection is closed.
    var takesChunks: Bool { reader?.version != .http1_0 }

    /// Records that the request's task is cancelled because it takes too long.
    func timeOut() { reader?.request.timeout?.pass() }

    var hasTimedOut: Bool { reader?.request.timeout?.hasPassed ?? false }

    /// Whether a monitor has sent the request: a health probe, or a scrape of the metrics.
    private var isFromMonitor: Bool {
        route.map { $0.path.hasPrefix("/health/") || $0.path == "/metrics" } ?? false
    }

    /// Returns the start of a path that no route matches. The rest may be a secret, such as the token of an export.
    private static func firstSegment(of path: Substring) -> String {
        let segment = path.dropFirst().prefix(100).prefix { $0 != "/" }
        return "/\(segment)" + (segment.endIndex == path.endIndex ? "" : "/…")
    }

    /// The method, the path of the route, and the id of the request. It contains no secrets.
    var summary: String { "\(method.rawValue) \(route?.path ?? "without route") \(id)" }

    /// Logs one line for the request. It contains the path of the route, because the query and the rest of the path may
    /// contain secrets, such as the token of an export.
    ///
    /// - Parameter level: The log level of requests that did not fail. Requests of monitors, which repeat every few seconds, always
    ///   have the level `debug` instead.
    func log(_ response: HTTPResponse, to logger: Logger, level: Logger.Level) {
        let status = Int(response.status.code)
        let level = isFromMonitor ? .debug : status >= 500 ? .warning : level
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "request_id": "\(id)", "status": .stringConvertible(status),
            "microseconds": .stringConvertible((NIODeadline.now() - start).nanoseconds / 1000),
            "bytes": .stringConvertible(response.bodyByteCount),
        ]
        if let request = reader?.request {
            metadata["method"] = "\(request.method.rawValue)"
            metadata["path"] = "\(route?.path ?? Self.firstSegment(of: request.path))"
            if let client = request.client { metadata["client"] = "\(client.text)" }
            if let operation = response.operationName { metadata["operation"] = "\(operation)" }
        }
        logger.log(level: level, "request", metadata: metadata)
    }
}
