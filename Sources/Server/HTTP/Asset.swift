import NIOCore
import NIOHTTP1

/// A file of the server's own, served from memory with a strong ETag.
struct Asset: Sendable {
    private let contentType: String
    private let body: ByteBuffer
    private let tag: String
    private let headers: [(String, String)]

    init(_ bytes: [UInt8], contentType: String, headers: [(String, String)] = []) {
        self.contentType = contentType
        body = ByteBuffer(bytes: bytes)
        // FNV-1a tells one version of our own file from the next; nobody can choose its bytes.
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        tag = "\"\(String(hash, radix: 16))\""
        self.headers = headers + [("etag", tag), ("cache-control", "no-cache"), ("vary", "accept")]
    }

    /// The file, or 304 where the client has it.
    func response(to request: HTTPRequest) -> HTTPResponse {
        if let known = request.headers.ifNoneMatch, known == "*" || known.contains(tag) {
            return HTTPResponse(.notModified, headers: headers)
        }
        return HTTPResponse(.ok, contentType: contentType, body: body, headers: headers)
    }
}
