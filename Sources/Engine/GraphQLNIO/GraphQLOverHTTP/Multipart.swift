import Basics
import Glibc
import NIOCore

/// The parts of a `multipart/form-data` body.
///
/// Spec: RFC 7578, RFC 2046 section 5.1
struct Multipart {
    struct Part {
        let name: String
        let content: ByteBuffer
        /// The position of the content in the body.
        let range: Range<Int>
    }

    private static let partsMax = 16
    private static let headerBytesMax = 4096

    let parts: [Part]

    /// - Throws: `.badRequest` if the body is malformed.
    init(_ body: ByteBuffer, boundary: String) throws(HTTPProblem) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw .badRequest("The content-type must have a boundary of 1 to 70 characters.")
        }
        let malformed = HTTPProblem.badRequest("The multipart body is malformed.")
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var rest = body
        guard rest.skip(delimiter.dropFirst(2)) else { throw malformed }
        var parts: [Part] = []
        while true {
            if rest.skip("--".utf8) { break }
            _ = rest.readBytes(while: { $0 == 0x20 || $0 == 0x09 })
            guard rest.skip("\r\n".utf8), parts.count < Self.partsMax else { throw malformed }
            let headers = try Self.headers(&rest)
            let start = rest.readerIndex - body.readerIndex
            guard let end = rest.firstOffset(of: delimiter),
                let content = rest.readSlice(length: end)
            else { throw malformed }
            rest.moveReaderIndex(forwardBy: delimiter.count)
            parts.append(
                Part(
                    name: try Self.name(headers), content: content, range: start..<start + end))
        }
        self.parts = parts
    }

    private static func headers(_ rest: inout ByteBuffer) throws(HTTPProblem) -> [String] {
        var lines: [String] = []
        var byteCount = 0
        while let end = rest.readableBytesView.prefix(headerBytesMax).firstIndex(of: 0x0D) {
            let length = end - rest.readerIndex
            byteCount += length
            guard byteCount <= headerBytesMax, let line = rest.readString(length: length),
                rest.skip("\r\n".utf8)
            else { break }
            if line.isEmpty { return lines }
            lines.append(line)
        }
        throw .badRequest("The headers of a part are malformed.")
    }

    /// Returns the name in `content-disposition: form-data; name="…"`.
    private static func name(_ headers: [String]) throws(HTTPProblem) -> String {
        for header in headers {
            guard let colon = header.firstIndex(of: ":"),
                header[..<colon].lowercased() == "content-disposition"
            else { continue }
            // The syntax of the parameters is that of a media type.
            let value = header[header.index(after: colon)...].drop { $0 == " " }
            if let type = MediaType.single("x/" + value), type.subtype == "form-data",
                let name = type.parameter("name")
            {
                return name
            }
        }
        throw .badRequest("A part has no name. Send content-disposition: form-data; name=\"…\".")
    }
}

extension ByteBuffer {
    /// Consumes the bytes if the buffer begins with them, and returns whether it does.
    fileprivate mutating func skip(_ bytes: some Collection<UInt8>) -> Bool {
        guard readableBytesView.starts(with: bytes) else { return false }
        moveReaderIndex(forwardBy: bytes.count)
        return true
    }

    fileprivate mutating func readBytes(while predicate: (UInt8) -> Bool) -> Int {
        let count = readableBytesView.prefix(while: predicate).count
        moveReaderIndex(forwardBy: count)
        return count
    }

    /// Returns the offset of the first occurrence of the bytes after the reader index.
    fileprivate func firstOffset(of bytes: [UInt8]) -> Int? {
        withUnsafeReadableBytes { all in
            guard let first = bytes.first, let start = all.baseAddress else { return nil }
            var offset = 0
            while offset + bytes.count <= all.count {
                let last = all.count - bytes.count
                guard let found = memchr(start + offset, CInt(first), last - offset + 1) else {
                    return nil
                }
                offset = UnsafeRawPointer(found) - start
                if memcmp(start + offset, bytes, bytes.count) == 0 { return offset }
                offset += 1
            }
            return nil
        }
    }
}
