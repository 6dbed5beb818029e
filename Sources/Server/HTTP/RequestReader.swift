import NIOCore
import NIOHTTP1

/// Puts a request together from its parts and says what is to be done about them; it does no I/O.
///
/// A class, because what it holds is much to copy.
final class RequestReader {
    enum Action {
        case wait
        /// The client holds its body back until it is told to go on.
        case sendContinue
        /// The rest of the request will not be read: the connection ends with this answer.
        case refuse(HTTPProblem)
        case answer(HTTPRequest, by: Route)
        case upgrade(HTTPRequest, HTTPRequestHead, WebSocketEndpoint)
        /// The request has been read to its end, and the connection may go on.
        case answerProblem(HTTPProblem)
        /// A preflight, or an OPTIONS for its own sake.
        case answerOptions(allow: String)
    }

    private enum Target {
        case route(Route)
        case options(allow: String)
        case problem(HTTPProblem)
    }

    /// What a body may have that nobody will read.
    private static let unreadBodyBytesMax = 64 << 10
    private static let bodyBytesPerSecondMin = 128 << 10

    private var request: HTTPRequest
    private let target: Target
    private let bodyBytesMax: Int
    let isKeepAlive: Bool
    var method: HTTPMethod { request.method }
    var path: Substring { request.path }
    var id: String { request.id }
    /// The path of the route that answers; nil where none does.
    var route: String? { if case .route(let route) = target { route.path } else { nil } }
    /// Whether a page of another origin may have sent it, and may read the answer.
    let isCrossOrigin: Bool
    /// The head of a request that asks for a WebSocket.
    private let webSocketHead: HTTPRequestHead?

    /// Begins with a request's head, whose first action follows from `headAction`.
    init(_ head: HTTPRequestHead, routes: RouteTable, newID: () -> String) {
        let headers = RequestHeaders(head.headers)
        let (path, query) = Self.split(head.uri)
        request = HTTPRequest(
            method: head.method, path: path, query: query, headers: headers,
            body: ByteBuffer(), id: headers.requestID.flatMap(RequestID.wellFormed) ?? newID())
        // The parser reads nothing after a request that asks for another protocol, so the answer is the last;
        // HTTP/1.0 has its own way of keeping connections, which nobody needs any more.
        isKeepAlive =
            head.isKeepAlive && head.version == .http1_1 && !headers.hasUpgrade
            && head.method != .CONNECT
        isCrossOrigin = headers.origin != nil && routes.allowsOtherOrigins(path: path)
        webSocketHead =
            headers.hasUpgrade && WebSocketEndpoint.isAskedFor(head) ? head : nil
        let target = Self.target(of: request, version: head.version, in: routes)
        guard case .route(let route) = target else {
            self.target = target
            bodyBytesMax = Self.unreadBodyBytesMax
            return
        }
        switch route.admit?(request) ?? .accepted(bodyBytesMax: route.bodyBytesMax) {
        case .accepted(let bytesMax):
            self.target = target
            bodyBytesMax = bytesMax
        case .refused(let problem):
            self.target = .problem(problem)
            bodyBytesMax = Self.unreadBodyBytesMax
        }
    }

    /// What the body's announced length may take to arrive, besides the time that any body has.
    var bodyAllowance: TimeAmount {
        let length = min(request.headers.contentLength.flatMap { Int($0) } ?? 0, bodyBytesMax)
        return .seconds(Int64(length / Self.bodyBytesPerSecondMin))
    }

    /// What to do now that the head is known.
    func headAction(version: HTTPVersion) -> Action {
        if let text = request.headers.contentLength {
            // The parser has checked that these are digits; more of them than an Int holds are too large, too.
            guard let length = Int(text), length <= bodyBytesMax else {
                if case .problem(let problem) = target { return .refuse(problem) }
                return .refuse(.bodyTooLarge(bytesMax: bodyBytesMax))
            }
        }
        guard let expect = request.headers.expect, version == .http1_1 else { return .wait }
        guard expect.lowercased() == "100-continue" else { return .refuse(.expectationFailed) }
        // A client that waits for leave to send gets a refusal before it has sent anything.
        if case .problem(let problem) = target { return .refuse(problem) }
        return .sendContinue
    }

    func bodyAction(_ part: inout ByteBuffer) -> Action {
        guard part.readableBytes <= bodyBytesMax - request.body.readableBytes else {
            return .refuse(.bodyTooLarge(bytesMax: bodyBytesMax))
        }
        if request.body.readableBytes == 0 {
            request.body = part
        } else {
            request.body.writeBuffer(&part)
        }
        return .wait
    }

    /// What to do now that the request is whole.
    func endAction() -> Action {
        switch target {
        case .route(let route):
            if let webSocketHead, let endpoint = route.webSocket {
                .upgrade(request, webSocketHead, endpoint)
            } else {
                .answer(request, by: route)
            }
        case .options(let allow): .answerOptions(allow: allow)
        case .problem(let problem): .answerProblem(problem)
        }
    }

    private static func target(
        of request: HTTPRequest, version: HTTPVersion, in routes: RouteTable
    ) -> Target {
        if request.headers.isAmbiguous {
            return .problem(.badRequest("A header that must stand alone was sent twice."))
        }
        if version == .http1_1 ? request.headers.hostCount != 1 : request.headers.hostCount > 1 {
            return .problem(.badRequest("The request must have one Host header."))
        }
        switch routes.find(request.method, path: request.path) {
        case .route(let route): return .route(route)
        case .options(let allow): return .options(allow: allow)
        case .methodNotAllowed(let allow): return .problem(.methodNotAllowed(allow: allow))
        case .notFound: return .problem(.notFound)
        }
    }

    /// Path and query of a request's target, which may be a whole address where a proxy sent it.
    private static func split(_ target: String) -> (Substring, Substring?) {
        var rest = target[...]
        for scheme in ["http://", "https://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.utf8.count).drop { $0 != "/" && $0 != "?" }
            if rest.first != "/" { return ("/", rest.isEmpty ? nil : rest.dropFirst()) }
        }
        guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (rest, nil) }
        return (rest[..<mark], rest[rest.utf8.index(after: mark)...])
    }
}
