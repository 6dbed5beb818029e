/// A year, a month, or a day of the Gregorian calendar.
///
/// Catalogs and readers often know only the year. Two dates are compared as far as both are known, so 2019-05 is neither before
/// nor after 2019.
package struct PartialDate: Hashable, Sendable {
    package let year: Int
    package let month: Int?
    package let day: Int?

    /// Returns nil if there is no such day. Years have four digits, from 1000.
    package init?(year: Int, month: Int? = nil, day: Int? = nil) {
        self.init(year: year, month: month, day: day, years: 1000...9999)
    }

    /// Reads the form of RFC 3339, or the beginning of it: `2019`, `2019-05`, `2019-05-01`.
    ///
    /// - Parameter years: The years that are accepted, between 1 and 9999.
    package init?(_ text: String, years: ClosedRange<Int> = 1000...9999) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count),
            zip(parts, [4, 2, 2]).allSatisfy({ part, length in
                part.utf8.count == length && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { return nil }
        let numbers = parts.compactMap { Int($0) }
        self.init(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : nil,
            day: numbers.count > 2 ? numbers[2] : nil, years: years)
    }

    package init?(year: Int, month: Int?, day: Int?, years: ClosedRange<Int>) {
        guard years.contains(year) else { return nil }
        if let month {
            guard (1...12).contains(month) else { return nil }
            if let day, !(1...Self.days(in: month, of: year)).contains(day) { return nil }
        } else if day != nil {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Returns the part of a date that exists: the month of a day from 1 to 31 that the month does not have, such as February 30,
    /// and the year of a month that does not exist.
    package static func existing(
        year: Int, month: Int?, day: Int?, years: ClosedRange<Int> = 1000...9999
    ) -> PartialDate? {
        PartialDate(year: year, month: month, day: day, years: years)
            ?? PartialDate(year: year, month: month, day: nil, years: years)
            ?? PartialDate(year: year, month: nil, day: nil, years: years)
    }

    /// The form of RFC 3339, or the beginning of it: `2019`, `2019-05`, `2019-05-01`.
    package var text: String {
        ([String(repeating: "0", count: 4 - String(year).count) + String(year)]
            + [month, day].compactMap { $0 }.map { $0 < 10 ? "0\($0)" : String($0) })
            .joined(separator: "-")
    }

    /// Whether the date is before another one, as far as both are known.
    package func isBefore(_ other: PartialDate) -> Bool {
        if year != other.year { return year < other.year }
        guard let month, let otherMonth = other.month else { return false }
        if month != otherMonth { return month < otherMonth }
        guard let day, let otherDay = other.day else { return false }
        return day < otherDay
    }

    /// Whether this date is the other one with more detail, such as 1965-08 compared with 1965, or the same.
    package func isWithin(_ other: PartialDate) -> Bool {
        year == other.year && (other.month == nil || other.month == month)
            && (other.day == nil || other.day == day)
    }

    /// Returns the number of days of a month of the Gregorian calendar.
    package static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
