extension IndexedText {
    /// Returns the end of the string at `start` if it is an ordinary string without escapes, so
    /// that its value is the text between its quotes. Otherwise returns nil.
    func endOfPlainString(at start: Int) -> Int? {
        let end = endOfPlain(from: start &+ 1)
        // `""` may be the start of a block string.
        guard self[end] == UInt8(ascii: "\""),
            end > start &+ 1 || self[end &+ 1] != UInt8(ascii: "\"")
        else { return nil }
        return end &+ 1
    }

    /// Reads the string or block string at `start`.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-String-Value
    func scanString(at start: Int) throws(SyntaxFailure) -> (
        value: String, end: Int, isBlock: Bool
    ) {
        if isTripleQuote(at: start) {
            let (value, end) = try scanBlockString(from: start + 3)
            return (value, end, true)
        }
        let (value, end) = try scanQuotedString(from: start + 1)
        return (value, end, false)
    }

    /// StringValue :: `"` StringCharacter* `"`
    private func scanQuotedString(from start: Int) throws(SyntaxFailure) -> (String, end: Int) {
        var position = start
        var value: [UInt8] = []
        while true {
            let end = endOfPlain(from: position)
            value += source.bytes[position..<end]
            switch self[end] {
            case UInt8(ascii: "\""):
                return (String(decoding: value, as: UTF8.self), end + 1)
            case UInt8(ascii: "\\"):
                let (scalar, escapeEnd) = try scanEscape(from: end)
                value += String(scalar).utf8
                position = escapeEnd
            default:
                throw failure(at: end, "Unterminated string.")
            }
        }
    }

    /// Returns the offset of the next quote, backslash, or line terminator, or the end of the text.
    private func endOfPlain(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                return position
            default:
                position += 1
            }
        }
        return position
    }

    /// StringValue :: `"""` BlockStringCharacter* `"""`
    private func scanBlockString(from start: Int) throws(SyntaxFailure) -> (String, end: Int) {
        var position = start
        while position < count {
            switch self[position] {
            case UInt8(ascii: "\"") where isTripleQuote(at: position):
                return (blockStringValue(source.bytes[start..<position]), position + 3)
            case UInt8(ascii: "\\") where isTripleQuote(at: position + 1):
                position += 4
            default:
                position += 1
            }
        }
        throw failure(at: position, "Unterminated string.")
    }

    private func isTripleQuote(at position: Int) -> Bool {
        self[position] == UInt8(ascii: "\"") && self[position + 1] == UInt8(ascii: "\"")
            && self[position + 2] == UInt8(ascii: "\"")
    }
}
