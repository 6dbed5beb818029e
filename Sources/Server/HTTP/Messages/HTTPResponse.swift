import NIOCore
import NIOHTTP1
import Objects

/// What a route answers; the connection adds what every answer has.
package struct HTTPResponse {
    package var status: HTTPResponseStatus
    /// Nil where there is no body.
    package var contentType: String?
    package var body: ByteBuffer
    /// In place of `body`: a part of a file, which the kernel sends.
    var file: (ServedFile, Range<Int>)?
    /// More headers: name, in lower case, and value.
    package var headers: [(String, String)]
    /// More headers, as they are sent: `name: value CR LF`, of answers that are made once.
    var preparedHeaders = ""
    /// Writes the body, in place of `body`, in parts as they come; run after the head is sent.
    package var stream: ((BodyStream) async -> Void)?

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

    /// All of an open file.
    package static func file(
        _ object: OpenObject, contentType: String, headers: [(String, String)]
    ) -> HTTPResponse {
        var response = HTTPResponse(.ok, contentType: contentType, headers: headers)
        response.file = (ServedFile(object, tag: ""), 0..<object.byteCount)
        return response
    }

    /// Text of the given media type.
    package static func text(
        _ status: HTTPResponseStatus, _ body: String,
        contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(status, contentType: contentType, body: ByteBuffer(string: body))
    }
}
