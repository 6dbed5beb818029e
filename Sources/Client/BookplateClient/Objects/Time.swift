import Foundation
import GRDB

/// A point in time as the server writes it: UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`. The texts sort by time.
public struct Timestamp: RawRepresentable, Codable, Hashable, Comparable, Sendable,
    DatabaseValueConvertible
{
    /// The text.
    public let rawValue: String
    /// Creates a value from a text of the server.
    public init(rawValue: String) { self.rawValue = rawValue }

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The time in milliseconds.
    public init(_ date: Date) { rawValue = date.formatted(Self.format) }

    /// The time as a `Date`. Nil if the server sent something else than a time.
    public var date: Date? { try? Date(rawValue, strategy: Self.format) }

    /// Whether a time is before another one.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A year, a month, or a day, depending on what is known: `2019`, `2019-05`, or `2019-05-01`.
public struct PartialDate: RawRepresentable, Codable, Hashable, Sendable, DatabaseValueConvertible,
    ExpressibleByStringLiteral
{
    /// The text.
    public let rawValue: String
    /// Creates a value from a text of the server.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a value from its text.
    public init(stringLiteral value: String) { rawValue = value }

    /// The day of a time in a time zone.
    public init(_ date: Date, in timeZone: TimeZone) {
        rawValue = date.formatted(
            Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day().dateSeparator(.dash))
    }
}
