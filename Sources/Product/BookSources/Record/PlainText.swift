/// Converts a description of a source, in HTML or Markdown, to plain text with paragraphs.
///
/// - Returns: nil if no text is left.
package func plainText(_ text: String) -> String? {
    var lines: [String] = []
    for line in plainText(ofHTML: text, isCatalog: true).split(
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

package func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
}
