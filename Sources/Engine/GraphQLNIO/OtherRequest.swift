import GraphQLServing
import NIOCore
import NIOHTTP1

/// A request for a path other than that of GraphQL. See ``GraphQLServer/Options/otherRequests``.
public struct OtherRequest: Sendable {
    /// The method, the target of the request line as it was sent, and all headers. A request with the method HEAD has GET here,
    /// and the body of its response is not sent.
    public var head: HTTPRequestHead
    /// The complete body, of at most ``GraphQLServer/Options/bodyBytesMax``.
    public var body: ByteBuffer
    /// The client's `x-request-id` if it is valid, or else a generated id. The response has the same header.
    public var id: String
    /// The client's address; nil if the connection does not use TCP.
    public var client: ClientAddress?

    /// Creates a request, for example for a test of a handler.
    public init(
        _ head: HTTPRequestHead, body: ByteBuffer = ByteBuffer(), id: String = "",
        client: ClientAddress? = nil
    ) {
        self.head = head
        self.body = body
        self.id = id
        self.client = client
    }

    /// The method, such as `POST`. It is `GET` for HEAD requests.
    public var method: HTTPMethod { head.method }
    /// The headers. Names are compared without regard to case.
    public var headers: HTTPHeaders { head.headers }
    /// The path without the query, with its percent-encoding.
    public var path: Substring { RequestTarget(head.uri).path }
    /// The query after `?`, with its percent-encoding; nil without `?`.
    public var query: Substring? { RequestTarget(head.uri).query }
}

/// The response to an ``OtherRequest``.
public struct OtherResponse: Sendable {
    /// The status. Informational ones (1xx) cannot be sent: the client gets status 500 in their place. Control characters in the
    /// reason phrase become spaces.
    public var status: HTTPResponseStatus
    /// Headers such as `Content-Type`.
    ///
    /// The server adds `Content-Length`, `Date`, `X-Request-ID`, and `X-Content-Type-Options: nosniff`, and decides whether the
    /// connection is kept. It ignores these headers here, and `Connection` and `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// The complete body. It is not sent in response to HEAD.
    public var body: ByteBuffer

    /// Creates a response.
    public init(
        _ status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response with a text.
    public init(
        _ status: HTTPResponseStatus, text: String,
        contentType: String = "text/plain; charset=utf-8"
    ) {
        self.init(
            status, headers: ["Content-Type": contentType], body: ByteBuffer(string: text))
    }
}

/// Handles the requests for all paths that have no route. The server must keep the heads of requests.
func otherRequestsRoute(
    bodyBytesMax: Int, _ respond: @escaping (OtherRequest) async -> OtherResponse?
) -> Route {
    Route(nil, "/*", bodyBytesMax: bodyBytesMax) { request in
        guard var head = request.wholeHead else { return HTTPProblem.notFound.response() }
        // As in `RouteTable`, HEAD has the response of GET without its body.
        if head.method == .HEAD { head.method = .GET }
        let response = await respond(
            OtherRequest(head, body: request.body, id: request.id, client: request.client))
        guard let response else { return HTTPProblem.notFound.response() }
        return HTTPResponse(response)
    }
}

extension HTTPResponse {
    /// The headers that the connection writes itself.
    private static let ownHeaders: Set<String> = [
        "connection", "content-length", "date", "transfer-encoding", "x-content-type-options",
        "x-request-id",
    ]

    /// A line break in a reason phrase would start a header.
    private static func withoutLineBreaks(_ status: HTTPResponseStatus) -> HTTPResponseStatus {
        guard case .custom(let code, let phrase) = status else { return status }
        let bytes = phrase.utf8.map { $0.isControl ? UInt8(ascii: " ") : $0 }
        return .custom(code: code, reasonPhrase: String(decoding: bytes, as: UTF8.self))
    }

    fileprivate init(_ response: OtherResponse) {
        guard (200...999).contains(response.status.code) else {
            self.init(.internalServerError)
            return
        }
        self.init(
            Self.withoutLineBreaks(response.status), body: response.body,
            headers: response.headers.compactMap { name, value in
                // A line break in a name would start another header.
                let isToken = !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte)
                return isToken && !Self.ownHeaders.contains(name.lowercased())
                    ? (name, value) : nil
            })
    }
}
