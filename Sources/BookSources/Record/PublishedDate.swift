/// A year, a month or a day out of what catalogues write: `October 1, 1988`, `c1997`, `2020-11`, `1990*`.
///
/// - Returns: `1988-10-01`, `1997`, `2020-11`; nil where there is no year.
func publishedDate(_ text: String) -> String? {
    let words = text.split { !($0.isASCII && ($0.isNumber || $0.isLetter)) }
    let numbers = words.map { word in
        Int(word.drop { $0.isLetter }.prefix { $0.isNumber })
    }
    guard let yearPlace = numbers.firstIndex(where: { (1000...2999).contains($0 ?? 0) }),
        let year = numbers[yearPlace]
    else { return nil }
    func written(_ month: Int, _ day: Int?) -> String {
        let month = "\(year)-\(month < 10 ? "0" : "")\(month)"
        return day.map { "\(month)-\($0 < 10 ? "0" : "")\($0)" } ?? month
    }
    // 2014-02-04, 2020-11
    if yearPlace == 0, words.count > 1, let month = numbers[1], (1...12).contains(month) {
        let day = words.count > 2 ? numbers[2].flatMap { (1...31).contains($0) ? $0 : nil } : nil
        return written(month, day)
    }
    // A date of numbers alone may put the day or the month first, so only the year is sure.
    guard let monthPlace = words.firstIndex(where: { month(named: $0) != nil }),
        let month = month(named: words[monthPlace])
    else { return "\(year)" }
    let day = [monthPlace - 1, monthPlace + 1]
        .filter { words.indices.contains($0) && $0 != yearPlace }
        .compactMap { numbers[$0] }.first { (1...31).contains($0) }
    return written(month, day)
}

/// English month names and their beginnings of three letters and more.
func month(named word: Substring) -> Int? {
    let names = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    guard word.count >= 3 else { return nil }
    let lower = word.lowercased()
    return names.firstIndex { $0.hasPrefix(lower) }.map { $0 + 1 }
}
