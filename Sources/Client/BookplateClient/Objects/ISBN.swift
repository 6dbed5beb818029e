/// The number of an edition: 13 digits that begin with 978 or 979.
public struct ISBN: RawRepresentable, Codable, Hashable, Sendable {
    /// The 13 digits.
    public let rawValue: String

    /// Creates a number from 13 digits. Nil if the check digit does not match.
    public init?(rawValue: String) {
        let digits = rawValue.utf8.map { Int($0) - 48 }
        guard digits.count == 13, digits.allSatisfy({ 0...9 ~= $0 }),
            rawValue.hasPrefix("978") || rawValue.hasPrefix("979")
        else { return nil }
        let sum = digits.enumerated().reduce(0) {
            $0 + $1.element * ($1.offset % 2 == 0 ? 1 : 3)
        }
        guard sum % 10 == 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Reads a number as typed or scanned: with 10 or 13 digits, hyphens, spaces, the word ISBN in front, or the two or five digits of a
    /// price after it. Nil if it is none.
    public init?(scanned text: String) {
        var rest = text.uppercased()[...]
        rest = rest.drop { $0.isWhitespace }
        if rest.hasPrefix("ISBN") {
            rest = rest.dropFirst(4)
            for kind in ["-13", "-10", " 13:", " 10:"] where rest.hasPrefix(kind) {
                rest = rest.dropFirst(kind.count)
            }
        }
        var digits = ""
        for character in rest where !character.isWhitespace {
            if let digit = character.wholeNumberValue, 0...9 ~= digit {
                digits += String(digit)
            } else if character == "X", digits.utf8.count == 9 {
                digits += "X"
            } else if !"-:\u{2010}\u{2011}\u{2012}\u{2013}\u{2212}".contains(character) {
                return nil
            }
        }
        switch digits.utf8.count {
        case 10: self.init(tenDigits: digits)
        case 13, 15, 18: self.init(rawValue: String(digits.prefix(13)))
        default: return nil
        }
    }

    private init?(tenDigits: String) {
        let values = tenDigits.utf8.map { $0 == UInt8(ascii: "X") ? 10 : Int($0) - 48 }
        let sum = values.enumerated().reduce(0) { $0 + $1.element * (10 - $1.offset) }
        guard sum % 11 == 0 else { return nil }
        let start = "978" + tenDigits.prefix(9)
        let partial = start.utf8.enumerated().reduce(0) {
            $0 + (Int($1.element) - 48) * ($1.offset % 2 == 0 ? 1 : 3)
        }
        self.init(rawValue: start + String((10 - partial % 10) % 10))
    }
}
