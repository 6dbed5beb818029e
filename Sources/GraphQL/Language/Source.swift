/// The text of a document as bytes. They need not be valid UTF-8: the parser refuses what is not.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Source-Text
public struct Source: Sendable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { self.bytes = Array(text.utf8) }

    /// The text of a part that begins and ends between scalars of valid UTF-8.
    func text(_ range: Range<Int>) -> String {
        String(unsafeUninitializedCapacity: range.count) { text in
            bytes.withUnsafeBufferPointer { bytes in
                text.initialize(fromContentsOf: bytes[range])
            }
        }
    }

    /// The line and column of a byte offset; offsets outside the text count as its nearest end.
    ///
    /// `\r\n`, `\r` and `\n` end one line each. It reads the text from its start: for errors only.
    public func location(at offset: Int32) -> SourceLocation {
        let end = min(max(Int(offset), 0), bytes.count)
        let bytes = bytes.span
        var line = 1
        var lineStart = 0
        for index in 0..<end {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
            let isFirstOfTwo =
                byte == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n")
            if isFirstOfTwo { continue }
            line += 1
            lineStart = index + 1
        }
        return SourceLocation(line: line, column: 1 + utf16Count(lineStart..<end))
    }

    /// How many UTF-16 code units the bytes of `range` are: one a scalar, two above U+FFFF.
    ///
    /// Continuation bytes count nothing, so it is defined for invalid UTF-8 too.
    public func utf16Count(_ range: Range<Int>) -> Int {
        let bytes = bytes.span
        var count = 0
        for index in range {
            let byte = bytes[index]
            if byte & 0b1100_0000 != 0b1000_0000 { count += byte >= 0b1111_0000 ? 2 : 1 }
        }
        return count
    }
}

/// A place a person can find: both numbers start at 1, columns count UTF-16 code units, as graphql-js does.
public struct SourceLocation: Hashable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
