import Postgres

/// A year, a month, or a day, as much as the source knows.
struct ImportedDate: Hashable, Sendable {
    let year: Int
    let month: Int?
    let day: Int?

    /// Returns nil if there is no such day in the Gregorian calendar.
    init?(year: Int, month: Int? = nil, day: Int? = nil) {
        // A month or day of 0 is unknown.
        let month = month == 0 ? nil : month
        let day = day == 0 || month == nil ? nil : day
        self.year = year
        self.month = month
        self.day = day
        guard year >= 1000, year <= 9999, BookFacts.isDate(text) else { return nil }
    }

    /// The date in ISO 8601 format: `2019`, `2019-05`, or `2019-05-01`.
    var text: String {
        ([String(year)]
            + [month, day].compactMap { $0 }.map { $0 < 10 ? "0\($0)" : String($0) })
            .joined(separator: "-")
    }

    /// Midnight UTC of the first day.
    var start: Instant? {
        Instant(
            "\(ImportedDate(year: year, month: month ?? 1, day: day ?? 1)?.text ?? "")T00:00:00Z")
    }

    /// Whether all of this date is before the other one.
    func isBefore(_ other: ImportedDate) -> Bool {
        // The text of a year is the beginning of the texts of its days.
        let count = min(text.utf8.count, other.text.utf8.count)
        return text.prefix(count) < other.text.prefix(count)
    }
}

/// Whether the day or the month is first in a file's dates of the form `1/2/2023`.
enum DayOrder: Equatable, Sendable {
    case dayFirst, monthFirst

    /// Returns the order in the dates of a file; nil if none of them decides, or if they differ.
    static func decided(by texts: some Sequence<String>) -> DayOrder? {
        var found: DayOrder?
        for text in texts {
            guard let numbers = ImportedDate.yearLast(text) else { continue }
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

extension ImportedDate {
    /// The reason why a text is not a date.
    enum Problem: Error, Equatable {
        case notADate
        /// The text may mean one of two days.
        case ambiguous
    }

    /// Reads a date in one of the usual forms: `2021-03-14` with or without a time after it, `2021/03/14`, `2021/3`, `2021`,
    /// `14.03.2021`, `March 14, 2021`, `14 Mar 2021`, or `3/14/2021`.
    static func read(_ text: String, order: DayOrder?) throws(Problem) -> ImportedDate {
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
    ) throws(Problem) -> ImportedDate {
        let dayFirst = ImportedDate(year: numbers.year, month: numbers.second, day: numbers.first)
        let monthFirst = ImportedDate(year: numbers.year, month: numbers.first, day: numbers.second)
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

    private static func yearFirst(_ text: String) -> ImportedDate? {
        // Without the time.
        let date = text.prefix { $0 != "T" && $0 != " " }
        let parts = date.split(omittingEmptySubsequences: false) { "/-.".contains($0) }
        guard (1...3).contains(parts.count), parts[0].utf8.count == 4 else { return nil }
        let numbers = parts.compactMap(number)
        guard numbers.count == parts.count, parts.dropFirst().allSatisfy({ $0.utf8.count <= 2 })
        else { return nil }
        return ImportedDate(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : nil,
            day: numbers.count > 2 ? numbers[2] : nil)
    }

    /// Reads a date with the English name of the month, such as `Sun, Mar 14th, 2021`, `14 March 2021`, or `March 2021`.
    private static func named(_ text: String) -> ImportedDate? {
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
            return position == 0 ? ImportedDate(year: year, month: month) : nil
        }
        let dayWord = words[1 - position]
        guard let day = number(dayWord.prefix { $0.isNumber }), day > 0,
            ["", "st", "nd", "rd", "th"].contains(dayWord.drop { $0.isNumber })
        else { return nil }
        return ImportedDate(year: year, month: month, day: day)
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
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.utf8.count <= 9
            ? Int(text) : nil
    }
}
