import Basics
import GraphQL
import GraphQLPostgres

/// A point in time, with microseconds.
///
/// Its text form is the scalar `DateTime`: RFC 3339 without leap seconds.
///
/// Spec: https://scalars.graphql.org/chillicream/date-time.html
package struct Instant: Equatable {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before it.
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// The number of digits of a fraction of a second that the format allows.
    private static let fractionDigitsMax = 9
    /// The number of those digits that an `Instant` stores.
    private static let storedDigits = 6
    /// PostgreSQL's epoch, 2000-01-01T00:00:00Z, in microseconds since the Unix epoch.
    private static let postgresEpoch: Int64 = 946_684_800_000_000

    /// Reads a date, `T`, a time, and an offset from UTC: `2026-01-31T13:00:00.250+01:00`.
    ///
    /// Returns nil for any other text. That includes fractions finer than a microsecond, because the specification
    /// forbids rounding them: the digits after the sixth may only be zeros.
    package init?(_ text: String) {
        var rest = Array(text.utf8.prefix(64))[...]
        func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
            guard rest.count >= digits else { return nil }
            var value = 0
            for byte in rest.prefix(digits) {
                guard byte.isASCIIDigit else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            rest = rest.dropFirst(digits)
            return range.contains(value) ? value : nil
        }
        func skip(_ characters: String) -> UInt8? {
            guard let byte = rest.first, characters.utf8.contains(byte) else { return nil }
            rest = rest.dropFirst()
            return byte
        }
        guard let year = number(4, 0...9999), skip("-") != nil,
            let month = number(2, 1...12), skip("-") != nil,
            let day = number(2, 1...31), day <= PartialDate.days(in: month, of: year),
            skip("Tt") != nil,
            let hour = number(2, 0...23), skip(":") != nil,
            let minute = number(2, 0...59), skip(":") != nil,
            let second = number(2, 0...59)
        else { return nil }
        var fraction = 0
        if skip(".") != nil {
            let digits = rest.prefix { $0.isASCIIDigit }
            guard (1...Self.fractionDigitsMax).contains(digits.count),
                digits.dropFirst(Self.storedDigits).allSatisfy({ $0 == UInt8(ascii: "0") })
            else { return nil }
            for index in 0..<Self.storedDigits {
                let digit = index < digits.count ? Int(digits[digits.startIndex + index] - 48) : 0
                fraction = fraction * 10 + digit
            }
            rest = rest.dropFirst(digits.count)
        }
        var offsetMinutes = 0
        guard let sign = skip("Zz+-") else { return nil }
        if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            guard let hours = number(2, 0...23), skip(":") != nil,
                let minutes = number(2, 0...59)
            else { return nil }
            offsetMinutes = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
        }
        guard rest.isEmpty else { return nil }
        let days = Self.daysSince1970(year, month, day)
        let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
        microseconds = Int64(seconds) * 1_000_000 + Int64(fraction)
    }

    /// The form of results: RFC 3339 in UTC, with milliseconds.
    package var text: String {
        var writer = ResponseWriter(capacity: 32)
        // `-infinity` of PostgreSQL is `Int64.min`, from which nothing can be subtracted.
        let (shifted, overflow) = microseconds.subtractingReportingOverflow(Self.postgresEpoch)
        writer.writeTimestamp(overflow ? .min : shifted)
        // Without the quotation marks.
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    /// The instant in RFC 3339 format in UTC, with all microseconds. PostgreSQL does not read the year 0, so its instants become
    /// the first one of the year 1.
    package var preciseText: String {
        let microseconds = max(microseconds, -62_135_596_800_000_000)
        let text = Instant(microseconds: microseconds).text
        let micros = ((microseconds % 1000) + 1000) % 1000
        let digits = String(micros + 1000).dropFirst()
        return text.dropLast() + digits + "Z"
    }

    /// Counts in 400-year eras that begin on 1 March, where leap days come last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
