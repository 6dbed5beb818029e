import Glibc

extension FetchResponse {
    /// The pause that the header `Retry-After` requests, at most a day; nil if it is absent or malformed.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
    package var retryAfter: Duration? { header("Retry-After").flatMap(Self.retryAfter) }

    /// Parses a number of seconds or a date.
    static func retryAfter(_ text: String) -> Duration? {
        let dayInSeconds = 86_400
        if let seconds = Int(text) {
            return seconds >= 0 ? .seconds(min(seconds, dayInSeconds)) : nil
        }
        return httpDate(text).map { .seconds(min(max(0, $0 - time(nil)), dayInSeconds)) }
    }
}

private let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

/// Parses a date such as `Wed, 21 Oct 2015 07:28:00 GMT` as Unix time in seconds. Returns nil for the two obsolete forms.
private func httpDate(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]),
        let month = months.firstIndex(of: String(words[2])), let year = Int32(words[3]),
        (1...31).contains(day), (1900...9999).contains(year)
    else { return nil }
    let clock = words[4].split(separator: ":").compactMap { Int32($0) }
    guard clock.count == 3, clock.allSatisfy({ (0..<61).contains($0) }) else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, Int32(month), day)
    (date.tm_hour, date.tm_min, date.tm_sec) = (clock[0], clock[1], clock[2])
    return timegm(&date)
}
