import Logging
import NIOCore
import NIOHTTP1

/// What an answer needs to know of its request.
struct Exchange {
    /// nil for a request that could not be read.
    private let reader: RequestReader?
    let id: String
    var isKeepAlive: Bool
    /// When the request's head was read.
    let start: NIODeadline

    init(_ reader: RequestReader) {
        self.reader = reader
        start = reader.start
        id = reader.request.id
        isKeepAlive = reader.isKeepAlive
    }

    /// Of a request that could not be read.
    init(id: String) {
        reader = nil
        start = .now()
        self.id = id
        isKeepAlive = false
    }

    var method: HTTPMethod { reader?.request.method ?? .GET }
    /// The route that is asked; nil where none is.
    var route: Route? { reader?.route }
    /// Whether a page of another origin may have sent the request, and may read the answer.
    var isCrossOrigin: Bool { reader?.isCrossOrigin ?? false }
    /// Whether a body can come in chunks; otherwise it lasts as long as the connection.
    var takesChunks: Bool { reader?.version != .http1_0 }

    /// Notes that the request's task is cancelled because it takes too long.
    func timeOut() { reader?.request.timeout?.pass() }

    var hasTimedOut: Bool { reader?.request.timeout?.hasPassed ?? false }

    private var summary: String {
        reader.map { "\($0.request.method.rawValue) \($0.request.path)" } ?? "unreadable"
    }

    /// Logs one line for the request. It has the path only, because a query may contain secrets.
    func log(_ response: HTTPResponse, to logger: Logger) {
        let status = Int(response.status.code)
        logger.log(
            level: status >= 500 ? .warning : .debug,
            "\(summary) \(status)",
            metadata: [
                "request_id": "\(id)",
                "microseconds": "\((NIODeadline.now() - start).nanoseconds / 1000)",
                "bytes": "\(response.bodyByteCount)",
            ])
    }
}
