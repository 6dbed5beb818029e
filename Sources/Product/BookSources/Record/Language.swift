/// The codes and names of languages.
///
/// They are in `languages.txt`, which `scripts/text/languages` generates from the table of ISO 639-2.
package enum Languages {
    /// The tags by the other codes and names of their languages, in lower case.
    private static let tags: [String: String] = {
        let lines = String(decoding: PackageResources.languages_txt, as: UTF8.self)
            .split(separator: "\n")
        var tags: [String: String] = [:]
        for line in lines where !line.hasPrefix("#") {
            let columns = line.split(separator: "|").map { String($0) }
            guard let tag = columns.first else { continue }
            for name in columns where tags[name.lowercased()] == nil {
                tags[name.lowercased()] = tag
            }
        }
        return tags
    }()

    /// Codes and names that mean no single language: undetermined, multiple, uncoded, and none. `un` is a wrong form of `und`.
    private static let none: Set = [
        "und", "un", "mul", "mis", "zxx", "root", "xx", "unknown", "undetermined",
        "multiple languages", "uncoded languages", "no linguistic content",
    ]

    /// Whether a text says that there is no single language.
    package static func isNone(_ text: String) -> Bool { none.contains(text.lowercased()) }

    /// Returns the tag of BCP 47 for a tag, a code of ISO 639 of two or three letters, or an English name: `en` for `eng` and
    /// `English`, `pt-BR` for `pt_br` and `Brazilian Portuguese`.
    ///
    /// - Returns: Nil for `und` and the like, and for a text that is neither a well-formed tag nor a known name.
    package static func tag(_ text: String) -> String? {
        let text = trimmed(text[...])
        guard text.utf8.count <= 100 else { return nil }
        let name = text.lowercased()
        if none.contains(name) { return nil }
        if let tag = tags[name] { return tag }
        // The part in parentheses is a time or a place, as in `Greek (Modern)`.
        if let open = name.firstIndex(of: "("), let tag = tags[trimmed(name[..<open])] {
            return tag
        }
        guard let tag = wellFormed(text.replacing("_", with: "-")) else { return nil }
        let parts = tag.split(separator: "-", maxSplits: 1)
        let language = String(parts[0])
        if none.contains(language) { return nil }
        return ([tags[language] ?? language] + parts.dropFirst().map { String($0) })
            .joined(separator: "-")
    }

    /// Returns a well-formed language tag in its usual case, such as `zh-Hant-TW`; nil for any other text. At most 35 characters,
    /// as in https://www.rfc-editor.org/rfc/rfc5646#section-4.4.1.
    package static func wellFormed(_ text: String) -> String? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count <= 35, (2...3).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy(isLetter),
            parts.dropFirst().allSatisfy({
                (1...8).contains($0.utf8.count)
                    && $0.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
            })
        else { return nil }
        var tag = [parts[0].lowercased()]
        for part in parts.dropFirst() {
            switch part.utf8.count {
            case 2: tag.append(part.uppercased())
            case 4 where part.utf8.allSatisfy(isLetter):
                tag.append(part.prefix(1).uppercased() + part.dropFirst().lowercased())
            default: tag.append(part.lowercased())
            }
        }
        return tag.joined(separator: "-")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
