import NIOCore
import NIOHTTP1

/// A file that is part of the program, served from memory with a strong ETag.
package struct Asset: Sendable {
    private let contentType: String
    private let body: ByteBuffer
    private let tag: String
    private let headers: [(String, String)]

    package init(_ bytes: [UInt8], contentType: String, headers: [(String, String)] = []) {
        self.contentType = contentType
        body = ByteBuffer(bytes: bytes)
        // FNV-1a distinguishes versions of our own files. A cryptographic hash is not needed, because clients cannot
        // choose the bytes.
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        tag = "\"\(String(hash, radix: 16))\""
        self.headers = headers + [("ETag", tag), ("Cache-Control", "no-cache"), ("Vary", "accept")]
    }

    /// Returns the file, or status 304 if the client has the same version.
    package func response(to request: HTTPRequest) -> HTTPResponse {
        if let etags = request.headers.ifNoneMatch, etags == "*" || etags.contains(tag) {
            return HTTPResponse(.notModified, headers: headers)
        }
        return HTTPResponse(.ok, contentType: contentType, body: body, headers: headers)
    }
}
