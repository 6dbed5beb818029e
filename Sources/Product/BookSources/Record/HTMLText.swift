/// The conversion of HTML to plain text. All sources, imports, and catalog files use it, and `html(ofText:)` is its inverse for
/// exports.
///
/// Returns the text that a browser would show: tags of HTML are removed, character references are decoded, and blocks begin on a
/// new line. An empty line is between paragraphs, and a space between the cells of a table. Line breaks of the source are kept,
/// because many texts with a few tags have line breaks, too. A `<` that does not begin a tag of HTML is text, as in `a < b` and
/// `<3`.
///
/// The time is linear in the length of the text.
///
/// - Parameter isCatalog: Whether the text is from a catalog. In catalogs, HTML is often escaped a second time, so tags in pairs
///   and references that are in the result are converted, too: `&lt;p&gt;One&lt;/p&gt;` becomes `One`. A text that a reader has
///   written is not changed like that, because it may be about HTML.
/// - Returns: The text without white space around it.
package func plainText(ofHTML html: String, isCatalog: Bool = false) -> String {
    guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
        return trimmed(html[...])
    }
    var text = HTMLConverter.text(Array(html.utf8))
    guard isCatalog else { return text }
    // A text that was escaped more often than this is damaged beyond repair.
    for _ in 0..<3 where HTMLConverter.isEscapedHTML(text) {
        text = HTMLConverter.text(Array(text.utf8))
    }
    return text
}

/// Converts a title, a name, or another text of one line: tags are removed, references are decoded, also if they are escaped
/// twice, and each white space becomes one space.
///
/// - Returns: Nil if no text is left.
package func plainLine(_ text: String) -> String? {
    let needsConversion = text.utf8.contains {
        $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") || $0 < 0x20
    }
    let line =
        needsConversion
        ? plainText(ofHTML: text, isCatalog: true).unicodeScalars.split {
            $0.properties.isWhitespace || $0 == "\0"
        }.map { String($0) }.joined(separator: " ") : trimmed(text[...])
    return line.isEmpty ? nil : line
}

/// Returns the HTML of a plain text, from which `plainText(ofHTML:)` returns the text.
package func html(ofText text: String) -> String {
    var html = ""
    for character in text {
        switch character {
        case "&": html += "&amp;"
        case "<": html += "&lt;"
        case ">": html += "&gt;"
        case "\n", "\r\n": html += "<br/>"
        default: html.append(character)
        }
    }
    return html
}

private struct HTMLConverter {
    private let html: [UInt8]
    private var index = 0
    private var output: [UInt8] = []
    /// The number of line breaks that must be before the next text: 1 for a block, 2 for a paragraph.
    private var breaks = 0
    /// Whether the next text begins a cell of a table that is not the first one of its row.
    private var needsSpace = false
    /// The elements that have no end tag after the index.
    private var unclosed: Set<String> = []
    private var scanner = TagScanner()

    static func text(_ html: [UInt8]) -> String {
        var converter = HTMLConverter(html)
        converter.run()
        return trimmed(String(decoding: converter.output, as: UTF8.self)[...])
    }

    private init(_ html: [UInt8]) {
        self.html = html
        output.reserveCapacity(html.count)
    }

    private mutating func run() {
        while index < html.count {
            switch html[index] {
            case UInt8(ascii: "<"):
                if let tag = scanner.tag(html, at: index) {
                    index = tag.end
                    apply(tag)
                } else {
                    append(html[index...index])
                    index += 1
                }
            case UInt8(ascii: "&"):
                if let (text, length) = CharacterReferences.read(html[index...]) {
                    append(Array(text.utf8)[...])
                    index += length
                } else {
                    append(html[index...index])
                    index += 1
                }
            default:
                let end =
                    html[index...].firstIndex {
                        $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&")
                    } ?? html.count
                append(html[index..<end])
                index = end
            }
        }
    }

    private mutating func append(_ text: ArraySlice<UInt8>) {
        var text = text
        if breaks > 0 {
            // White space between blocks means nothing.
            text = text.drop(while: Self.isSpace)
            guard !text.isEmpty else { return }
            removeSpaces()
            let count = output.suffix(breaks).reversed().prefix { $0 == UInt8(ascii: "\n") }
                .count
            if !output.isEmpty, count < breaks {
                output += [UInt8](repeating: UInt8(ascii: "\n"), count: breaks - count)
            }
            breaks = 0
        } else if needsSpace, !text.allSatisfy(Self.isSpace) {
            if let last = output.last, !Self.isSpace(last) { output.append(UInt8(ascii: " ")) }
        }
        needsSpace = needsSpace && text.allSatisfy(Self.isSpace)
        output += text
    }

    /// Removes spaces at the end of the last line.
    private mutating func removeSpaces() {
        while let last = output.last, last == 0x20 || last == 0x09 { output.removeLast() }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private mutating func apply(_ tag: Tag) {
        switch tag.name {
        case "br":
            if breaks > 0 {
                // The line break ends the empty line after a block.
                let count = output.suffix(breaks).reversed().prefix { $0 == UInt8(ascii: "\n") }
                    .count
                for _ in 0..<max(0, breaks - count) where !output.isEmpty {
                    output.append(UInt8(ascii: "\n"))
                }
                breaks = 0
            } else {
                output.append(UInt8(ascii: "\n"))
                // A line break of the source after the tag is the same one.
                if index < html.count, html[index] == UInt8(ascii: "\r") { index += 1 }
                if index < html.count, html[index] == UInt8(ascii: "\n") { index += 1 }
            }
        case "td", "th": needsSpace = !tag.isEnd && breaks == 0
        case "script", "style": if !tag.isEnd, !unclosed.contains(tag.name) { skip(to: tag.name) }
        default: breaks = max(breaks, HTMLElements.breaks[tag.name] ?? 0)
        }
    }

    /// Skips the content of an element that a browser does not show. Without an end tag, only the tag is skipped.
    private mutating func skip(to name: String) {
        let end = Array("</\(name)".utf8)
        var next = index
        while next + end.count <= html.count {
            if html[next] == end[0],
                zip(html[next...], end).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
            {
                index = next
                return
            }
            next += 1
        }
        // Later tags of this kind have no end either, so the rest is searched only once.
        unclosed.insert(name)
    }

    /// Whether a converted text is HTML that was escaped twice: it contains a known reference, a tag with its end tag, or `<br>`.
    static func isEscapedHTML(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var scanner = TagScanner()
        var open: Set<String> = []
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "&"),
                let (_, length) = CharacterReferences.read(bytes[index...]),
                bytes[index + length - 1] == UInt8(ascii: ";")
            {
                return true
            }
            guard byte == UInt8(ascii: "<"), let tag = scanner.tag(bytes, at: index) else {
                continue
            }
            if tag.name == "br" || tag.isEnd && open.contains(tag.name) { return true }
            if !tag.isEnd { open.insert(tag.name) }
        }
        return false
    }
}

/// Reads tags, at growing indexes of a text.
private struct TagScanner {
    /// The index of the next `>`, or the end of the text.
    private var nextEnd = 0

    /// The maximum length of a tag. A longer search for its end, at each `<`, would take too long.
    private static let tagBytesMax = 2_000

    /// Returns the tag that begins with the `<` at the index. Nil if there is none.
    mutating func tag(_ html: [UInt8], at index: Int) -> Tag? {
        if nextEnd < index {
            nextEnd = html[index...].firstIndex(of: UInt8(ascii: ">")) ?? html.count
        }
        let limit = min(html.count, index + Self.tagBytesMax)
        return nextEnd < limit ? Tag(html, at: index, limit: limit) : nil
    }
}

/// A tag or a comment.
private struct Tag {
    /// In lower case; empty for a comment.
    let name: String
    let isEnd: Bool
    /// The index after the tag.
    let end: Int

    /// Returns nil if no tag of HTML is at the index.
    init?(_ html: [UInt8], at start: Int, limit: Int) {
        var index = start + 1
        guard index < limit else { return nil }
        if html[index] == UInt8(ascii: "!") || html[index] == UInt8(ascii: "?") {
            let isComment = html[index...].starts(with: "!--".utf8)
            guard
                isComment || html[index] == UInt8(ascii: "?") || Self.isDeclaration(html[index...])
            else { return nil }
            var end = isComment ? index + 3 : index
            while end < limit,
                html[end] != UInt8(ascii: ">")
                    || isComment && !html[start..<end].hasSuffix("--".utf8)
            {
                end += 1
            }
            guard end < limit else { return nil }
            (name, isEnd, self.end) = ("", false, end + 1)
            return
        }
        isEnd = html[index] == UInt8(ascii: "/")
        if isEnd { index += 1 }
        let nameStart = index
        while index < limit, CharacterReferences.isAlphanumeric(html[index]) || html[index] == 0x3A
        {
            index += 1
        }
        let name = String(decoding: html[nameStart..<index], as: UTF8.self).lowercased()
        // Word writes elements such as `o:p`.
        guard HTMLElements.names.contains(name) || name.hasPrefix("o:") || name.hasPrefix("w:"),
            index < limit, "/> \t\r\n".utf8.contains(html[index])
        else { return nil }
        guard let end = Self.end(html, from: index, limit: limit) else { return nil }
        self.name = name
        self.end = end
    }

    private static func isDeclaration(_ text: ArraySlice<UInt8>) -> Bool {
        ["!doctype", "![cdata["].contains { name in
            text.prefix(name.utf8.count).elementsEqual(name.utf8) {
                $0 == $1 || $0 | 0x20 == $1
            }
        }
    }

    /// Returns the index after the `>` that ends the tag. It may be in the value of an attribute only if the quotes are in pairs.
    private static func end(_ html: [UInt8], from start: Int, limit: Int) -> Int? {
        var quote: UInt8?
        var first: Int?
        for index in start..<limit {
            let byte = html[index]
            if byte == UInt8(ascii: ">") {
                if quote == nil { return index + 1 }
                first = first ?? index + 1
            } else if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'"),
                html[index - 1] == UInt8(ascii: "=")
            {
                quote = byte
            }
        }
        return first
    }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ suffix: some BidirectionalCollection<UInt8>) -> Bool {
        self.suffix(suffix.count).elementsEqual(suffix)
    }
}

/// https://html.spec.whatwg.org/multipage/indices.html#elements-3, and the obsolete elements of old texts.
private enum HTMLElements {
    static let breaks: [String: Int] = {
        var breaks: [String: Int] = [:]
        for name in [
            "address", "article", "aside", "blockquote", "dl", "figure", "fieldset", "footer",
            "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "menu", "nav", "ol",
            "p", "pre", "section", "table", "ul",
        ] { breaks[name] = 2 }
        for name in [
            "body", "caption", "center", "dd", "details", "dialog", "dir", "div", "dt",
            "figcaption", "hgroup", "html", "legend", "li", "optgroup", "option", "summary",
            "tbody",
            "tfoot", "thead", "title", "tr",
        ] { breaks[name] = 1 }
        return breaks
    }()

    static let names: Set<String> = Set(breaks.keys).union([
        "a", "abbr", "acronym", "area", "audio", "b", "base", "basefont", "bdi", "bdo", "big", "br",
        "button", "canvas", "cite", "code", "col", "colgroup", "data", "datalist", "del", "dfn",
        "em", "embed", "font", "head", "i", "iframe", "img", "input", "ins", "kbd", "label", "link",
        "map", "mark", "meta", "meter", "noscript", "object", "output", "param", "picture",
        "progress", "q", "rp", "rt", "ruby", "s", "samp", "script", "select", "small", "source",
        "span", "strike", "strong", "style", "sub", "sup", "svg", "td", "template", "textarea",
        "th", "time", "tt", "u", "var", "video", "wbr",
    ])
}
