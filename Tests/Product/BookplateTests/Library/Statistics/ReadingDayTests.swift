import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The days of a calendar: `LibraryStats.days`.
@Suite struct ReadingDayTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    @Test func daysOfAYearHaveTheirEntries() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Book", status: "READING")
        let read = try await reader.requireValue(
            "query($id: ID!) { book(id: $id) { currentRead { id } } }", ["id": book], "book",
            "currentRead", "id")
        let times = ["2023-12-31T12:00:00Z", "2024-02-29T01:00:00Z", "2024-02-29T23:00:00Z"]
        _ = try await reader.requireValue(
            ProgressTests.log,
            [
                "inputs": .list(
                    times.enumerated().map {
                        ["readId": read, "percent": .int(10 + $0), "at": .string($1)]
                    })
            ], "logProgress")
        for day in ["2024-02-29", "2024-12-31", "2025-01-01", "2024-05", "2024"] {
            _ = try await reader.requireValue(
                ReadTests.start, ["id": book, "input": ["finishedOn": .string(day)]], "startRead")
        }
        let query = "query($year: Int!) { me { stats { days(year: $year) { date entryCount } } } }"
        let days = try await reader.requireValue(query, ["year": 2024], "me", "stats", "days")
        #expect(
            days == [
                ["date": "2024-02-29", "entryCount": 3], ["date": "2024-12-31", "entryCount": 1],
            ])
        let invalid = try await reader.execute(query, ["year": 0])
        #expect(invalid.code == "BAD_USER_INPUT" && invalid.field == "year")
    }
}
