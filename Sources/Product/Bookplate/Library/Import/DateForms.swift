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
    /// `14.03.2021`, `March 14, 2021`, `14 Mar 2021`, or `3/14/2021`.
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
        guard numbers.first > 0, numbers.second > 0, let either = dayFirst ?? monthFirst else {
            throw .notADate
        }
        if dayFirst == nil || monthFirst == nil || dayFirst == monthFirst { return either }
        switch isDotted ? .dayFirst : order {
        case .dayFirst?: return dayFirst ?? either
        case .monthFirst?: return monthFirst ?? either
        case nil: throw .ambiguous
        }
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
        let parts = date.split(omittingEmptySubsequences: false) { "/-.".contains($0) }
        guard (1...3).contains(parts.count), parts[0].utf8.count == 4 else { return nil }
        let numbers = parts.compactMap(number)
        guard numbers.count == parts.count, parts.dropFirst().allSatisfy({ $0.utf8.count <= 2 })
        else { return nil }
        // A month or day of 0 is unknown.
        let known = numbers.prefix { $0 > 0 }
        guard let year = known.first else { return nil }
        return PartialDate(
            year: year, month: known.count > 1 ? known[1] : nil,
            day: known.count > 2 ? known[2] : nil)
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
        return PartialDate(year: year, month: month, day: day)
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
