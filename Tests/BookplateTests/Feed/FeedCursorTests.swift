import Basics
import Identity
import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedCursorTests {
    @Test(arguments: [
        FeedCursor(deck: 1, index: 0, asOf: 0),
        FeedCursor(deck: -1, index: 100, asOf: 1_700_000_000_000_000),
        FeedCursor(deck: .max, index: .max - 1, asOf: 253_402_300_799_999_999),
        FeedCursor(deck: .min, index: 7, asOf: 1),
    ])
    func cursorIsDecodedFromItsText(cursor: FeedCursor) {
        #expect(FeedCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.count == 28)
    }

    @Test(arguments: [
        FeedCursor(deck: 1, index: -1, asOf: 0), FeedCursor(deck: 1, index: .max, asOf: 0),
        FeedCursor(deck: 1, index: 0, asOf: -1), FeedCursor(deck: 1, index: 0, asOf: .min),
        FeedCursor(deck: 1, index: 0, asOf: 253_402_300_800_000_000),
    ])
    func valuesOutOfRangeAreRejected(cursor: FeedCursor) {
        #expect(FeedCursor(cursor.text) == nil)
    }

    @Test(arguments: ["", "x", "bm8", "BgAAAAAAAAAB", String(repeating: "A", count: 5000)])
    func malformedTextIsRejected(text: String) { #expect(FeedCursor(text) == nil) }

    @Test func everyTruncationAndOtherFormatIsRejected() throws {
        let text = FeedCursor(deck: 12, index: 10, asOf: 1_700_000_000_000_000).text
        let bytes = try #require(Base64URL.decode(text.utf8))
        for count in 0..<bytes.count {
            #expect(FeedCursor(Base64URL.encode(Array(bytes.prefix(count)))) == nil)
        }
        #expect(FeedCursor(Base64URL.encode(bytes + [0])) == nil)
        #expect(FeedCursor(Base64URL.encode([5] + bytes.dropFirst())) == nil)
    }
}
