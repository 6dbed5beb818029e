/// Parses a date in one of the notations of catalogs: `October 1, 1988`, `c1997`, `2020-11`, `1990*`.
///
/// - Returns: A year, a month, or a day such as `1997`, `2020-11`, or `1988-10-01`. nil if there is no year.
package func publishedDate(_ text: String) -> String? {
    let words = text.split { !($0.isASCII && ($0.isNumber || $0.isLetter)) }
    let numbers = words.map { word in
        Int(word.drop { $0.isLetter }.prefix { $0.isNumber })
    }
    guard let yearIndex = numbers.firstIndex(where: { (1000...2999).contains($0 ?? 0) }),
        let year = numbers[yearIndex]
    else { return nil }
    func formatted(_ month: Int, _ day: Int?) -> String {
        let month = "\(year)-\(month < 10 ? "0" : "")\(month)"
        return day.map { "\(month)-\($0 < 10 ? "0" : "")\($0)" } ?? month
    }
    // ISO dates, such as 2014-02-04 and 2020-11.
    if yearIndex == 0, words.count > 1, let month = numbers[1], (1...12).contains(month) {
        let day = words.count > 2 ? numbers[2].flatMap { (1...31).contains($0) ? $0 : nil } : nil
        return formatted(month, day)
    }
    // In other dates without the name of a month, the order of day and month is unknown, so only the year is used.
    guard let monthIndex = words.firstIndex(where: { month(named: $0) != nil }),
        let month = month(named: words[monthIndex])
    else { return "\(year)" }
    let day = [monthIndex - 1, monthIndex + 1]
        .filter { words.indices.contains($0) && $0 != yearIndex }
        .compactMap { numbers[$0] }.first { (1...31).contains($0) }
    return formatted(month, day)
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
