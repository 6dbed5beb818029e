import Basics
import BookSources
import Requests

/// Whether the day or the month is first in a file's dates of the form `1/2/2023`.
enum DayOrder: Equatable, Sendable {
    case dayFirst, monthFirst

    /// Returns the order in the dates of a file; nil if none of them decides, or if they differ.
    static func decided(by texts: some Sequence<String>) -> DayOrder? {
        var found: DayOrder?
        for text in texts {
            guard let numbers = PartialDate.yearLast(text) else { continue }
            let order: DayOrder
            if numbers.first > 12, numbers.second <= 12 {
                order = .dayFirst
            } else if numbers.second > 12, numbers.first <= 12 {
                order = .monthFirst
            } else {
                continue
            }
            if found != nil, found != order { return nil }
            found = order
        }
        return found
    }
}

extension PartialDate {
    /// The reason why a text is not a date.
    enum Problem: Error, Equatable {
        case notADate
        /// The text may mean one of two days.
        case ambiguous
    }

    /// Reads a date in one of the usual forms: `2021-03-14` with or without a time after it, `2021/03/14`, `2021/3`, `2021`,
    /// `20210314`, `14.03.2021`, `March 14, 2021`, `14 Mar 2021`, or `3/14/2021`. A day that the month does not have is left out:
    /// `2019-02-29` is the month 2019-02.
    static func read(_ text: String, order: DayOrder?) throws(Problem) -> PartialDate {
        let text = text.trimmed
        guard text.utf8.count <= 60 else { throw .notADate }
        if let numbers = yearLast(text) {
            return try read(numbers, isDotted: text.contains("."), order: order)
        }
        guard let date = yearFirst(text) ?? named(text) else { throw .notADate }
        return date
    }

    private static func read(
        _ numbers: (first: Int, second: Int, year: Int), isDotted: Bool, order: DayOrder?
    ) throws(Problem) -> PartialDate {
        let dayFirst = PartialDate(year: numbers.year, month: numbers.second, day: numbers.first)
        let monthFirst = PartialDate(year: numbers.year, month: numbers.first, day: numbers.second)
        guard numbers.first > 0, numbers.second > 0 else { throw .notADate }
        guard let either = dayFirst ?? monthFirst else {
            // A day that the month does not have: 30/2/2022.
            let known =
                existing(numbers.year, month: numbers.second, day: numbers.first)
                ?? existing(numbers.year, month: numbers.first, day: numbers.second)
            guard let known else { throw .notADate }
            return known
        }
        if dayFirst == nil || monthFirst == nil || dayFirst == monthFirst { return either }
        switch isDotted ? .dayFirst : order {
        case .dayFirst?: return dayFirst ?? either
        case .monthFirst?: return monthFirst ?? either
        case nil: throw .ambiguous
        }
    }

    /// Whether a text that `read` accepts names a day: it has two numbers besides the year, or the name of a month and a number.
    static func hasDay(_ text: String) -> Bool {
        let date = text.trimmed.prefix { $0 != "T" || text.first?.isNumber != true }
        let words = date.split { !$0.isLetter && !$0.isNumber }.prefix(4)
        let numbers = words.compactMap { number($0.prefix { $0.isNumber }) }.filter { $0 > 0 }
        let hasName = words.contains { monthNumber(Substring($0.lowercased())) != nil }
        return words.first?.utf8.count == 8 && numbers.count == 1 && !hasName
            || numbers.count >= (hasName ? 2 : 3)
    }

    /// Returns the day, or the month of a day that it does not have, such as February 30. Nil for other numbers.
    private static func existing(_ year: Int, month: Int, day: Int) -> PartialDate? {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        return existing(year: year, month: month, day: day)
    }

    /// Returns the numbers of a text such as `1/2/2023`; nil for other texts.
    static func yearLast(_ text: String) -> (first: Int, second: Int, year: Int)? {
        // Excel adds a time: `3/14/2021 0:00`.
        let date = text.trimmed.prefix { $0 != " " }
        let parts = date.split(omittingEmptySubsequences: false) { "/-.".contains($0) }
        guard parts.count == 3, parts[2].utf8.count == 4, parts[0].utf8.count <= 2,
            parts[1].utf8.count <= 2, let first = number(parts[0]), let second = number(parts[1]),
            let year = number(parts[2])
        else { return nil }
        return (first, second, year)
    }

    private static func yearFirst(_ text: String) -> PartialDate? {
        // Without the time.
        let date = text.prefix { $0 != "T" && $0 != " " }
        if date.utf8.count == 8, let number = number(date) {
            let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
            return existing(year, month: month, day: day)
        }
        let parts = date.split(omittingEmptySubsequences: false) { "/-.".contains($0) }
        guard (1...3).contains(parts.count), parts[0].utf8.count == 4 else { return nil }
        let numbers = parts.compactMap(number)
        guard numbers.count == parts.count, parts.dropFirst().allSatisfy({ $0.utf8.count <= 2 })
        else { return nil }
        // A month or day of 0 is unknown.
        let known = numbers.prefix { $0 > 0 }
        guard let year = known.first else { return nil }
        if known.count > 2 { return existing(year, month: known[1], day: known[2]) }
        return PartialDate(year: year, month: known.count > 1 ? known[1] : nil)
    }

    /// Reads a date with the English name of the month, such as `Sun, Mar 14th, 2021`, `14 March 2021`, or `March 2021`.
    private static func named(_ text: String) -> PartialDate? {
        var words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "." || $0 == "-" }
        if let first = words.first,
            ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
                .contains(first.prefix(3)), monthNumber(first) == nil
        {
            words.removeFirst()
        }
        guard (2...3).contains(words.count),
            let position = words.firstIndex(where: { monthNumber($0) != nil }), position < 2,
            let month = monthNumber(words[position]), let last = words.last, last.utf8.count == 4,
            let year = number(last)
        else { return nil }
        if words.count == 2 {
            return position == 0 ? PartialDate(year: year, month: month) : nil
        }
        let dayWord = words[1 - position]
        guard let day = number(dayWord.prefix { $0.isNumber }), day > 0,
            ["", "st", "nd", "rd", "th"].contains(dayWord.drop { $0.isNumber })
        else { return nil }
        return existing(year, month: month, day: day)
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]

    private static func monthNumber(_ word: Substring) -> Int? {
        if word == "sept" { return 9 }
        return months.firstIndex { $0 == word || word.count == 3 && $0.hasPrefix(word) }
            .map { $0 + 1 }
    }

    private static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { $0.isASCIIDigit } && text.utf8.count <= 9
            ? Int(text) : nil
    }
}
