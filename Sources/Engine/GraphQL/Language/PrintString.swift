/// Returns a string as a literal, as a block string if it was one in the source.
func print(_ string: StringValue) -> String {
    string.isBlock ? printBlockString(string.value) : printQuotedString(string.value)
}

/// Returns a quoted string. Control characters, quotes, and backslashes are escaped.
private func printQuotedString(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\u{8}": text += "\\b"
        case "\t": text += "\\t"
        case "\n": text += "\\n"
        case "\u{C}": text += "\\f"
        case "\r": text += "\\r"
        case "\u{0}"..<" ", "\u{7F}"..."\u{9F}":
            let digits = String(scalar.value, radix: 16, uppercase: true)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text + "\""
}

/// Returns a block string whose value is `value`, with the quotes on separate lines if that is more
/// readable.
///
/// Spec: https://spec.graphql.org/September2025/#BlockStringValue()
func printBlockString(_ value: String) -> String {
    let escaped = escapeTripleQuotes(value)
    let lines = splitLines(escaped)
    let isSingleLine = lines.count == 1
    // Without a leading line break, the common indentation of the other lines would be removed when
    // the string is parsed.
    let needsLeadingBreak =
        !isSingleLine && lines.dropFirst().allSatisfy { $0.first.map(isWhiteSpace) ?? true }
    let endsInTripleQuote = escaped.ends(with: "\\\"\"\"")
    let needsTrailingBreak =
        value.utf8.last == UInt8(ascii: "\\")
        || value.utf8.last == UInt8(ascii: "\"") && !endsInTripleQuote
    let isMultiline =
        !isSingleLine || value.utf16.count > 70 || needsTrailingBreak || needsLeadingBreak
        || endsInTripleQuote
    let startsWithSpace = isSingleLine && (value.utf8.first.map(isWhiteSpace) ?? false)

    var text = "\"\"\""
    if isMultiline && !startsWithSpace || needsLeadingBreak { text += "\n" }
    text += escaped
    if isMultiline { text += "\n" }
    return text + "\"\"\""
}

private func escapeTripleQuotes(_ value: String) -> String {
    var bytes: [UInt8] = []
    var quotes = 0
    for byte in value.utf8 {
        bytes.append(byte)
        quotes = byte == UInt8(ascii: "\"") ? quotes + 1 : 0
        if quotes == 3 {
            bytes.insert(UInt8(ascii: "\\"), at: bytes.count - 3)
            quotes = 0
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func splitLines(_ text: String) -> [Substring.UTF8View] {
    var lines: [Substring.UTF8View] = []
    var rest = text.utf8[...]
    while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
    {
        lines.append(rest[..<end])
        let isPair = rest[end...].starts(with: "\r\n".utf8)
        rest = rest[rest.index(end, offsetBy: isPair ? 2 : 1)...]
    }
    lines.append(rest)
    return lines
}

extension String {
    fileprivate func ends(with suffix: String) -> Bool {
        utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
