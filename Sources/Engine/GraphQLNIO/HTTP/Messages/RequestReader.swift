import Gzip
import NIOCore
import NIOHTTP1

/// Assembles a request from its parts, and returns what to do next. It performs no I/O.
///
/// A class, because its state is expensive to copy.
final class RequestReader {
    enum Action {
        case wait
        /// Send `100 Continue`: the client waits for it before it sends the body.
        case sendContinue
        /// Respond with an error without reading the rest of the request, and close the connection.
        case refuse(HTTPProblem)
        case respond(with: Route)
        case upgrade(HTTPRequestHead, WebSocketEndpoint)
        /// Respond with an error. The request has been read completely, so the connection can be kept.
        case respondWithProblem(HTTPProblem)
        /// Respond to OPTIONS, which may be a CORS preflight. `allow` lists the allowed methods.
        case respondToOptions(HTTPResponseStatus, allow: String)
    }

    private enum Target {
        case route(Route)
        case options(HTTPResponseStatus, allow: String)
        case problem(HTTPProblem)
    }

    /// The maximum size of a body that is read only to keep the connection.
    private static let unreadBodyBytesMax = 64 << 10
    private static let bodyBytesPerSecondMin = 128 << 10

    var request: HTTPRequest
    /// The time when the head was complete.
    let start = NIODeadline.now()
    let version: HTTPVersion
    private let target: Target
    private let bodyBytesMax: Int
    let isKeepAlive: Bool
    /// The request's route, even if its head check refused the request; nil if no route matches.
    let route: Route?
    /// Whether a page of another origin may have sent the request and may read the response.
    let isCrossOrigin: Bool
    /// Whether the body is compressed with gzip.
    private var isCompressed = false
    /// Whether the route gets the body as `storedBody`. A compressed one is decompressed in memory.
    private var isStored = false
    /// The file of the body; nil before its first byte, and if the body is kept in memory.
    private(set) var bodyFile: BodyFile?
    /// The head of a WebSocket handshake; nil for other requests.
    private let webSocketHead: HTTPRequestHead?

    /// Begins with a request's head. Call `headAction` next.
    init(_ head: RequestHead, routes: RouteTable, newID: () -> String) {
        version = head.line.version
        request = HTTPRequest(
            method: head.line.method, target: RequestTarget(head.line.target),
            headers: head.storedHeaders,
            body: ByteBuffer(),
            id: head.headers.requestID.flatMap(RequestID.wellFormed) ?? newID())
        // A connection closes after a request for another protocol. Persistent connections of HTTP/1.0 are not
        // supported.
        isKeepAlive =
            !head.headers.hasConnectionClose && version == .http1_1 && !head.headers.hasUpgrade
            && request.method != .CONNECT
        isCrossOrigin = head.headers.origin != nil && routes.allowsOtherOrigins(path: request.path)
        webSocketHead =
            head.headers.hasUpgrade
            ? head.storedHeaders.wholeHead.flatMap {
                WebSocketEndpoint.isUpgradeRequest($0) ? $0 : nil
            } : nil
        let target = Self.target(of: request, version: version, in: routes)
        guard case .route(let route) = target else {
            self.target = target
            route = nil
            bodyBytesMax = Self.unreadBodyBytesMax
            return
        }
        self.route = route
        // Without a body the header has no effect.
        let coding = head.framing == .length(0) ? .identity : head.headers.contentCoding
        guard coding == .identity || coding == .gzip && route.acceptsGzip else {
            self.target = .problem(.unsupportedContentEncoding(acceptsGzip: route.acceptsGzip))
            bodyBytesMax = Self.unreadBodyBytesMax
            return
        }
        isCompressed = coding == .gzip
        switch route.checkHead?(request) ?? .accepted(bodyBytesMax: route.bodyBytesMax) {
        case .accepted(let bytesMax, let isStored):
            self.target = target
            self.isStored = isStored
            // Uploads may be larger than other bodies. They contain images, which are compressed already.
            bodyBytesMax = isCompressed ? min(bytesMax, route.bodyBytesMax) : bytesMax
        case .refused(let problem):
            self.target = .problem(problem)
            bodyBytesMax = Self.unreadBodyBytesMax
        }
    }

    /// The additional time for the body to arrive, according to its announced length.
    var bodyAllowance: TimeAmount {
        let length = min(request.headers.contentLength ?? 0, bodyBytesMax)
        return .seconds(Int64(length / Self.bodyBytesPerSecondMin))
    }

    /// Returns the action after the head.
    func headAction() -> Action {
        if let length = request.headers.contentLength, length > bodyBytesMax {
            if case .problem(let problem) = target { return .refuse(problem) }
            return .refuse(.bodyTooLarge(bytesMax: bodyBytesMax))
        }
        guard let expect = request.headers.expect, version == .http1_1 else { return .wait }
        guard expect.lowercased() == "100-continue" else {
            return .refuse(.expectationFailed)
        }
        // A client that waits for `100 Continue` gets an error before it has sent the body.
        if case .problem(let problem) = target { return .refuse(problem) }
        return .sendContinue
    }

    /// The maximum size of a compressed body is this part of that of its contents. Decompression blocks the event loop, and bytes
    /// without contents, such as tables of codes, take as long as contents.
    private static let compressedShare = 4

    /// The size of the part of the body that has arrived.
    var bodyByteCount: Int { bodyFile?.byteCount ?? request.body.readableBytes }

    /// Returns the action after a part of the body.
    ///
    /// - Parameter makeFile: Creates the file of a body that is stored.
    func bodyAction(_ part: inout ByteBuffer, makeFile: () -> BodyFile) -> Action {
        let bytesMax = isCompressed ? bodyBytesMax / Self.compressedShare : bodyBytesMax
        guard part.readableBytes <= bytesMax - bodyByteCount else {
            return .refuse(.bodyTooLarge(bytesMax: bytesMax))
        }
        if isStored, !isCompressed {
            let file = bodyFile ?? makeFile()
            bodyFile = file
            file.append(&part)
        } else if request.body.readableBytes == 0 {
            request.body = part
        } else {
            request.body.writeBuffer(&part)
        }
        return .wait
    }

    /// Returns the action after the end of the request.
    func endAction() -> Action {
        switch target {
        case .route(let route):
            if let webSocketHead, let endpoint = route.webSocket {
                return .upgrade(webSocketHead, endpoint)
            }
            do throws(GzipError) {
                if isCompressed { try decompressBody() }
                if isStored { storeBody() }
                return .respond(with: route)
            } catch .tooLarge {
                return .respondWithProblem(.bodyTooLarge(bytesMax: bodyBytesMax))
            } catch {
                return .respondWithProblem(
                    .badRequest("The request's body is not valid gzip data."))
            }
        case .options(let status, let allow): return .respondToOptions(status, allow: allow)
        case .problem(let problem): return .respondWithProblem(problem)
        }
    }

    private func storeBody() {
        request.storedBody =
            bodyFile?.contents ?? .memory(Array(request.body.readableBytesView))
        request.body = ByteBuffer()
    }

    /// Replaces the body by its contents, which have the same limit as a body that is not compressed.
    private func decompressBody() throws(GzipError) {
        let contents = try gunzip(Array(request.body.readableBytesView), bytesMax: bodyBytesMax)
        request.body = ByteBuffer(bytes: contents)
    }

    private static func target(
        of request: HTTPRequest, version: HTTPVersion, in routes: RouteTable
    ) -> Target {
        if request.headers.isAmbiguous {
            return .problem(.badRequest("A header that must be unique was sent twice."))
        }
        if version == .http1_1 ? request.headers.hostCount != 1 : request.headers.hostCount > 1 {
            return .problem(.badRequest("The request must have exactly one Host header."))
        }
        // RFC 9110, section 9.3.7: the request applies to the server as a whole, like a ping.
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
