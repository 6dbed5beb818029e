import Gzip
import NIOCore

/// Compresses the JSON responses of one event loop for clients that accept gzip.
///
/// Spec: RFC 9110, sections 8.4 and 12.5.3
package final class ResponseCompressor {
    /// Responses up to this size stay uncompressed: they fit in a packet or two anyway.
    static let bytesMin = 1024
    /// The number of bytes to compress before other requests of the loop get their turn. It takes about a millisecond.
    static let sliceBytes = 64 << 10

    /// The compressor of responses of at most one slice.
    private lazy var shared = GzipCompressor()

    package init() {}

    /// Returns the response with a compressed body if the client accepts it and the response is large enough.
    package func compress(_ response: HTTPResponse, for request: HTTPRequest) async -> HTTPResponse
    {
        let body = response.body
        guard request.headers.acceptsGzip, body.readableBytes > Self.bytesMin,
            response.stream == nil, response.contentType?.hasPrefix("application/") == true
        else { return response }
        // A larger response needs a compressor of its own: others are compressed between its slices.
        let isLarge = body.readableBytes > Self.sliceBytes
        guard let compressor = isLarge ? GzipCompressor() : shared else { return response }
        var file: [UInt8] = []
        var start = 0
        while start < body.readableBytes {
            if start > 0 { await Task.yield() }
            let end = min(start + Self.sliceBytes, body.readableBytes)
            body.withUnsafeReadableBytes { bytes in
                compressor.compress(
                    UnsafeBufferPointer(
                        rebasing: bytes.assumingMemoryBound(to: UInt8.self)[start..<end]),
                    isLast: end == body.readableBytes, to: &file)
            }
            start = end
        }
        var compressed = response
        compressed.body = ByteBuffer(bytes: file)
        compressed.headers.append(("Content-Encoding", "gzip"))
        return compressed
    }
}
