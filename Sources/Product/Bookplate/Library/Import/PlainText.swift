/// The maximum length of a tag. A longer search for its end, at each `<`, would take too long.
private let tagCharactersMax = 1_000

/// Returns the text that a browser would show: line breaks are kept, other tags are removed, and character references are
/// decoded.
func plainText(ofHTML html: String) -> String {
    var text = ""
    var rest = html[...]
    while let next = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
        text += rest[..<next]
        rest = rest[next...]
        if rest.first == "<", let end = rest.prefix(tagCharactersMax).firstIndex(of: ">"),
            isTag(rest[..<end])
        {
            let name = rest[..<end].dropFirst().lowercased()
            if name.hasPrefix("br") { text += "\n" }
            if name.hasPrefix("/p") || name.hasPrefix("/blockquote") { text += "\n\n" }
            rest = rest[rest.index(after: end)...]
        } else if rest.first == "&", let end = rest.prefix(10).firstIndex(of: ";"),
            let character = character(rest[rest.index(after: next)..<end])
        {
            text += character
            rest = rest[rest.index(after: end)...]
        } else {
            text.append(rest.removeFirst())
        }
    }
    return (text + rest).trimmed
}

/// Returns whether the text begins with a tag. A `<` without a name after it is text, as in "a < b".
private func isTag(_ text: Substring) -> Bool {
    guard let first = text.dropFirst().first else { return false }
    return first == "/" || first == "!" || (first.isASCII && first.isLetter)
}

/// Returns the character of a reference such as `amp`, `#39`, or `#x27`; nil if it is unknown.
private func character(_ reference: Substring) -> String? {
    switch reference {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    case "nbsp": return " "
    default:
        guard reference.first == "#" else { return nil }
        let digits = reference.dropFirst()
        let isHex = digits.first == "x" || digits.first == "X"
        return UInt32(isHex ? digits.dropFirst() : digits, radix: isHex ? 16 : 10)
            .flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }.map { String(Character($0)) }
    }
}
