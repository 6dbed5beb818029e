import NIOCore
import NIOHTTP1

/// Writes the status line and the headers of a response into one buffer.
///
/// Spec: RFC 9112, section 4
extension Exchange {
    func writeHead(of response: HTTPResponse, date: String, to bytes: inout ByteBuffer) {
        bytes.write(statusLine: response.status)
        if let contentType = response.contentType {
            bytes.write("Content-Type", contentType)
        }
        if response.status.mayHaveResponseBody {
            if response.stream == nil {
                bytes.write("Content-Length", String(response.bodyByteCount))
            } else if takesChunks {
                bytes.writeStaticString("Transfer-Encoding: chunked\r\n")
            }
        }
        bytes.write("X-Request-ID", id)
        bytes.write("Date", date)
        bytes.writeStaticString("X-Content-Type-Options: nosniff\r\n")
        if isCrossOrigin { writeCrossOrigin(to: &bytes) }
        for (name, value) in response.headers { bytes.write(name, value) }
        if !response.preparedHeaders.isEmpty { bytes.writeString(response.preparedHeaders) }
        if !isKeepAlive { bytes.writeStaticString("Connection: close\r\n") }
        bytes.writeStaticString("\r\n")
    }

    /// Allows every origin to call the API. Requests are authenticated by a token, which browsers do not add by
    /// themselves.
    private func writeCrossOrigin(to bytes: inout ByteBuffer) {
        bytes.writeStaticString("Access-Control-Allow-Origin: *\r\n")
        bytes.write(
            "Access-Control-Expose-Headers",
            "x-request-id, retry-after, ratelimit, ratelimit-policy, location, etag")
    }

    /// The headers of a response to a CORS preflight: the methods of the path, the request headers that this server
    /// reads, and those that Apollo's clients add to identify the client and the operation. Browsers block a request
    /// from another origin with any other header that needs a preflight.
    ///
    /// Spec: https://fetch.spec.whatwg.org/#http-cors-protocol
    func preflightHeaders(allow: String) -> [(String, String)] {
        [
            ("Access-Control-Allow-Methods", allow),
            (
                "Access-Control-Allow-Headers",
                "accept, apollo-require-preflight, apollographql-client-name, apollographql-client-version, "
                    + "authorization, content-type, graphql-client-name, graphql-client-version, "
                    + "graphql-preflight, if-none-match, if-range, range, traceparent, "
                    + "x-apollo-operation-id, x-apollo-operation-name, x-request-id"
            ),
            ("Access-Control-Max-Age", "7200"),
        ]
    }
}

extension ByteBuffer {
    static let continueHead = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")
    /// The end of a chunked body.
    static let lastChunk = ByteBuffer(string: "0\r\n\r\n")

    fileprivate mutating func write(statusLine status: HTTPResponseStatus) {
        switch status {
        case .ok: writeStaticString("HTTP/1.1 200 OK\r\n")
        default: writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
    }

    /// Writes one header. Control characters in the value become spaces, because a line break would start another
    /// header.
    mutating func write(_ name: String, _ value: String) {
        var (name, value) = (name, value)
        name.withUTF8 { name in
            value.withUTF8 { value in
                let byteCount = name.count + value.count + 4
                writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { bytes in
                    bytes[..<name.count].copyBytes(from: name)
                    bytes[name.count] = UInt8(ascii: ":")
                    bytes[name.count + 1] = 0x20
                    let start = name.count + 2
                    bytes[start..<(start + value.count)].copyBytes(from: value)
                    var index = value.span.indexOfPossibleControl(from: 0)
                    while index < value.count {
                        if value[index].isControl { bytes[start + index] = 0x20 }
                        index = value.span.indexOfPossibleControl(from: index + 1)
                    }
                    bytes[byteCount - 2] = 0x0D
                    bytes[byteCount - 1] = 0x0A
                    return byteCount
                }
            }
        }
    }

    /// The bytes as one chunk of a body. An empty buffer stays empty, because an empty chunk would end the body.
    var chunk: ByteBuffer {
        if readableBytes == 0 { return self }
        var chunk = ByteBuffer()
        chunk.reserveCapacity(readableBytes + 20)
        chunk.writeString("\(String(readableBytes, radix: 16))\r\n")
        chunk.writeImmutableBuffer(self)
        chunk.writeStaticString("\r\n")
        return chunk
    }
}
