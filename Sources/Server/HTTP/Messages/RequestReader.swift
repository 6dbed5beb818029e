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
        case answer(by: Route)
        case upgrade(HTTPRequestHead, WebSocketEndpoint)
        /// The request has been read to its end, and the connection may go on.
        case answerProblem(HTTPProblem)
        /// OPTIONS, which may be a CORS preflight, with the methods that are allowed.
        case answerOptions(HTTPResponseStatus, allow: String)
    }

    private enum Target {
        case route(Route)
        case options(HTTPResponseStatus, allow: String)
        case problem(HTTPProblem)
    }

    /// What a body may have that nobody will read.
    private static let unreadBodyBytesMax = 64 << 10
    private static let bodyBytesPerSecondMin = 128 << 10

    var request: HTTPRequest
    /// When the head was read.
    let start = NIODeadline.now()
    let version: HTTPVersion
    private let target: Target
    private let bodyBytesMax: Int
    let isKeepAlive: Bool
    /// The route that is asked, also where it does not admit the request; nil where none is.
    let route: Route?
    /// Whether a page of another origin may have sent it, and may read the answer.
    let isCrossOrigin: Bool
    /// The head of a request that asks for a WebSocket.
    private let webSocketHead: HTTPRequestHead?

    /// Begins with a request's head, whose first action follows from `headAction`.
    init(_ head: RequestHead, routes: RouteTable, newID: () -> String) {
        let headers = head.headers
        version = head.line.version
        request = HTTPRequest(
            method: head.line.method, target: RequestTarget(head.line.target), headers: headers,
            body: ByteBuffer(), id: headers.requestID.flatMap(RequestID.wellFormed) ?? newID())
        // After a request that asks for another protocol the answer is the last;
        // HTTP/1.0 has its own way of keeping connections, which nobody needs any more.
        isKeepAlive =
            !headers.wantsClose && version == .http1_1 && !headers.hasUpgrade
            && request.method != .CONNECT
        isCrossOrigin = headers.origin != nil && routes.allowsOtherOrigins(path: request.path)
        webSocketHead = head.upgrade.flatMap { WebSocketEndpoint.isAskedFor($0) ? $0 : nil }
        let target = Self.target(of: request, version: version, in: routes)
        guard case .route(let route) = target else {
            self.target = target
            route = nil
            bodyBytesMax = Self.unreadBodyBytesMax
            return
        }
        self.route = route
        // Without a body nothing is encoded, so the header is harmless.
        if headers.hasContentCoding, head.framing != .length(0) {
            self.target = .problem(.unsupportedContentEncoding)
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
        let length = min(request.headers.contentLength ?? 0, bodyBytesMax)
        return .seconds(Int64(length / Self.bodyBytesPerSecondMin))
    }

    /// What to do now that the head is known.
    func headAction() -> Action {
        if let length = request.headers.contentLength, length > bodyBytesMax {
            if case .problem(let problem) = target { return .refuse(problem) }
            return .refuse(.bodyTooLarge(bytesMax: bodyBytesMax))
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
                .upgrade(webSocketHead, endpoint)
            } else {
                .answer(by: route)
            }
        case .options(let status, let allow): .answerOptions(status, allow: allow)
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
        // RFC 9110, section 9.3.7: it asks about the server as a whole, like a ping.
        if request.method == .OPTIONS, request.target.text == "*" {
            return .options(.ok, allow: routes.allow)
        }
        switch routes.find(request.method, path: request.path) {
        case .route(let route): return .route(route)
        case .options(let allow): return .options(.noContent, allow: allow)
        case .methodNotAllowed(let allow): return .problem(.methodNotAllowed(allow: allow))
        case .notFound: return .problem(.notFound)
        }
    }
}
