import NIOCore
import NIOHTTP1

/// The head of a request: the request line and the headers.
struct RequestHead {
    var line: RequestLine
    let storedHeaders: StoredHeaders
    var framing: BodyReader.Framing

    var headers: RequestHeaders { storedHeaders.value }
}

/// Reads the heads of a connection's requests. Each byte is scanned once, even if a head arrives in many pieces.
///
/// The reader is strict where servers and proxies are known to interpret the same bytes differently, which enables
/// request smuggling: the request line has single spaces, there is no space before a colon, lines are not folded, and
/// the length of the body is specified exactly once.
///
/// Spec: RFC 9112, sections 2 to 6
struct HeadReader {
    private var scanner = LineScanner()
    /// The number of bytes of the head that have been parsed. They stay in the buffer until the head is complete.
    private var position = 0
    private var line: RequestLine?
    private var headers = RequestHeaders()
    private var fieldCount = 0

    /// Reads a head.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that have arrived. A complete head is removed.
    ///   - keepsHead: Whether the request needs all headers; see `StoredHeaders.wholeHead`.
    /// - Returns: nil if the head is incomplete. The next call must then pass the same bytes, followed by new ones.
    mutating func read(
        _ bytes: inout ByteBuffer, _ limits: HTTPLimits, keepsHead: Bool = false
    ) throws(HTTPProblem) -> RequestHead? {
        guard try readLines(bytes.readableBytesUInt8Span, limits), let line else { return nil }
        let framing = try headers.framing(version: line.version)
        let head =
            keepsHead || headers.hasUpgrade ? Array(bytes.readableBytesView.prefix(position)) : nil
        // Moved out, because copying the fields takes time.
        var fields = RequestHeaders()
        swap(&fields, &headers)
        let storedHeaders = StoredHeaders(
            fields, bytes: head.map { StoredHeaders.Bytes(line: line, bytes: $0) })
        bytes.moveReaderIndex(forwardBy: position)
        self = HeadReader()
        return RequestHead(line: line, storedHeaders: storedHeaders, framing: framing)
    }

    /// - Returns: Whether the empty line at the end of the head was found.
    private mutating func readLines(
        _ bytes: Span<UInt8>, _ limits: HTTPLimits
    ) throws(HTTPProblem) -> Bool {
        while let end = try scanner.end(of: bytes, from: position) {
            let field = bytes.extracting(position..<end)
            guard end - position <= limits.headerFieldBytesMax else { throw lineTooLong(limits) }
            guard end <= limits.headerBytesMax else { throw .headersTooLarge }
            position = end + 2
            if line == nil {
                // RFC 9112, section 2.2: empty lines before a request are ignored, because old clients send them.
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

    /// Returns the error for a line above the limit. The first line is the request line, and the others are headers.
    ///
    /// Empty lines before the request line count as part of the head. With many of them the line exceeds the limit of
    /// the whole head first, and the problem is the same however the bytes arrive.
    private func lineTooLong(_ limits: HTTPLimits) -> HTTPProblem {
        line == nil && position + limits.headerFieldBytesMax <= limits.headerBytesMax
            ? .uriTooLong(bytesMax: limits.headerFieldBytesMax) : .headersTooLarge
    }

    /// Returns the index of the colon after the name of a header or trailer field.
    static func colon(of field: Span<UInt8>) throws(HTTPProblem) -> Int {
        var index = 0
        while index < field.count, field[index].isTokenByte { index += 1 }
        guard index > 0, index < field.count, field[index] == UInt8(ascii: ":") else {
            throw .badRequest("A header must consist of a name, a colon, and a value on one line.")
        }
        return index
    }

    /// Parses a head again with all headers as strings, which few requests need.
    static func wholeHead(_ head: StoredHeaders.Bytes) -> HTTPRequestHead {
        let bytes = head.bytes.span
        var headers = HTTPHeaders()
        var scanner = LineScanner()
        var start = 0
        // The lines have been parsed before, so this cannot throw.
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
            version: head.line.version, method: head.line.method, uri: head.line.target,
            headers: headers)
    }
}
