/// A parser for `.env` files, which have one `NAME=value` per line.
///
/// Empty lines and lines that start with `#` are ignored. A name may be preceded by `export`. A value in single quotes is taken
/// literally. In double quotes, `\"`, `\\`, and `\n` are escapes. Without quotes, a blank followed by `#` starts a comment.
enum EnvironmentFile {
    /// Parses the text of a file.
    ///
    /// - Throws: for the first line that cannot be parsed. The error contains the file and the line number.
    static func parse(_ text: String, name: String) throws(ConfigError) -> [String: String] {
        var variables: [String: String] = [:]
        // "\r\n" is a single Character for which `isNewline` is true.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = Read.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let (key, value) = variable(line) else {
                throw ConfigError("\(name):\(index + 1)", "is not of the form NAME=value")
            }
            variables[key] = value
        }
        return variables
    }

    private static func variable(_ line: String) -> (String, String)? {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        var key = Read.trimmed(parts[0])
        if key.hasPrefix("export ") { key = Read.trimmed(key.dropFirst(7)) }
        guard let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first),
            key.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || $0 == "_")
            })
        else { return nil }
        return value(Read.trimmed(parts[1])).map { (key, $0) }
    }

    private static func value(_ text: String) -> String? {
        switch text.first {
        case "'":
            let inside = text.dropFirst().prefix { $0 != "'" }
            return isEnd(text.dropFirst(inside.count + 1), quote: "'") ? String(inside) : nil
        case "\"":
            return doubleQuoted(text.dropFirst())
        default:
            guard let comment = text.commentStart else { return text }
            return Read.trimmed(text[..<comment])
        }
    }

    private static func doubleQuoted(_ text: Substring) -> String? {
        var value = ""
        var rest = text
        while let character = rest.first, character != "\"" {
            rest.removeFirst()
            if character == "\\", let escaped = rest.popFirst() {
                switch escaped {
                case "n": value.append("\n")
                case "\"", "\\": value.append(escaped)
                default: value += "\\\(escaped)"
                }
            } else {
                value.append(character)
            }
        }
        return isEnd(rest, quote: "\"") ? value : nil
    }

    /// Whether the text starts with the closing quote, followed by nothing or a comment.
    private static func isEnd(_ rest: Substring, quote: Character) -> Bool {
        guard rest.first == quote else { return false }
        let after = Read.trimmed(rest.dropFirst())
        return after.isEmpty || after.hasPrefix("#")
    }
}

extension String {
    /// The start of a comment: the blank before the first `#` that follows a blank.
    fileprivate var commentStart: Index? {
        indices.first { position in
            guard self[position] == " " || self[position] == "\t" else { return false }
            let next = index(after: position)
            return next < endIndex && self[next] == "#"
        }
    }
}
