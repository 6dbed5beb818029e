import NIOCore

/// Reads a request's body from the bytes that arrive on its connection.
///
/// Spec: RFC 9112, sections 6 and 7
struct BodyReader {
    /// How the end of a body is determined.
    enum Framing: Equatable {
        /// The length in bytes; 0 without a body.
        case length(Int)
        case chunked
    }

    enum Piece {
        /// The next bytes of the body; never empty.
        case part(ByteBuffer)
        case end
        /// More bytes are needed.
        case wait
    }

    private enum State {
        /// Within the body, or within a chunk.
        case bytes(left: Int, isChunk: Bool)
        case chunkSize
        /// Before the CR LF that follows a chunk.
        case chunkEnd
        case trailers
        case end
    }

    /// The maximum length of a line with a chunk's size.
    private static let chunkLineBytesMax = 256
    /// The maximum number of digits of a chunk's size, so that the number fits in an Int. The limit on the body is
    /// checked later.
    private static let chunkDigitsMax = 15

    private var state: State
    private var scanner = LineScanner()
    private var trailerCount = 0
    private var trailerBytes = 0

    init(_ framing: Framing) {
        switch framing {
        case .length(0): state = .end
        case .length(let count): state = .bytes(left: count, isChunk: false)
        case .chunked: state = .chunkSize
        }
    }

    /// Returns the next piece of the body.
    ///
    /// - Parameter bytes: The bytes that have arrived. The bytes that are read are removed.
    mutating func read(
        _ bytes: inout ByteBuffer, _ limits: HTTPLimits
    ) throws(HTTPProblem) -> Piece {
        while true {
            switch state {
            case .bytes(let left, let isChunk):
                let count = min(left, bytes.readableBytes)
                guard count > 0, let part = bytes.readSlice(length: count) else { return .wait }
                if count < left {
                    state = .bytes(left: left - count, isChunk: isChunk)
                } else {
                    state = isChunk ? .chunkEnd : .end
                }
                return .part(part)
            case .chunkSize:
                guard let count = try chunkSize(&bytes) else { return .wait }
                state = count > 0 ? .bytes(left: count, isChunk: true) : .trailers
            case .chunkEnd:
                guard let end = try scanner.end(of: bytes.readableBytesUInt8Span, from: 0) else {
                    guard bytes.readableBytes < 2 else { throw .malformed }
                    return .wait
                }
                guard end == 0 else { throw .malformed }
                bytes.moveReaderIndex(forwardBy: 2)
                state = .chunkSize
            case .trailers:
                guard let isLast = try trailer(&bytes, limits) else { return .wait }
                if isLast { state = .end }
            case .end:
                return .end
            }
        }
    }

    private mutating func chunkSize(_ bytes: inout ByteBuffer) throws(HTTPProblem) -> Int? {
        guard let end = try scanner.end(of: bytes.readableBytesUInt8Span, from: 0) else {
            guard scanner.scanned <= Self.chunkLineBytesMax else { throw .malformed }
            return nil
        }
        guard end <= Self.chunkLineBytesMax else { throw .malformed }
        let size = try Self.chunkSize(bytes.readableBytesUInt8Span.extracting(..<end))
        bytes.moveReaderIndex(forwardBy: end + 2)
        return size
    }

    /// Parses `1*HEXDIG *( ";" token [ "=" ( token / quoted-string ) ] )`. The optional blanks that RFC 9112 calls "bad
    /// whitespace" are not allowed.
    private static func chunkSize(_ line: Span<UInt8>) throws(HTTPProblem) -> Int {
        var size = 0
        var index = 0
        while index < line.count, let digit = line[index].hexDigit {
            size = size << 4 | digit
            index += 1
            guard index <= chunkDigitsMax else { throw .malformed }
        }
        guard index > 0 else { throw .malformed }
        func skipToken() throws(HTTPProblem) {
            let start = index
            while index < line.count, line[index].isTokenByte { index += 1 }
            guard index > start else { throw .malformed }
        }
        while index < line.count {
            guard line[index] == UInt8(ascii: ";") else { throw .malformed }
            index += 1
            try skipToken()
            guard index < line.count, line[index] == UInt8(ascii: "=") else { continue }
            index += 1
            guard index < line.count, line[index] == UInt8(ascii: "\"") else {
                try skipToken()
                continue
            }
            index += 1
            while index < line.count, line[index] != UInt8(ascii: "\"") {
                index += line[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard index < line.count else { throw .malformed }
            index += 1
        }
        return size
    }

    /// Reads and ignores a trailer field, which follows the last chunk.
    ///
    /// - Returns: Whether this was the empty line at the end of the trailers; nil if the line is incomplete.
    private mutating func trailer(
        _ bytes: inout ByteBuffer, _ limits: HTTPLimits
    ) throws(HTTPProblem) -> Bool? {
        guard let end = try scanner.end(of: bytes.readableBytesUInt8Span, from: 0) else {
            guard scanner.scanned <= limits.headerFieldBytesMax else { throw .headersTooLarge }
            return nil
        }
        if end > 0 {
            trailerCount += 1
            trailerBytes += end
            guard trailerCount <= limits.headerFieldsMax, end <= limits.headerFieldBytesMax,
                trailerBytes <= limits.headerBytesMax
            else { throw .headersTooLarge }
            _ = try HeadReader.colon(of: bytes.readableBytesUInt8Span.extracting(..<end))
        }
        bytes.moveReaderIndex(forwardBy: end + 2)
        return end == 0
    }
}
