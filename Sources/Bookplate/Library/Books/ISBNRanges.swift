/// Where the hyphens of an ISBN stand: the groups and registrants of the International ISBN Agency.
///
/// The table is `isbn-ranges.txt`; `scripts/isbn/ranges` makes it anew from the agency's message.
struct ISBNRanges: Sendable {
    static let current = ISBNRanges(
        String(decoding: PackageResources.isbn_ranges_txt, as: UTF8.self))

    /// Ranges by the digits in front of them: the prefix, or prefix and group. Each range has its first
    /// seven digits and how many of them count; the next one ends it.
    private let rules: [String: [(first: Int, length: Int)]]

    init(_ text: String) {
        var rules: [String: [(first: Int, length: Int)]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard let name = words.first else { continue }
            rules[name.filter { $0 != "-" }] = words.dropFirst().compactMap { word in
                let parts = word.split(separator: "=")
                guard parts.count == 2, let length = Int(parts[1]),
                    let first = Self.sevenDigits(parts[0])
                else { return nil }
                return (first, length)
            }
        }
        self.rules = rules
    }

    /// Whether the agency has given its group to somebody.
    func hasGroup(_ isbn: ISBN) -> Bool {
        let prefix = isbn.description.prefix(3)
        guard let length = length(after: String(prefix), in: isbn.description.dropFirst(3)) else {
            return false
        }
        return rules[String(isbn.description.prefix(3 + length))] != nil
    }

    /// `978-0-306-40615-7`; the digits alone where the agency has given no such number.
    func hyphenated(_ isbn: ISBN) -> String {
        let digits = Substring(isbn.description)
        guard let groupLength = length(after: String(digits.prefix(3)), in: digits.dropFirst(3)),
            let registrantLength = length(
                after: String(digits.prefix(3 + groupLength)), in: digits.dropFirst(3 + groupLength)
            ),
            3 + groupLength + registrantLength < 12
        else { return isbn.description }
        var rest = digits
        var parts: [Substring] = []
        for length in [3, groupLength, registrantLength] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return (parts + [rest.dropLast(), rest.suffix(1)]).joined(separator: "-")
    }

    private func length(after prefix: String, in rest: Substring) -> Int? {
        guard let ranges = rules[prefix], let value = Self.sevenDigits(rest.prefix(7)),
            let range = ranges.last(where: { $0.first <= value }), range.length > 0
        else { return nil }
        return range.length
    }

    /// The digits as a number of seven, zeros behind.
    private static func sevenDigits(_ digits: Substring) -> Int? {
        Int(digits + String(repeating: "0", count: max(0, 7 - digits.count)))
    }
}
