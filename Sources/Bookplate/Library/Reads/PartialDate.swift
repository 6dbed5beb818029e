import GraphQL
import Identity

/// A year, a month, or a day of the Gregorian calendar: the scalar `Date`.
///
/// Readers often know only the year of a read. Two dates are compared as far as both are known, so 2019-05 is neither before
/// nor after 2019.
struct PartialDate: Hashable {
    /// The form of RFC 3339, or the beginning of it: `2019`, `2019-05`, `2019-05-01`.
    let text: String

    /// Returns nil for any other text, and for days that do not exist. Years have four digits, from 1000.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count),
            zip(parts, [4, 2, 2]).allSatisfy({ part, length in
                part.utf8.count == length && part.utf8.allSatisfy { (48...57).contains($0) }
            })
        else { return nil }
        let numbers = parts.compactMap { Int($0) }
        guard numbers[0] >= 1000 else { return nil }
        if numbers.count > 1, !(1...12).contains(numbers[1]) { return nil }
        if numbers.count > 2, !(1...Self.days(in: numbers[1], of: numbers[0])).contains(numbers[2])
        {
            return nil
        }
        self.text = text
    }

    /// Whether the date is before another one, as far as both are known.
    func isBefore(_ other: PartialDate) -> Bool {
        let length = min(text.utf8.count, other.text.utf8.count)
        return text.prefix(length) < other.text.prefix(length)
    }

    /// The last day that is not in the future: tomorrow in UTC, because the day begins earlier in other time zones.
    static func latest(now: UnixSeconds = unixSecondsNow()) -> PartialDate? {
        PartialDate(
            String(Instant(microseconds: Int64(now + 86_400) * 1_000_000).text.prefix(10)))
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Checks an input of the scalar `Date`.
    static let scalarInput: ScalarInput = { value throws(CoercionError) in
        guard let text = value.string, PartialDate(text) != nil else {
            throw CoercionError(
                "Date cannot represent this value. Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01."
            )
        }
        return value
    }
}

extension InputObject {
    /// Returns a date that is not in the future; nil if the field is absent or null.
    func date(_ name: String) throws(BookplateError) -> PartialDate? {
        guard let text = text(name) else { return nil }
        guard let date = PartialDate(text) else {
            throw .badUserInput(
                field: name,
                "Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01.")
        }
        if let latest = PartialDate.latest(), latest.isBefore(date) {
            throw .badUserInput(field: name, "\(text) is in the future. Send a date up to today.")
        }
        return date
    }
}
