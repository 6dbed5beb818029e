import NIOCore
import NIOHTTP1

/// A route's response. The connection adds the headers that every response has.
package struct HTTPResponse {
    package var status: HTTPResponseStatus
    /// nil without a body.
    package var contentType: String?
    package var body: ByteBuffer
    /// A part of a file to send in place of `body`.
    package var file: (OpenFile, Range<Int>)?
    /// Additional headers. Names are in lower case.
    package var headers: [(String, String)]
    /// Additional serialized headers, each as `name: value CR LF`. They save time for responses that are prepared once.
    package var preparedHeaders = ""
    /// Writes the body in parts, in place of `body`. Runs after the head is sent.
    package var stream: ((BodyStream) async -> Void)?
    /// Whether `stream` writes the events of a subscription, which may never end.
    var hasEvents = false
    /// The name of the GraphQL operation, for the log; nil if there is none.
    var operationName: String?

    package init(
        _ status: HTTPResponseStatus, contentType: String? = nil, body: ByteBuffer = ByteBuffer(),
        headers: [(String, String)] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    var bodyByteCount: Int { file?.1.count ?? body.readableBytes }

    /// Returns a response with text of the given media type.
    package static func text(
        _ status: HTTPResponseStatus, _ body: String,
        contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(status, contentType: contentType, body: ByteBuffer(string: body))
    }
}
