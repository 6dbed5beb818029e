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
        // A definition of a Markdown link: "[1]: https://…".
        if line.wholeMatch(of: /\[[0-9]+\]:.*/) != nil { continue }
        while line.first == ">" { line = line.dropFirst() }
        line.replace(/\(\[?[Ss]ource[^)]{0,300}\)+/, with: "")
        line.replace(/\[([^\]]{1,300})\](\([^)]{0,1000}\)|\[[^\]]{0,300}\])/) { $0.1 }
        line.replace(/\*\*?([^*]{1,2000})\*\*?/) { $0.1 }
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
