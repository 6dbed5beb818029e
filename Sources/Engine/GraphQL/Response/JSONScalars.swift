extension JSONReader {
    /// Reads the number that starts at `position`.
    mutating func readNumber() throws(JSONError) -> Value {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if isAt(UInt8(ascii: "0")) {
            position += 1
        } else {
            try skipDigits()
        }
        var isInteger = true
        if isAt(UInt8(ascii: ".")) {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if isAt(UInt8(ascii: "e")) || isAt(UInt8(ascii: "E")) {
            isInteger = false
            position += 1
            if isAt(UInt8(ascii: "+")) || isAt(UInt8(ascii: "-")) { position += 1 }
            try skipDigits()
        }
        if isInteger, let value = integer(start..<position) { return .int(value) }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // The text is a valid number, so the conversion succeeds, possibly with an infinite result.
        return isInteger ? .bigInt(text) : .float(Double(text) ?? .infinity)
    }

    /// Returns an integer, or nil if it does not fit in 64 bits.
    private func integer(_ range: Range<Int>) -> Int? {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        var value = 0
        for byte in bytes[range].dropFirst(isNegative ? 1 : 0) {
            let digit = Int(byte - UInt8(ascii: "0"))
            let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, exceeded) =
                isNegative
                ? shifted.subtractingReportingOverflow(digit)
                : shifted.addingReportingOverflow(digit)
            if overflowed || exceeded { return nil }
            value = sum
        }
        return value
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while position < bytes.count, isDigit(bytes[position]) { position += 1 }
        guard position > start else {
            throw position < bytes.count ? .unexpected(offset: position) : .unexpectedEnd
        }
    }

    /// Reads the string whose opening quote is at `position`.
    mutating func readString() throws(JSONError) -> String {
        position += 1
        var chunkStart = position
        var unescaped: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let rest = bytes[chunkStart..<position]
                position += 1
                if unescaped.isEmpty { return String(decoding: rest, as: UTF8.self) }
                unescaped += rest
                return String(decoding: unescaped, as: UTF8.self)
            case UInt8(ascii: "\\"):
                unescaped += bytes[chunkStart..<position]
                unescaped += String(try readEscape()).utf8
                chunkStart = position
            case 0..<0x20:
                throw .unexpected(offset: position)
            default:
                position += 1
            }
        }
        throw .unexpectedEnd
    }

    private mutating func readEscape() throws(JSONError) -> Unicode.Scalar {
        guard position + 1 < bytes.count else { throw .unexpectedEnd }
        let scalar: Unicode.Scalar
        switch bytes[position + 1] {
        case UInt8(ascii: "\""): scalar = "\""
        case UInt8(ascii: "\\"): scalar = "\\"
        case UInt8(ascii: "/"): scalar = "/"
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default: throw .invalidEscape(offset: position)
        }
        position += 2
        return scalar
    }

    /// Reads one `\u` escape, or two that form a surrogate pair.
    private mutating func readUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        guard let code = fourHexDigits(at: position + 2, in: bytes.span) else {
            throw .invalidEscape(offset: position)
        }
        if let scalar = Unicode.Scalar(code) {
            position += 6
            return scalar
        }
        guard (0xD800...0xDBFF).contains(code),
            byteIs(UInt8(ascii: "\\"), at: position + 6, in: bytes.span),
            byteIs(UInt8(ascii: "u"), at: position + 7, in: bytes.span),
            let trailing = fourHexDigits(at: position + 8, in: bytes.span),
            (0xDC00...0xDFFF).contains(trailing),
            let scalar = Unicode.Scalar(0x10000 + (code - 0xD800) << 10 + (trailing - 0xDC00))
        else { throw .invalidEscape(offset: position) }
        position += 12
        return scalar
    }

    private func isAt(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }
}
