/// Returns an SQL text on one line, without comments.
///
/// Statements are written on several lines, with indentation and `--` comments, for the people who read the code. The
/// server parses and logs the text, so it gets the short form. Each run of blanks, line breaks, and comments becomes one
/// space. Text inside quotes stays as it is: `'it''s'`, `E'\n'`, `"a column"`, and `$tag$ … $tag$`.
///
/// Syntax: https://www.postgresql.org/docs/15/sql-syntax-lexical.html
func foldWhitespace(inSQL text: String) -> String {
    var folding = SQLFolding(text)
    return folding.fold()
}

private struct SQLFolding {
    private let bytes: [UInt8]
    private var index = 0
    private var output: [UInt8] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
        output.reserveCapacity(bytes.count)
    }

    mutating func fold() -> String {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                index += 1
                appendSpace()
            case UInt8(ascii: "-") where byte(after: 1) == UInt8(ascii: "-"):
                skipLineComment()
                appendSpace()
            case UInt8(ascii: "/") where byte(after: 1) == UInt8(ascii: "*"):
                skipBlockComment()
                appendSpace()
            case UInt8(ascii: "'"):
                copyQuoted(UInt8(ascii: "'"), hasBackslashEscapes: followsEscapePrefix)
            case UInt8(ascii: "\""):
                copyQuoted(UInt8(ascii: "\""), hasBackslashEscapes: false)
            case UInt8(ascii: "$"):
                copyDollar()
            case let byte:
                output.append(byte)
                index += 1
            }
        }
        if output.last == UInt8(ascii: " ") { output.removeLast() }
        return String(decoding: output, as: UTF8.self)
    }

    private func byte(after distance: Int) -> UInt8? {
        index + distance < bytes.count ? bytes[index + distance] : nil
    }

    private mutating func copy(_ count: Int) {
        output += bytes[index..<min(index + count, bytes.count)]
        index += count
    }

    private mutating func appendSpace() {
        if let last = output.last, last != UInt8(ascii: " ") { output.append(UInt8(ascii: " ")) }
    }

    /// Whether the quote at `index` begins an escape string constant, `E'…'`.
    private var followsEscapePrefix: Bool {
        guard let last = output.last, last | 0x20 == UInt8(ascii: "e") else { return false }
        return output.count == 1 || !isIdentifierByte(output[output.count - 2])
    }

    private mutating func skipLineComment() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
    }

    /// Block comments nest in PostgreSQL.
    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if bytes[index] == UInt8(ascii: "/"), byte(after: 1) == UInt8(ascii: "*") {
                depth += 1
                index += 2
            } else if bytes[index] == UInt8(ascii: "*"), byte(after: 1) == UInt8(ascii: "/") {
                depth -= 1
                index += 2
            } else {
                index += 1
            }
        } while depth > 0 && index < bytes.count
    }

    /// Copies up to the closing quote. A doubled quote ends one part and begins the next, which copies both.
    private mutating func copyQuoted(_ quote: UInt8, hasBackslashEscapes: Bool) {
        copy(1)
        while index < bytes.count {
            let isEscape = hasBackslashEscapes && bytes[index] == UInt8(ascii: "\\")
            let isEnd = bytes[index] == quote
            copy(isEscape ? 2 : 1)
            if isEnd { return }
        }
    }

    /// Copies a dollar-quoted string, or only the dollar sign of a parameter such as `$1`.
    private mutating func copyDollar() {
        if let last = output.last, isIdentifierByte(last) { return copy(1) }
        var end = index + 1
        while end < bytes.count, isIdentifierByte(bytes[end]) { end += 1 }
        let isTag =
            end < bytes.count && bytes[end] == UInt8(ascii: "$")
            && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index + 1])
        guard isTag else { return copy(1) }
        let tag = bytes[index...end]
        copy(tag.count)
        while index < bytes.count {
            if bytes[index...].starts(with: tag) { return copy(tag.count) }
            copy(1)
        }
    }
}

private func isIdentifierByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        true
    default: false
    }
}
