/// Splits SQL text into its statements at semicolons, for statements that must be sent one by one.
///
/// The splitter handles quotes, escape strings, dollar quotes, and nested comments. It does not handle
/// function bodies that start with `BEGIN ATOMIC`; create such functions in a transactional migration.
///
/// Lexical rules: https://www.postgresql.org/docs/15/sql-syntax-lexical.html
func splitStatements(_ sql: String) -> [String] {
    var splitter = StatementSplitter(bytes: Array(sql.utf8))
    return splitter.split()
}

private struct StatementSplitter {
    let bytes: [UInt8]
    var position = 0
    var start = 0
    /// Whether anything other than whitespace and comments follows `start`.
    var hasContent = false
    var statements: [String] = []

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func split() -> [String] {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: ";"):
                end()
                position += 1
                start = position
            case UInt8(ascii: "-") where peek(1) == UInt8(ascii: "-"): skipLine()
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
            case UInt8(ascii: "'"):
                // In an escape string, such as E'it\'s', a backslash escapes the next character.
                let isEscape =
                    (peek(-1) ?? 0) | 0x20 == UInt8(ascii: "e") && !isWordByte(peek(-2))
                skipQuoted(UInt8(ascii: "'"), hasEscapes: isEscape)
            case UInt8(ascii: "\""): skipQuoted(UInt8(ascii: "\""), hasEscapes: false)
            case UInt8(ascii: "$") where !isWordByte(peek(-1)): skipDollarQuoted()
            case let byte:
                hasContent = hasContent || byte > UInt8(ascii: " ")
                position += 1
            }
        }
        end()
        return statements
    }

    private mutating func end() {
        if hasContent {
            statements.append(String(decoding: bytes[start..<position], as: UTF8.self))
        }
        hasContent = false
    }

    private func peek(_ offset: Int) -> UInt8? {
        bytes.indices.contains(position + offset) ? bytes[position + offset] : nil
    }

    private func isWordByte(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            0x80...0xff:
            true
        default: false
        }
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if bytes[position] == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                depth += 1
                position += 2
            } else if bytes[position] == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    private mutating func skipQuoted(_ quote: UInt8, hasEscapes: Bool) {
        hasContent = true
        position += 1
        while position < bytes.count {
            if bytes[position] == quote {
                guard peek(1) == quote else { break }
                position += 2
            } else {
                position += hasEscapes && bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipDollarQuoted() {
        hasContent = true
        var tagEnd = position + 1
        while tagEnd < bytes.count, bytes[tagEnd] != UInt8(ascii: "$"), isWordByte(bytes[tagEnd]) {
            tagEnd += 1
        }
        guard tagEnd < bytes.count, bytes[tagEnd] == UInt8(ascii: "$"),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position + 1])
        else {
            position += 1  // a parameter such as $1, or a single dollar sign
            return
        }
        let tag = bytes[position...tagEnd]
        position = tagEnd + 1
        while position < bytes.count, !bytes[position...].starts(with: tag) { position += 1 }
        position = min(position + tag.count, bytes.count)
    }
}
