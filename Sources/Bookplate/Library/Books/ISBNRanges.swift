/// The registration groups and registrants that the International ISBN Agency has assigned. They determine the positions
/// of the hyphens.
///
/// The table is `isbn-ranges.txt`. `scripts/isbn/ranges` generates it from the agency's range message.
struct ISBNRanges: Sendable {
    static let current = ISBNRanges(
        String(decoding: PackageResources.isbn_ranges_txt, as: UTF8.self))

    /// Ranges by the digits before them: the prefix, or the prefix and the group. A range begins with the seven digits
    /// `first`, and its group or registrant has `length` digits (0 if it is not assigned). It ends where the next range
    /// begins.
    private let rules: [String: [(first: Int, length: Int)]]

    init(_ text: String) {
        var rules: [String: [(first: Int, length: Int)]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: " ")
            guard let prefix = columns.first else { continue }
            rules[prefix.filter { $0 != "-" }] = columns.dropFirst().compactMap { column in
                let parts = column.split(separator: "=")
                guard parts.count == 2, let length = Int(parts[1]),
                    let first = Self.sevenDigits(parts[0])
                else { return nil }
                return (first, length)
            }
        }
        self.rules = rules
    }

    /// Whether the number's registration group is assigned.
    func hasGroup(_ isbn: ISBN) -> Bool {
        let prefix = isbn.description.prefix(3)
        guard let length = length(after: String(prefix), in: isbn.description.dropFirst(3)) else {
            return false
        }
        return rules[String(isbn.description.prefix(3 + length))] != nil
    }

    /// Returns the number with hyphens, such as `978-0-306-40615-7`. A number outside the assigned ranges has none.
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

    /// Returns the number that the digits form when they are padded with zeros on the right to seven digits.
    private static func sevenDigits(_ digits: Substring) -> Int? {
        Int(digits + String(repeating: "0", count: max(0, 7 - digits.count)))
    }
}
