extension Contributor {
    /// Converts `Coelho, Paulo` to `Paulo Coelho`, and `King, Martin Luther, Jr.` to `Martin Luther King, Jr.` The years of a life, as
    /// in `Dahl, Roald, 1916-1990`, are left out.
    package static func givenNameFirst(_ name: String) -> String {
        // Most names have no comma. A regular expression is parsed each time it is used, which takes longer than the rest.
        guard name.utf8.contains(UInt8(ascii: ",")) else { return trimmed(name[...]) }
        var parts = commaParts(name)
        parts.removeAll {
            $0.contains(where: \.isWholeNumber)
                && $0.wholeMatch(
                    of: /(?:b\.|d\.|ca?\.)?\s*[0-9]{4}\??\s*[-–]?\s*(?:[0-9]{4}\??)?\.?/)
                    != nil
        }
        var suffixes: [String] = []
        // The suffix may also be after the family name: `King, Jr., Martin Luther`.
        for part in parts.dropFirst() where isSuffix(part) { suffixes.append(part) }
        let names = parts.prefix(1) + parts.dropFirst().filter { !isSuffix($0) }
        switch names.count {
        case 2:
            return suffixes.reduce("\(names[1]) \(names[0])") { name, suffix in
                isOrdinal(suffix) ? "\(name) \(suffix)" : "\(name), \(suffix)"
            }
        case 1 where suffixes.isEmpty: return names[0]
        default: return name
        }
    }

    /// Splits at commas outside parentheses.
    static func commaParts(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth <= 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.map { trimmed($0[...]) }.filter { !$0.isEmpty }
    }

    /// Whether a part of a name follows the name: `Jr.`, `III`, `PhD`.
    static func isSuffix(_ part: String) -> Bool {
        suffixes.contains(folded(part)) || isOrdinal(part)
    }

    private static func isOrdinal(_ part: String) -> Bool { ordinals.contains(folded(part)) }

    private static let suffixes: Set = [
        "jr", "sr", "jnr", "snr", "phd", "ph d", "md", "m d", "esq", "dds", "dd", "d d",
        // Of organizations.
        "inc", "llc", "ltd", "co", "corp", "gmbh", "plc", "et al",
    ]
    private static let ordinals: Set = ["ii", "iii", "iv", "2nd", "3rd", "4th"]
}
