/// Converts a description in HTML or Markdown to plain text with paragraphs.
///
/// - Returns: nil if no text is left.
func plainText(_ text: String) -> String? {
    var lines: [String] = []
    for line in unescaped(withoutTags(text)).split(
        omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    {
        var line = trimmed(line)[...]
        // After a horizontal rule, catalogs only have editors' notes.
        if line.allSatisfy({ $0 == "-" }), line.count >= 4 { break }
        // A definition of a Markdown link: "[1]: https://…".
        if line.wholeMatch(of: /\[[0-9]+\]:.*/) != nil { continue }
        while line.first == ">" { line = line.dropFirst() }
        line.replace(/\(\[?[Ss]ource[^)]*\)+/, with: "")
        line.replace(/\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])/) { $0.1 }
        line.replace(/\*\*?([^*]+)\*\*?/) { $0.1 }
        lines.append(trimmed(line))
    }
    // Keep at most one empty line between paragraphs.
    var text = ""
    for line in lines {
        if line.isEmpty, text.isEmpty || text.hasSuffix("\n\n") { continue }
        text += line + "\n"
    }
    text = trimmed(text[...])
    return text.isEmpty ? nil : text
}

func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
}

/// Removes tags. Tags of blocks and line breaks become newlines.
private func withoutTags(_ text: String) -> String {
    var words = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "<") {
        words += rest[..<start]
        let tag = rest[start...]
        let next = tag.dropFirst().first
        guard let end = tag.firstIndex(of: ">"), next?.isLetter == true || next == "/" else {
            // This is not a tag, as in "a < b".
            words.append("<")
            rest = tag.dropFirst()
            continue
        }
        let name = tag[tag.index(after: start)..<end].lowercased()
        if ["br", "p", "/p", "li", "div", "/div", "/li", "/ul"].contains(
            String(name.prefix { $0.isLetter || $0 == "/" && name.first == "/" }))
        {
            words.append("\n")
        }
        rest = tag[tag.index(after: end)...]
    }
    return words + rest
}

/// Replaces the HTML entities that catalogs use, and numeric character references.
private func unescaped(_ text: String) -> String {
    guard text.contains("&") else { return text }
    let named = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "mdash": "—",
        "ndash": "–", "hellip": "…", "rsquo": "’", "lsquo": "‘", "rdquo": "”", "ldquo": "“",
    ]
    return text.replacing(/&(#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[a-z]{2,6});/) { match in
        let entity = match.1
        if let text = named[String(entity)] { return text }
        let code =
            entity.hasPrefix("#x")
            ? UInt32(entity.dropFirst(2), radix: 16) : UInt32(entity.dropFirst())
        return code.flatMap(Unicode.Scalar.init).map { String($0) } ?? String(match.0)
    }
}
