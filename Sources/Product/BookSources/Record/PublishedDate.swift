import Basics

/// Parses a date in one of the notations of catalogs: `October 1, 1988`, `c1997`, `2020-11`, `1990*`, `20040115`.
///
/// - Returns: A year, a month, or a day. The month of a day that does not exist, such as `2010-02-30`. nil if there is no year.
package func publishedDate(_ text: String) -> PartialDate? {
    let words = text.prefix(200).split { !($0.isASCII && ($0.isNumber || $0.isLetter)) }
    if let date = compactDate(words) { return date }
    let numbers = words.map { word in
        Int(word.drop { $0.isLetter }.prefix { $0.isNumber })
    }
    guard let yearIndex = numbers.firstIndex(where: { (1000...2999).contains($0 ?? 0) }),
        let year = numbers[yearIndex]
    else { return nil }
    // ISO dates, such as 2014-02-04 and 2020-11.
    if yearIndex == 0, words.count > 1, let month = numbers[1] {
        // The number is not a month in a span of years such as `1997-98`.
        guard (1...12).contains(month) else { return .init(year: year) }
        return .existing(year: year, month: month, day: words.count > 2 ? numbers[2] : nil)
    }
    // In other dates without the name of a month, the order of day and month is unknown, so only the year is used.
    guard let monthIndex = words.firstIndex(where: { month(named: $0) != nil }),
        let month = month(named: words[monthIndex])
    else { return .init(year: year) }
    let day = [monthIndex - 1, monthIndex + 1]
        .filter { words.indices.contains($0) && $0 != yearIndex }
        .compactMap { numbers[$0] }.first { (1...31).contains($0) }
    return .existing(year: year, month: month, day: day)
}

/// Reads eight digits without separators: `20040115`. Nil if they are not a date, such as the number of a catalog.
private func compactDate(_ words: [Substring]) -> PartialDate? {
    guard let word = words.first, word.utf8.count == 8,
        word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(word)
    else { return nil }
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
    guard (1000...2999).contains(year), (0...12).contains(month), (0...31).contains(day) else {
        return nil
    }
    return .existing(
        year: year, month: month > 0 ? month : nil, day: day > 0 && month > 0 ? day : nil)
}

/// Returns the number of a month for its English name or an abbreviation of at least three letters.
func month(named word: Substring) -> Int? {
    let names = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    guard word.count >= 3 else { return nil }
    let lower = word.lowercased()
    return names.firstIndex { $0.hasPrefix(lower) }.map { $0 + 1 }
}
