extension Lexer {
    /// Reads the string that starts at `start`, quoted once or three times; without a value where that is what stands
    /// between the quotes.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-String-Value
    mutating func scanString(
        from start: Int
    ) throws(GraphQLError) -> (value: String?, end: Int, isBlock: Bool) {
        if byteIs(UInt8(ascii: "\""), at: start + 1, in: bytes),
            byteIs(UInt8(ascii: "\""), at: start + 2, in: bytes)
        {
            let (value, end) = try scanBlockString(from: start + 3)
            return (value, end, true)
        }
        let (value, end) = try scanQuotedString(from: start + 1)
        return (value, end, false)
    }

    /// StringValue :: `"` StringCharacter* `"`
    private mutating func scanQuotedString(from start: Int) throws(GraphQLError) -> (String?, Int) {
        var position = start
        var chunkStart = start
        var unescaped: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                if chunkStart == start { return (nil, position + 1) }
                unescaped += source.bytes[chunkStart..<position]
                return (String(decoding: unescaped, as: UTF8.self), position + 1)
            case UInt8(ascii: "\\"):
                unescaped += source.bytes[chunkStart..<position]
                let (scalar, end) = try scanEscape(from: position)
                unescaped += String(scalar).utf8
                position = end
                chunkStart = end
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw source.syntaxError(at: position, "Unterminated string.")
            default:
                position += 1
            }
        }
        throw source.syntaxError(at: position, "Unterminated string.")
    }

    /// StringValue :: `"""` BlockStringCharacter* `"""`
    private mutating func scanBlockString(from start: Int) throws(GraphQLError) -> (String, Int) {
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\"") where isTripleQuote(at: position, in: bytes):
                return (blockStringValue(source.bytes[start..<position]), position + 3)
            case UInt8(ascii: "\\") where isTripleQuote(at: position + 1, in: bytes):
                position += 4
            default:
                position += 1
            }
        }
        throw source.syntaxError(at: position, "Unterminated string.")
    }

    /// Reads the escape sequence whose backslash is at `start`.
    ///
    /// StringCharacter :: `\u` EscapedUnicode | `\` EscapedCharacter
    private mutating func scanEscape(from start: Int) throws(GraphQLError) -> (Unicode.Scalar, Int)
    {
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
            throw source.syntaxError(
                at: start, "Invalid character escape sequence: \"\(sequence)\".")
        }
        return (scalar, start + 2)
    }

    /// EscapedUnicode :: `{` HexDigit+ `}`, at most eight digits
    private mutating func scanBracedEscape(from start: Int) throws(GraphQLError) -> (
        Unicode.Scalar, Int
    ) {
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

    /// EscapedUnicode :: HexDigit HexDigit HexDigit HexDigit; two of them may form a surrogate pair
    private mutating func scanFixedEscape(from start: Int) throws(GraphQLError) -> (
        Unicode.Scalar, Int
    ) {
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

    private mutating func invalidUnicodeEscape(at start: Int, size: Int) -> GraphQLError {
        let sequence = source.excerpt(at: start, scalarsMax: size)
        return source.syntaxError(at: start, "Invalid Unicode escape sequence: \"\(sequence)\".")
    }
}

private func isTripleQuote(at position: Int, in bytes: Span<UInt8>) -> Bool {
    (0..<3).allSatisfy { byteIs(UInt8(ascii: "\""), at: position + $0, in: bytes) }
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
