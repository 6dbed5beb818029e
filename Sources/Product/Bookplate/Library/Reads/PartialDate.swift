import GraphQL
import Identity
import Postgres
import Requests

/// A year, a month, or a day of the Gregorian calendar: the scalar `Date`.
///
/// Readers often know only the year of a read. Two dates are compared as far as both are known, so 2019-05 is neither before
/// nor after 2019.
package struct PartialDate: Hashable, Sendable {
    let year: Int
    let month: Int?
    let day: Int?

    /// Returns nil if there is no such day. Years have four digits, from 1000.
    init?(year: Int, month: Int? = nil, day: Int? = nil) {
        self.init(year: year, month: month, day: day, years: 1000...9999)
    }

    /// Reads the form of RFC 3339, or the beginning of it: `2019`, `2019-05`, `2019-05-01`.
    ///
    /// - Parameter years: The years that are accepted, between 1 and 9999.
    init?(_ text: String, years: ClosedRange<Int> = 1000...9999) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count),
            zip(parts, [4, 2, 2]).allSatisfy({ part, length in
                part.utf8.count == length && part.utf8.allSatisfy { $0.isASCIIDigit }
            })
        else { return nil }
        let numbers = parts.compactMap { Int($0) }
        self.init(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : nil,
            day: numbers.count > 2 ? numbers[2] : nil, years: years)
    }

    private init?(year: Int, month: Int?, day: Int?, years: ClosedRange<Int>) {
        guard years.contains(year) else { return nil }
        if let month {
            guard (1...12).contains(month) else { return nil }
            if let day, !(1...Instant.days(in: month, of: year)).contains(day) { return nil }
        } else if day != nil {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The form of RFC 3339, or the beginning of it: `2019`, `2019-05`, `2019-05-01`.
    package var text: String {
        ([String(repeating: "0", count: 4 - String(year).count) + String(year)]
            + [month, day].compactMap { $0 }.map { $0 < 10 ? "0\($0)" : String($0) })
            .joined(separator: "-")
    }

    /// Midnight UTC of the first day.
    package var start: Instant? {
        PartialDate(year: year, month: month ?? 1, day: day ?? 1)
            .flatMap { Instant("\($0.text)T00:00:00Z") }
    }

    /// Whether the date is before another one, as far as both are known.
    func isBefore(_ other: PartialDate) -> Bool {
        if year != other.year { return year < other.year }
        guard let month, let otherMonth = other.month else { return false }
        if month != otherMonth { return month < otherMonth }
        guard let day, let otherDay = other.day else { return false }
        return day < otherDay
    }

    /// The last day that is not in the future: tomorrow in UTC, because the day begins earlier in other time zones.
    static func latest(now: UnixSeconds = unixSecondsNow()) -> PartialDate? {
        PartialDate(
            String(Instant(microseconds: Int64(now + 86_400) * 1_000_000).text.prefix(10)))
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
