import Logging
import NIOCore
import NIOHTTP1

/// What an answer needs to know of its request.
struct Exchange {
    var method: HTTPMethod
    var path: Substring
    /// The path of the route that answers; nil where none does.
    var route: String?
    var id: String
    var isKeepAlive: Bool
    /// Whether a page of another origin may have sent the request, and may read the answer.
    var isCrossOrigin: Bool
    var start = NIODeadline.now()

    init(_ reader: RequestReader) {
        method = reader.method
        path = reader.path
        route = reader.route
        id = reader.id
        isKeepAlive = reader.isKeepAlive
        isCrossOrigin = reader.isCrossOrigin
    }

    /// Of a request that could not be read.
    init(id: String) {
        method = .GET
        path = ""
        self.id = id
        isKeepAlive = false
        isCrossOrigin = false
    }

    /// The answer's head, with what every answer has.
    func head(of response: HTTPResponse, date: String) -> HTTPResponseHead {
        var headers = HTTPHeaders()
        headers.reserveCapacity(10 + response.headers.count)
        if let contentType = response.contentType {
            headers.add(name: "content-type", value: contentType)
        }
        if response.status.mayHaveResponseBody, response.stream == nil {
            headers.add(name: "content-length", value: String(response.bodyByteCount))
        }
        headers.add(name: "x-request-id", value: id)
        headers.add(name: "date", value: date)
        headers.add(name: "x-content-type-options", value: "nosniff")
        if isCrossOrigin {
            // Every origin is welcome: who asks is told by a token that no browser adds by itself.
            headers.add(name: "access-control-allow-origin", value: "*")
            headers.add(
                name: "access-control-expose-headers",
                value: "x-request-id, retry-after, location, etag")
            if method == .OPTIONS {
                headers.add(
                    name: "access-control-allow-headers",
                    value: "authorization, content-type, x-request-id, *")
                headers.add(
                    name: "access-control-allow-methods", value: "GET, HEAD, POST, PUT, DELETE")
                headers.add(name: "access-control-max-age", value: "7200")
            }
        }
        for (name, value) in response.headers { headers.add(name: name, value: value) }
        if !isKeepAlive { headers.add(name: "connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
    }

    /// One line for the request; the path only, since a query may hold what is not for a log.
    func log(_ response: HTTPResponse, to logger: Logger) {
        let status = Int(response.status.code)
        logger.log(
            level: status >= 500 ? .warning : .debug, "\(method.rawValue) \(path) \(status)",
            metadata: [
                "request_id": "\(id)",
                "microseconds": "\((NIODeadline.now() - start).nanoseconds / 1000)",
                "bytes": "\(response.bodyByteCount)",
            ])
    }
}
