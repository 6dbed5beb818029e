import NIOCore

/// The parts of a `multipart/form-data` body.
///
/// Spec: RFC 7578, RFC 2046 section 5.1
struct Multipart {
    struct Part {
        let name: String
        let content: ByteBuffer
    }

    private static let partsMax = 16
    private static let headerBytesMax = 4096

    let parts: [Part]

    /// - Throws: `.badRequest` for what is not well-formed.
    init(_ body: ByteBuffer, boundary: String) throws(HTTPProblem) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw .badRequest("The content-type has no boundary of 1 to 70 characters.")
        }
        let malformed = HTTPProblem.badRequest("The multipart body is not well-formed.")
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var rest = body
        guard rest.skip(delimiter.dropFirst(2)) else { throw malformed }
        var parts: [Part] = []
        while true {
            if rest.skip("--".utf8) { break }
            _ = rest.readBytes(while: { $0 == 0x20 || $0 == 0x09 })
            guard rest.skip("\r\n".utf8), parts.count < Self.partsMax else { throw malformed }
            let headers = try Self.headers(&rest)
            guard let end = rest.firstRange(of: delimiter),
                let content = rest.readSlice(length: end)
            else { throw malformed }
            rest.moveReaderIndex(forwardBy: delimiter.count)
            parts.append(Part(name: try Self.name(headers), content: content))
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
        throw .badRequest("The headers of a part are not well-formed.")
    }

    /// Of `content-disposition: form-data; name="…"`.
    private static func name(_ headers: [String]) throws(HTTPProblem) -> String {
        for header in headers {
            guard let colon = header.firstIndex(of: ":"),
                header[..<colon].lowercased() == "content-disposition"
            else { continue }
            // It is written as a media type's parameters are.
            let value = header[header.index(after: colon)...].drop { $0 == " " }
            if let type = MediaType.single("x/" + value), type.subtype == "form-data",
                let name = type.parameter("name")
            {
                return name
            }
        }
        throw .badRequest("A part has no name: content-disposition: form-data; name=\"…\".")
    }
}

extension ByteBuffer {
    /// Whether it begins with the bytes, which are then read.
    fileprivate mutating func skip(_ bytes: some Collection<UInt8>) -> Bool {
        guard readableBytesView.starts(with: bytes) else { return false }
        moveReaderIndex(forwardBy: bytes.count)
        return true
    }

    fileprivate mutating func readBytes(while isWanted: (UInt8) -> Bool) -> Int {
        let count = readableBytesView.prefix(while: isWanted).count
        moveReaderIndex(forwardBy: count)
        return count
    }

    /// Where the bytes are first, from the reader's index on.
    fileprivate func firstRange(of bytes: [UInt8]) -> Int? {
        withUnsafeReadableBytes { all -> Int? in
            guard let first = bytes.first else { return nil }
            var start = 0
            while start + bytes.count <= all.count {
                guard
                    let candidate = all[start...(all.count - bytes.count)].firstIndex(of: first)
                else { return nil }
                if all[candidate..<candidate + bytes.count].elementsEqual(bytes) {
                    return candidate
                }
                start = candidate + 1
            }
            return nil
        }
    }
}
