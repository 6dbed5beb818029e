/// Returns the value of a block string from the bytes between its quotes.
///
/// The common indentation and the blank lines at both ends are removed, lines are joined with `\n`,
/// and `\"""` becomes `"""`.
///
/// Spec: https://spec.graphql.org/September2025/#BlockStringValue()
func blockStringValue(_ raw: ArraySlice<UInt8>) -> String {
    let lines = splitLines(raw)
    var commonIndent = Int.max
    var firstNonBlank: Int?
    var lastNonBlank = 0
    for (index, line) in lines.enumerated() {
        let indent = line.prefix { isWhiteSpace(raw[$0]) }.count
        guard indent < line.count else { continue }
        if firstNonBlank == nil { firstNonBlank = index }
        lastNonBlank = index
        if index > 0 { commonIndent = min(commonIndent, indent) }
    }
    guard let firstNonBlank else { return "" }

    var value: [UInt8] = []
    value.reserveCapacity(raw.count)
    for index in firstNonBlank...lastNonBlank {
        if index > firstNonBlank { value.append(UInt8(ascii: "\n")) }
        let line = index == 0 ? lines[index] : lines[index].dropFirst(commonIndent)
        appendUnescaped(raw[line], to: &value)
    }
    return String(decoding: value, as: UTF8.self)
}

/// WhiteSpace :: Horizontal Tab | Space
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

/// Returns the index ranges of the lines without their `\r\n`, `\r`, or `\n`. There is at least one
/// line.
private func splitLines(_ raw: ArraySlice<UInt8>) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = raw.startIndex
    var position = start
    while position < raw.endIndex {
        let byte = raw[position]
        position += 1
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
        lines.append(start..<position - 1)
        if byte == UInt8(ascii: "\r"), position < raw.endIndex, raw[position] == UInt8(ascii: "\n")
        {
            position += 1
        }
        start = position
    }
    lines.append(start..<raw.endIndex)
    return lines
}

/// Appends a line with each `\"""` replaced by `"""`. The line contains no unescaped `"""`.
private func appendUnescaped(_ line: ArraySlice<UInt8>, to value: inout [UInt8]) {
    let escaped: [UInt8] = [
        UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "\""), UInt8(ascii: "\""),
    ]
    var rest = line
    while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
        let isEscape = rest[backslash...].starts(with: escaped)
        value += rest[..<(isEscape ? backslash : backslash + 1)]
        value += isEscape ? escaped.dropFirst() : []
        rest = rest[(backslash + (isEscape ? 4 : 1))...]
    }
    value += rest
}
