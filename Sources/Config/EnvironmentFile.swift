/// A `.env` file: one `NAME=value` a line.
///
/// Empty lines and lines that start with `#` say nothing, `export` before a name is allowed. A value between single quotes is
/// taken as it stands; between double quotes, `\"`, `\\` and `\n` are escapes. Without quotes, a blank and `#` begin a comment.
enum EnvironmentFile {
    /// The variables of a file.
    ///
    /// - Throws: at the first line that cannot be read, naming the file and the line.
    static func parse(_ text: String, name: String) throws(ConfigError) -> [String: String] {
        var variables: [String: String] = [:]
        // "\r\n" is one Character, and is a newline too.
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
            guard let comment = text.range(ofBlankAndHash: ()) else { return text }
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

    /// Whether the quote is closed, with nothing but a comment after it.
    private static func isEnd(_ rest: Substring, quote: Character) -> Bool {
        guard rest.first == quote else { return false }
        let after = Read.trimmed(rest.dropFirst())
        return after.isEmpty || after.hasPrefix("#")
    }
}

extension String {
    /// Where a comment begins: the blank before the first `#` that has one.
    fileprivate func range(ofBlankAndHash: ()) -> Index? {
        indices.first { position in
            guard self[position] == " " || self[position] == "\t" else { return false }
            let next = index(after: position)
            return next < endIndex && self[next] == "#"
        }
    }
}
