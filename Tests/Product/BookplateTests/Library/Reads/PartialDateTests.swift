import Basics
import BookSources
import GraphQL
import Testing

@testable import Bookplate
@testable import Requests

@Suite struct PartialDateTests {
    @Test(arguments: ["2019", "2019-05", "2019-05-31", "2020-02-29", "1000", "9999-12-31"])
    func yearMonthOrDayIsRead(text: String) {
        #expect(PartialDate(text)?.text == text)
    }

    @Test(arguments: [
        "", "19", "0999", "02019", "2019-", "2019-5", "2019-00", "2019-13", "2019-05-1",
        "2019-05-00",
        "2019-04-31", "2019-02-29", "1900-02-29", "2019-05-01T00:00:00Z", "2019/05/01", "-2019",
        "+201", "２０１９", "2019-05-01-01", " 2019",
    ])
    func otherTextIsRefused(text: String) {
        #expect(PartialDate(text) == nil)
        #expect(throws: CoercionError.self) { try PartialDate.scalarInput(.string(text)) }
    }

    @Test(arguments: [
        ("2018", "2019", true), ("2019", "2019", false), ("2019", "2019-05", false),
        ("2019-05", "2019", false), ("2019-04", "2019-05-01", true),
        ("2019-05-02", "2019-05", false), ("2019-05-01", "2019-05-02", true),
        ("2019-12-31", "2020", true), ("2020", "2019-12-31", false),
    ])
    func datesAreComparedAsFarAsBothAreKnown(first: String, second: String, isBefore: Bool) throws {
        let (first, second) = (
            try #require(PartialDate(first)), try #require(PartialDate(second))
        )
        #expect(first.isBefore(second) == isBefore)
    }

    @Test func latestDateIsTomorrowInUTC() {
        // 2026-12-31T23:00:00Z
        #expect(PartialDate.latest(now: 1_798_758_000)?.text == "2027-01-01")
    }

    @Test func readsOfANewBookDecideItsStatus() throws {
        func status(_ reads: Value, _ status: ReadingStatus = .wantToRead) throws -> String {
            try [ReadInput].ofNewBook(reads.list, status: status).status.rawValue
        }
        #expect(try status([["finishedOn": "2019"]]) == "READ")
        #expect(try status([["finishedOn": "2019"], [:]]) == "READING")
        #expect(
            try status([
                ["finishedOn": "2019", "outcome": "DID_NOT_FINISH"], ["finishedOn": "2018"],
            ]) == "DID_NOT_FINISH")
        #expect(try status([["finishedOn": "2019"]], .paused) == "PAUSED")
        #expect(try status([]) == "WANT_TO_READ")
        #expect(throws: BookplateError.self) { try status([[:], [:]]) }
        #expect(throws: BookplateError.self) { try status([[:]], .read) }
    }
}
