import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

@Suite struct InstantTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.000001Z", 1),
            ("1969-12-31T23:59:59Z", -1_000_000),
            ("2000-01-01T00:00:00Z", 946_684_800_000_000),
            ("2026-01-31T12:00:00.5Z", 1_769_860_800_500_000),
            ("2026-01-31t13:00:00.500+01:00", 1_769_860_800_500_000),
            ("2026-01-31T12:00:00.5z", 1_769_860_800_500_000),
            ("2026-01-31T12:00:00.5-00:00", 1_769_860_800_500_000),
            ("2026-01-30T23:59:00.5-12:01", 1_769_860_800_500_000),
            // Up to nine digits, where those after the sixth are zeros.
            ("1970-01-01T00:00:00.123456Z", 123_456), ("1970-01-01T00:00:00.1234560Z", 123_456),
            ("1970-01-01T00:00:00.999999000Z", 999_999),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("2016-12-31T23:59:59Z", 1_483_228_799_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("2026-01-31T00:00:00+23:59", 1_769_731_260_000_000),
            ("2026-01-31T00:00:00-23:59", 1_769_903_940_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] as [(String, Int64)])
    func parses(text: String, microseconds: Int64) {
        #expect(Instant(text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        // A separator other than `T`.
        "2026-01-31 12:00:00Z", "2026-01-31_12:00:00Z", "2026-01-31\t12:00:00Z",
        // Leap seconds, also on a day that had one.
        "2026-01-31T12:00:60Z", "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.000Z",
        // Fractions finer than a microsecond, and more than nine digits.
        "2026-01-31T12:00:00.1234567Z", "2026-01-31T12:00:00.000000001Z",
        "2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.0000000000Z",
        "2026-01-31T12:00:00,5Z", "2026-01-31T12:00:00 UTC", "2026-01-31T12:00:00+25:00",
        "2026-01-31T12:00:00+01:60", "2026-01-31T12:00:00+01", "2026-01-31T12:00:00−01:00",
        "", "now", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00Z", "2026-1-31T12:00:00Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:61Z",
        "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00+0100",
        "2026-01-31T12:00:00Z ", " 2026-01-31T12:00:00Z", "2026-01-31T12:00:00ZZ",
        "+2026-01-31T12:00:00Z",
        "２０２６-01-31T12:00:00Z", "2026-01-31T12:00:00.5Z" + String(repeating: "0", count: 100),
    ])
    func rejects(text: String) {
        #expect(Instant(text) == nil)
    }

    @Test func textIsParsedBack() throws {
        var random = SeededGenerator(3)
        for _ in 0..<2000 {
            let milliseconds = Int64.random(
                in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            let instant = Instant(microseconds: milliseconds * 1000)
            #expect(Instant(instant.text) == instant, "\(instant.text)")
            #expect(instant.text.utf8.count == 24)
        }
    }

    /// Instants outside of the years 0 to 9999 are written as the nearest one in this range.
    @Test(arguments: [
        (Int64.min, "0000-01-01T00:00:00.000Z"), (Int64.min + 1, "0000-01-01T00:00:00.000Z"),
        (Int64.min + 946_684_800_000_000, "0000-01-01T00:00:00.000Z"),
        (Int64.max, "9999-12-31T23:59:59.999Z"),
    ])
    func instantsOutOfRangeAreClamped(microseconds: Int64, text: String) {
        let instant = Instant(microseconds: microseconds)
        #expect(instant.text == text)
        // PostgreSQL has no year 0.
        #expect(instant.preciseText.prefix(4) == (microseconds < 0 ? "0001" : "9999"))
    }

    /// The extreme values of the database.
    @Test(arguments: [
        ("-infinity", "0000"), ("4714-11-24 00:00:00+00 BC", "0000"), ("infinity", "9999"),
        ("294276-12-31 23:59:59+00", "9999"),
    ])
    func extremeTimesOfTheDatabaseAreClamped(value: String, year: String) async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let microseconds = try await database.withConnection {
            try $0.query("SELECT '\(value)'::timestamptz").timestamptz(0, 0)
        }
        let instant = Instant(microseconds: try #require(microseconds))
        #expect(instant.text.prefix(4) == year)
    }
}
