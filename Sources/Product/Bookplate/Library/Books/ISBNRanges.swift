/// The registration groups and registrants that the International ISBN Agency has assigned. They determine the positions
/// of the hyphens.
///
/// The table is `isbn-ranges.txt`. `scripts/isbn/ranges` generates it from the agency's range message.
struct ISBNRanges: Sendable {
    static let current = ISBNRanges(
        String(decoding: PackageResources.isbn_ranges_txt, as: UTF8.self))

    /// Ranges by the digits before them as a number: the prefix, or the prefix and the group. A range begins with the seven
    /// digits `first`, and its group or registrant has `length` digits (0 if it is not assigned). It ends where the next
    /// range begins.
    private let rules: [Int: [(first: Int, length: Int)]]

    init(_ text: String) {
        var rules: [Int: [(first: Int, length: Int)]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: " ")
            guard let prefix = columns.first.flatMap({ Int($0.filter { $0 != "-" }) }) else {
                continue
            }
            rules[prefix] = columns.dropFirst().compactMap { column in
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
    func hasGroup(_ isbn: ISBNDigits) -> Bool {
        guard let length = length(after: 3, in: isbn) else { return false }
        return rules[isbn.number(from: 0, count: 3 + length)] != nil
    }

    /// Returns the lengths of the number's group and registrant; nil for a number outside the assigned ranges.
    func lengths(of isbn: ISBNDigits) -> (group: Int, registrant: Int)? {
        guard let group = length(after: 3, in: isbn),
            let registrant = length(after: 3 + group, in: isbn), 3 + group + registrant < 12
        else { return nil }
        return (group, registrant)
    }

    /// Returns the length of the part that follows the first `count` digits.
    private func length(after count: Int, in isbn: ISBNDigits) -> Int? {
        guard let ranges = rules[isbn.number(from: 0, count: count)] else { return nil }
        let value = isbn.number(from: count, count: 7)
        guard let range = ranges.last(where: { $0.first <= value }), (1...9).contains(range.length)
        else {
            return nil
        }
        return range.length
    }

    /// Returns the number that the digits form when they are padded with zeros on the right to seven digits.
    private static func sevenDigits(_ digits: Substring) -> Int? {
        Int(digits + String(repeating: "0", count: max(0, 7 - digits.count)))
    }
}
