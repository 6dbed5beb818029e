/// The UTF-8 bytes of a document.
///
/// The bytes are not validated here: `parse` rejects text that is not valid UTF-8.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Source-Text
public struct Source: Sendable {
    /// The bytes of the text.
    public var bytes: [UInt8]

    /// Creates a source from UTF-8 bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// Creates a source from a text.
    public init(_ text: String) { self.bytes = Array(text.utf8) }

    /// Returns the text of a byte range. Both bounds must lie on scalar boundaries of valid UTF-8.
    func text(_ range: Range<Int>) -> String {
        String(unsafeUninitializedCapacity: range.count) { text in
            bytes.withUnsafeBufferPointer { bytes in
                text.initialize(fromContentsOf: bytes[range])
            }
        }
    }

    /// Returns the line and column of a UTF-8 byte offset. Offsets outside the text are clamped to
    /// it.
    ///
    /// `\r\n`, `\r`, and `\n` each end one line. The function scans the text from its start, so it
    /// is used only to report errors.
    package func location(at offset: Int32) -> SourceLocation {
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

    /// Returns the number of UTF-16 code units that `range` takes: two for each scalar above
    /// U+FFFF, one for every other scalar.
    ///
    /// UTF-8 continuation bytes count as zero, so the result is defined for invalid UTF-8 as well.
    package func utf16Count(_ range: Range<Int>) -> Int {
        let bytes = bytes.span
        var count = 0
        for index in range {
            let byte = bytes[index]
            if byte & 0b1100_0000 != 0b1000_0000 { count += byte >= 0b1111_0000 ? 2 : 1 }
        }
        return count
    }
}

/// A line and a column, both starting at 1. Columns count UTF-16 code units, as in graphql-js.
public struct SourceLocation: Hashable, Sendable {
    /// The line, starting at 1.
    public var line: Int
    /// The column in UTF-16 code units, starting at 1.
    public var column: Int

    /// Creates a location.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
