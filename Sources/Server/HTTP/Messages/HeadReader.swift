import NIOCore
import NIOHTTP1

/// What stands before a request's body.
struct RequestHead {
    var line: RequestLine
    var headers: RequestHeaders
    var framing: BodyReader.Framing
    /// The whole head, for who asks to go on with another protocol; nil for all others.
    var upgrade: HTTPRequestHead?
}

/// Reads the heads of a connection's requests, one after another, each line once.
///
/// It is strict where servers and proxies have come to read the same bytes as different requests: one space
/// between the words of the first line, no space before a colon, no folded lines, one way to say how long a body is.
///
/// Spec: RFC 9112, sections 2 to 6
struct HeadReader {
    private var scanner = LineScanner()
    /// Bytes of the head that have been read; they stay in the buffer until all of it has been.
    private var position = 0
    private var line: RequestLine?
    private var headers = RequestHeaders()
    private var fieldCount = 0

    /// - Parameter bytes: what has arrived; a head that is whole is taken off it.
    /// - Returns: nil until the head is whole; then the same bytes and more are to be given again.
    mutating func read(
        _ bytes: inout ByteBuffer, _ limits: HTTPLimits
    ) throws(HTTPProblem) -> RequestHead? {
        guard try readLines(bytes.readableBytesUInt8Span, limits), let line else { return nil }
        var head = RequestHead(
            line: line, headers: headers, framing: try headers.framing(version: line.version))
        if headers.hasUpgrade {
            head.upgrade = Self.wholeHead(
                line, bytes.readableBytesUInt8Span.extracting(..<position))
        }
        bytes.moveReaderIndex(forwardBy: position)
        self = HeadReader()
        return head
    }

    /// - Returns: whether the empty line was there.
    private mutating func readLines(
        _ bytes: Span<UInt8>, _ limits: HTTPLimits
    ) throws(HTTPProblem) -> Bool {
        while let end = try scanner.end(of: bytes, from: position) {
            let field = bytes.extracting(position..<end)
            guard end - position <= limits.headerFieldBytesMax else { throw lineTooLong(limits) }
            guard end <= limits.headerBytesMax else { throw .headersTooLarge }
            position = end + 2
            if line == nil {
                // An empty line or two before a request are an old client's slip.
                if !field.isEmpty { line = try RequestLine(field) }
            } else if field.isEmpty {
                return true
            } else {
                fieldCount += 1
                guard fieldCount <= limits.headerFieldsMax else { throw .headersTooLarge }
                let colon = try Self.colon(of: field)
                try headers.add(
                    name: field.extracting(..<colon),
                    value: field.extracting(field.trimmed(colon + 1..<field.count)))
            }
        }
        guard scanner.scanned <= limits.headerFieldBytesMax else { throw lineTooLong(limits) }
        guard position + scanner.scanned <= limits.headerBytesMax else { throw .headersTooLarge }
        return false
    }

    /// The problem of a line above the limit. The first line is the request line, and the others are headers.
    ///
    /// Empty lines before the request line count as part of the head. With many of them the line exceeds the limit of the
    /// whole head first, and the problem is the same however the bytes arrive.
    private func lineTooLong(_ limits: HTTPLimits) -> HTTPProblem {
        line == nil && position + limits.headerFieldBytesMax <= limits.headerBytesMax
            ? .uriTooLong(bytesMax: limits.headerFieldBytesMax) : .headersTooLarge
    }

    /// Where a header's name ends. Also of a trailer's field.
    static func colon(of field: Span<UInt8>) throws(HTTPProblem) -> Int {
        var index = 0
        while index < field.count, field[index].isTokenByte { index += 1 }
        guard index > 0, index < field.count, field[index] == UInt8(ascii: ":") else {
            throw .badRequest("A header is a name, a colon and a value, in one line.")
        }
        return index
    }

    /// With all headers as strings, which few requests need.
    private static func wholeHead(_ line: RequestLine, _ bytes: Span<UInt8>) -> HTTPRequestHead {
        var headers = HTTPHeaders()
        var scanner = LineScanner()
        var start = 0
        // The lines have been read before: none is refused now.
        while let end = try? scanner.end(of: bytes, from: start) {
            let field = bytes.extracting(start..<end)
            start = end + 2
            if let colon = try? colon(of: field) {
                headers.add(
                    name: field.extracting(..<colon).text,
                    value: field.extracting(field.trimmed(colon + 1..<field.count)).text)
            }
        }
        return HTTPRequestHead(
            version: line.version, method: line.method, uri: line.target, headers: headers)
    }
}
