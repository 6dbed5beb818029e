/// Converts a description of a source, in HTML or Markdown, to plain text with paragraphs.
///
/// - Returns: nil if no text is left.
package func plainText(_ text: String) -> String? {
    var lines: [String] = []
    // No description is longer, and the regular expressions below read some characters several times.
    let html = String(text.unicodeScalars.prefix(100_000))
    for line in plainText(ofHTML: html, isCatalog: true).split(
        omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    {
        var line = trimmed(line)[...]
        // After a horizontal rule, catalogs only have editors' notes.
        if line.allSatisfy({ $0 == "-" }), line.count >= 4 { break }
        // A regular expression is parsed each time it is used, so lines without its first character do without it.
        func has(_ sign: Unicode.Scalar) -> Bool { line.utf8.contains(UInt8(ascii: sign)) }
        // A definition of a Markdown link: "[1]: https://…".
        if line.first == "[", line.wholeMatch(of: /\[[0-9]+\]:.*/) != nil { continue }
        while line.first == ">" { line = line.dropFirst() }
        if has("(") { line.replace(/\(\[?[Ss]ource[^)]{0,300}\)+/, with: "") }
        if has("[") {
            line.replace(/\[([^\]]{1,300})\](\([^)]{0,1000}\)|\[[^\]]{0,300}\])/) { $0.1 }
        }
        if has("*") { line.replace(/\*\*?([^*]{1,2000})\*\*?/) { $0.1 } }
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

package func trimmed(_ text: Substring) -> String {
    let text = text.drop(while: \.isWhitespace)
    return text.lastIndex { !$0.isWhitespace }.map { String(text[...$0]) } ?? ""
}
