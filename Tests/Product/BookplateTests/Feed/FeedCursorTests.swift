import Basics
import Identity
import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedCursorTests {
    private static func cursor(
        _ chain: Int64, _ number: Int32, _ index: Int32, _ asOf: Int64
    ) -> FeedCursor {
        FeedCursor(deck: DeckID(chain: chain, number: number), index: index, asOf: asOf)
    }

    @Test(arguments: [
        cursor(1, 0, 0, 0),
        cursor(-1, 0, 100, 1_700_000_000_000_000),
        cursor(.max, .max, .max, 253_402_300_799_999_999),
        cursor(.min, 99, 7, 1),
    ])
    func cursorIsDecodedFromItsText(cursor: FeedCursor) {
        #expect(FeedCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.count == 34)
    }

    @Test(arguments: [
        cursor(1, 0, -1, 0), cursor(1, -1, 0, 0), cursor(1, 0, 0, -1), cursor(1, 0, 0, .min),
        cursor(1, 0, 0, 253_402_300_800_000_000),
    ])
    func valuesOutOfRangeAreRejected(cursor: FeedCursor) {
        #expect(FeedCursor(cursor.text) == nil)
    }

    @Test(arguments: ["", "x", "bm8", "BwAAAAAAAAAB", String(repeating: "A", count: 5000)])
    func malformedTextIsRejected(text: String) { #expect(FeedCursor(text) == nil) }

    @Test func everyTruncationAndOtherFormatIsRejected() throws {
        let text = Self.cursor(12, 1, 10, 1_700_000_000_000_000).text
        let bytes = try #require(Base64URL.decode(text.utf8))
        for count in 0..<bytes.count {
            #expect(FeedCursor(Base64URL.encode(Array(bytes.prefix(count)))) == nil)
        }
        #expect(FeedCursor(Base64URL.encode(bytes + [0])) == nil)
        #expect(FeedCursor(Base64URL.encode([6] + bytes.dropFirst())) == nil)
    }
}
