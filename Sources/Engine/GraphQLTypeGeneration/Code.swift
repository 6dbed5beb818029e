/// Swift source that grows line by line.
struct Code {
    private(set) var text = ""
    private var depth = 0

    /// Appends lines with the current indentation. Empty lines stay empty.
    mutating func add(_ lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            if !line.isEmpty { text += String(repeating: "    ", count: depth) + line }
            text += "\n"
        }
    }

    /// Appends `head {`, the lines of `body` with more indentation, and `}`.
    mutating func block(_ head: String, _ end: String = "}", _ body: (inout Code) -> Void) {
        add(head + " {")
        depth += 1
        body(&self)
        depth -= 1
        add(end)
    }

    /// Returns a declaration or a call with its parameters: in one line if it is short, otherwise with a line for each.
    static func list(_ head: String, _ items: [String], _ tail: String) -> String {
        let line = head + items.joined(separator: ", ") + tail
        guard line.count > 90, !items.isEmpty else { return line }
        return head + "\n" + items.map { "    " + $0 }.joined(separator: ",\n") + "\n" + tail
    }

    /// Appends a doc comment. Paragraphs that are nil are left out; without any, nothing is appended.
    mutating func document(_ paragraphs: String?...) {
        let text = paragraphs.compactMap(\.self).joined(separator: "\n\n")
        if text.isEmpty { return }
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineBreak) {
            add(line.isEmpty ? "///" : "/// \(line)")
        }
    }
}
