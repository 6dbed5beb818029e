import Basics

/// The character references of HTML, such as `&eacute;`, `&#233;`, and `&#xE9;`.
///
/// The names are in `html-entities.txt`, which `scripts/text/entities` generates from the table of the standard.
///
/// Spec: https://html.spec.whatwg.org/multipage/parsing.html#character-reference-state
enum CharacterReferences {
    private struct Entity {
        let text: String
        /// Whether browsers read the name without a semicolon, too.
        let needsNoSemicolon: Bool
    }

    private static let entities: [String: Entity] = {
        let lines = String(decoding: PackageResources.html_entities_txt, as: UTF8.self)
            .split(separator: "\n")
        var entities: [String: Entity] = [:]
        entities.reserveCapacity(lines.count)
        for line in lines where !line.hasPrefix("#") {
            let columns = line.split(separator: " ")
            guard let name = columns.first else { continue }
            let scalars = columns.dropFirst().compactMap {
                UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
            }
            let isMarked = name.hasSuffix("*")
            entities[String(isMarked ? name.dropLast() : name)] = Entity(
                text: String(String.UnicodeScalarView(scalars)), needsNoSemicolon: isMarked)
        }
        return entities
    }()

    /// The number of names.
    static var count: Int { entities.count }

    /// The maximum length of a name or number, and thus of a search for its end.
    private static let lengthMax = 40

    /// Reads a reference that begins with the `&` at the start of the text.
    ///
    /// - Returns: The characters, with a space for a no-break space, and the number of bytes. Nil if this is not a reference: the
    ///   name is unknown, the number is not that of a character, or a semicolon is missing before a letter, a digit, or `=`, as in
    ///   `?a=1&copy=2`.
    static func read(_ text: ArraySlice<UInt8>) -> (text: String, length: Int)? {
        let rest = text.dropFirst()
        let isNumeric = rest.first == UInt8(ascii: "#")
        let body = (isNumeric ? rest.dropFirst() : rest).prefix(lengthMax)
            .prefix { isAlphanumeric($0) }
        guard !body.isEmpty else { return nil }
        let next = body.endIndex < text.endIndex ? text[body.endIndex] : nil
        let hasSemicolon = next == UInt8(ascii: ";")
        let length = body.endIndex - text.startIndex + (hasSemicolon ? 1 : 0)
        let name = String(decoding: body, as: UTF8.self)
        if isNumeric {
            guard hasSemicolon || next != UInt8(ascii: "=") else { return nil }
            return scalar(name).map { (String($0 == "\u{A0}" ? " " : $0), length) }
        }
        guard let entity = entities[name],
            hasSemicolon || entity.needsNoSemicolon && next != UInt8(ascii: "=")
        else { return nil }
        return (entity.text == "\u{A0}" ? " " : entity.text, length)
    }

    /// Returns the character of a number such as `233` or `xE9`. Numbers of the control characters from 128 to 159 mean the
    /// characters of Windows-1252, as in browsers. Other control characters have no meaning in a text.
    private static func scalar(_ number: String) -> Unicode.Scalar? {
        let isHex = number.first == "x" || number.first == "X"
        guard
            let code = UInt32(isHex ? number.dropFirst() : number[...], radix: isHex ? 16 : 10),
            code >= 0x20 || code == 9 || code == 10 || code == 13, code != 0x7F
        else { return nil }
        if (0x80...0x9F).contains(code) {
            let scalar = Windows1252.scalar(UInt8(code))
            return scalar.value == code || scalar == "\u{FFFD}" ? nil : scalar
        }
        return Unicode.Scalar(code)
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
