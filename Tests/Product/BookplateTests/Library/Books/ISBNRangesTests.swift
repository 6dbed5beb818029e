import GraphQL
import Testing

@testable import Bookplate

/// The hyphens of ISBNs according to the agency's ranges.
@Suite struct ISBNRangesTests {
    @Test(arguments: [
        ("9780306406157", "978-0-306-40615-7"), ("9780140328721", "978-0-14-032872-1"),
        ("9783161484100", "978-3-16-148410-0"), ("9782070427796", "978-2-07-042779-6"),
        ("9784815602666", "978-4-8156-0266-6"), ("9788535902778", "978-85-359-0277-8"),
        ("9791090636071", "979-10-90636-07-1"), ("9798886451740", "979-8-88645-174-0"),
        ("9781402894626", "978-1-4028-9462-6"), ("9789971502102", "978-9971-5-0210-2"),
    ])
    func hyphensFollowTheRanges(digits: String, expected: String) throws {
        #expect(try hyphenated(digits) == expected)
    }

    /// The number's registration group is not assigned.
    @Test func numbersOutsideAllRangesHaveNoHyphens() throws {
        #expect(try hyphenated("9786700000014") == "9786700000014")
    }

    @Test func rangesOfEveryGroupAreSorted() {
        let lines = String(decoding: PackageResources.isbn_ranges_txt, as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.count > 280)
        for line in lines.dropFirst() {
            let firsts = line.split(separator: " ").dropFirst().map {
                $0.prefix { $0 != "=" }
            }
            #expect(!firsts.isEmpty, "\(line)")
            let padded = firsts.map { ($0 + "0000000").prefix(7) }
            #expect(padded == padded.sorted(), "\(line)")
        }
    }

    /// With a damaged table, numbers have no hyphens, and nothing crashes.
    @Test(arguments: ["", "978", "978 0=9\n9780 0=9", "978 =\n", "978 x=1", "978 0=-1", "978 0=99"])
    func damagedTablesAddNoHyphens(text: String) throws {
        #expect(try hyphenated("9780306406157", ISBNRanges(text)) == "9780306406157")
    }

    private func hyphenated(_ digits: String, _ ranges: ISBNRanges = .current) throws -> String {
        let isbn = try #require(Array(digits.utf8).withUnsafeBytes { ISBNDigits($0) })
        #expect(isbn.isISBN)
        var writer = ResponseWriter()
        isbn.appendHyphenated(ranges, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
