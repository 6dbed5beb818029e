import Glibc

/// Parses a time such as `2026-11-23T20:45:00.000Z` to seconds since the Unix epoch.
func unixSeconds(ofISO text: String) -> Int64? {
    let parts = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
    guard text.hasSuffix("Z"), (6...7).contains(parts.count), text.contains("T") else { return nil }
    return unixSeconds(
        year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
        second: parts[5])
}

/// Parses the value of the header `Date`, such as `Mon, 23 Nov 2026 20:45:00 GMT`, to seconds since the Unix epoch.
func unixSeconds(ofHTTPDate text: String) -> Int64? {
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]),
        let month = months.firstIndex(of: String(words[2])), let year = Int32(words[3])
    else { return nil }
    let time = words[4].split(separator: ":").compactMap { Int32($0) }
    guard time.count == 3 else { return nil }
    return unixSeconds(
        year: year, month: Int32(month) + 1, day: day, hour: time[0], minute: time[1],
        second: time[2])
}

private func unixSeconds(
    year: Int32, month: Int32, day: Int32, hour: Int32, minute: Int32, second: Int32
) -> Int64? {
    guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
        (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    var time = tm()
    time.tm_year = year - 1900
    time.tm_mon = month - 1
    time.tm_mday = day
    time.tm_hour = hour
    time.tm_min = minute
    time.tm_sec = second
    return Int64(timegm(&time))
}
