import Basics
import BookSources
import GraphQL
import Identity
import Postgres
import Requests

/// The scalar `PartialDate`.
extension PartialDate {
    /// Midnight UTC of the first day.
    package var start: Instant? {
        PartialDate(year: year, month: month ?? 1, day: day ?? 1)
            .flatMap { Instant("\($0.text)T00:00:00Z") }
    }

    /// The last day that is not in the future: tomorrow in UTC, because the day begins earlier in other time zones.
    static func latest(now: UnixSeconds = unixSecondsNow()) -> PartialDate? {
        PartialDate(
            String(Instant(microseconds: Int64(now + 86_400) * 1_000_000).text.prefix(10)))
    }

    /// Checks an input of the scalar `PartialDate`.
    static let scalarInput: ScalarInput = { value throws(CoercionError) in
        guard let text = value.string, PartialDate(text) != nil else {
            throw CoercionError(
                "PartialDate cannot represent this value. Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01."
            )
        }
        return value
    }
}

extension InputObject {
    /// Returns a date that is not in the future; nil if the field is absent or null.
    func date(_ name: String) throws(BookplateError) -> PartialDate? {
        guard let text = text(name) else { return nil }
        guard let date = PartialDate(text) else {
            throw .badUserInput(
                field: name,
                .init(.invalidDate))
        }
        if let latest = PartialDate.latest(), latest.isBefore(date) {
            throw .badUserInput(field: name, .init(.inFuture))
        }
        return date
    }
}
