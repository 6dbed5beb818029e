import Glibc

/// The value of the `date` header, formatted at most once per second.
///
/// Spec: RFC 9110, section 5.6.7
struct HTTPDate {
    private var second = time_t.min
    private var text = ""

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the current time, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func now() -> String {
        // The coarse clock may be a few milliseconds late, but reading it needs no system call.
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &clock)
        if clock.tv_sec != second {
            second = clock.tv_sec
            text = Self.text(of: second)
        }
        return text
    }

    /// Formats a time in seconds since 1970.
    static func text(of second: time_t) -> String {
        var second = second
        var time = tm()
        gmtime_r(&second, &time)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return days[Int(time.tm_wday)] + ", \(two(time.tm_mday)) " + months[Int(time.tm_mon)]
            + " \(time.tm_year + 1900) \(two(time.tm_hour)):\(two(time.tm_min)):\(two(time.tm_sec)) GMT"
    }
}
