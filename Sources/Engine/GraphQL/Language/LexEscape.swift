extension IndexedText {
    /// Reads the escape sequence whose backslash is at `start`.
    ///
    /// StringCharacter :: `\u` EscapedUnicode | `\` EscapedCharacter
    func scanEscape(from start: Int) throws(SyntaxFailure) -> (Unicode.Scalar, end: Int) {
        let bytes = source.bytes.span
        if byteIs(UInt8(ascii: "u"), at: start + 1, in: bytes) {
            return byteIs(UInt8(ascii: "{"), at: start + 2, in: bytes)
                ? try scanBracedEscape(from: start) : try scanFixedEscape(from: start)
        }
        let scalar: Unicode.Scalar? =
            if start + 1 < bytes.count {
                switch bytes[start + 1] {
                case UInt8(ascii: "\""): "\""
                case UInt8(ascii: "\\"): "\\"
                case UInt8(ascii: "/"): "/"
                case UInt8(ascii: "b"): "\u{8}"
                case UInt8(ascii: "f"): "\u{C}"
                case UInt8(ascii: "n"): "\n"
                case UInt8(ascii: "r"): "\r"
                case UInt8(ascii: "t"): "\t"
                default: nil
                }
            } else {
                nil
            }
        guard let scalar else {
            let sequence = source.excerpt(at: start, scalarsMax: 2)
            throw failure(
                at: start, "Invalid character escape sequence: \"\(sequence)\".")
        }
        return (scalar, start + 2)
    }

    /// EscapedUnicode :: `{` HexDigit+ `}`, with at most eight digits
    private func scanBracedEscape(from start: Int) throws(SyntaxFailure) -> (
        Unicode.Scalar, Int
    ) {
        let bytes = source.bytes.span
        var value: UInt32 = 0
        var size = 3
        while size < 12 {
            let position = start + size
            size += 1
            if byteIs(UInt8(ascii: "}"), at: position, in: bytes) {
                guard size >= 5, let scalar = Unicode.Scalar(value) else { break }
                return (scalar, position + 1)
            }
            guard let digit = hexDigit(at: position, in: bytes), value >> 27 == 0 else { break }
            value = value << 4 | digit
        }
        throw invalidUnicodeEscape(at: start, size: size)
    }

    /// EscapedUnicode :: HexDigit HexDigit HexDigit HexDigit
    ///
    /// Two escapes in a row may form a surrogate pair.
    private func scanFixedEscape(from start: Int) throws(SyntaxFailure) -> (
        Unicode.Scalar, Int
    ) {
        let bytes = source.bytes.span
        guard let code = fourHexDigits(at: start + 2, in: bytes) else {
            throw invalidUnicodeEscape(at: start, size: 6)
        }
        if let scalar = Unicode.Scalar(code) { return (scalar, start + 6) }
        guard (0xD800...0xDBFF).contains(code),
            byteIs(UInt8(ascii: "\\"), at: start + 6, in: bytes),
            byteIs(UInt8(ascii: "u"), at: start + 7, in: bytes),
            let trailing = fourHexDigits(at: start + 8, in: bytes),
            (0xDC00...0xDFFF).contains(trailing),
            let scalar = Unicode.Scalar(0x10000 + (code - 0xD800) << 10 + (trailing - 0xDC00))
        else { throw invalidUnicodeEscape(at: start, size: 6) }
        return (scalar, start + 12)
    }

    private func invalidUnicodeEscape(at start: Int, size: Int) -> SyntaxFailure {
        let sequence = source.excerpt(at: start, scalarsMax: size)
        return failure(at: start, "Invalid Unicode escape sequence: \"\(sequence)\".")
    }
}

func byteIs(_ byte: UInt8, at position: Int, in bytes: Span<UInt8>) -> Bool {
    position < bytes.count && bytes[position] == byte
}

func fourHexDigits(at position: Int, in bytes: Span<UInt8>) -> UInt32? {
    var value: UInt32 = 0
    for offset in 0..<4 {
        guard let digit = hexDigit(at: position + offset, in: bytes) else { return nil }
        value = value << 4 | digit
    }
    return value
}

func hexDigit(at position: Int, in bytes: Span<UInt8>) -> UInt32? {
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case let byte where isDigit(byte): return UInt32(byte - UInt8(ascii: "0"))
    case let byte where (byte | 0x20) &- UInt8(ascii: "a") < 6:
        return UInt32((byte | 0x20) - UInt8(ascii: "a") + 10)
    default: return nil
    }
}
